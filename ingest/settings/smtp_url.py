"""Parses the URL of the mail server: `smtp://user:password@host:587`, `smtps://host`."""

import re
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import parse_qs, unquote, urlsplit

Security = Literal["starttls", "tls", "none"]

_PORTS: Final[dict[Security, int]] = {"starttls": 587, "tls": 465, "none": 25}
_NAME: Final = r"[A-Za-z0-9!#$&'*+/=^_`{|}~.-]{1,64}"
_DOMAIN: Final = r"(?:[A-Za-z0-9-]{1,63}\.)*[A-Za-z0-9-]{1,63}"
_ADDRESS: Final = re.compile(rf"{_NAME}@{_DOMAIN}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpServer:
    host: str
    port: int
    security: Security
    username: str | None = None
    password: str | None = field(default=None, repr=False)


def parse_smtp_url(url: str) -> SmtpServer:
    """Parse a URL: `smtp://` uses STARTTLS, unless `?starttls=off` is given; `smtps://` uses TLS.

    Default ports: 587 for STARTTLS, 465 for TLS, 25 with `?starttls=off`. Raises ValueError for
    anything else; the message never quotes the URL, which may hold a password.
    """
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
        options = parse_qs(parts.query, strict_parsing=bool(parts.query), keep_blank_values=True)
    except ValueError:
        raise ValueError("is not a valid URL") from None
    if parts.scheme not in ("smtp", "smtps") or not host:
        raise ValueError("must start with smtp:// or smtps:// and name a host")
    if parts.path not in ("", "/") or parts.fragment or port == 0:
        raise ValueError("must be of the form smtp://user:password@host:port")
    if (parts.username is None) != (parts.password is None):
        raise ValueError("must name both user and password, or neither")
    security = _security(parts.scheme, options)
    return SmtpServer(
        host=host,
        port=port or _PORTS[security],
        security=security,
        username=None if parts.username is None else unquote(parts.username),
        password=None if parts.password is None else unquote(parts.password),
    )


def is_mail_address(text: str) -> bool:
    """Whether this is one plain ASCII address, such as `ops@example.com`: no name, no list."""
    return len(text) <= 254 and _ADDRESS.fullmatch(text) is not None


def _security(scheme: str, options: dict[str, list[str]]) -> Security:
    starttls = options.pop("starttls", ["on"])
    if options or starttls not in (["on"], ["off"]):
        raise ValueError("allows only the option starttls=off")
    if scheme == "smtps":
        if starttls == ["off"]:
            raise ValueError("must not have starttls: smtps:// always uses TLS")
        return "tls"
    return "starttls" if starttls == ["on"] else "none"
