"""Parses and checks a URL once, for all other modules.

Attackers fool guards with URLs whose host ends in different places for different parsers. So we
parse a URL only here and rebuild it from its parts; later parsers then agree.
"""

import ipaddress
import re
from dataclasses import dataclass

import idna

from ingest.model import LONGEST_URL

LONGEST_HOST = 253
"""Characters of a host name: the limit of DNS."""
DEFAULT_PORTS = {"http": 80, "https": 443}
_ADDRESS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?://(?P<authority>[^/?#]*))?"
    r"(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#.*)?"
)
_AUTHORITY = re.compile(
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:]*))(?::(?P<port>[0-9]{0,5}))?"
)
_HOST = re.compile(r"(?!.{254})[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_WHITESPACE = re.compile(r"\s")
_BEFORE_QUERY = re.compile(r"[^?#]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlParts:
    """An http(s) URL; scheme and host are normalised, path and query unchanged."""

    scheme: str
    host: str
    """Lower case, ASCII (IDNA), without the final dot; IPv6 in brackets."""
    port: int | None
    """None: the scheme's default port."""
    path: str
    query: str

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}" + ("" if self.port is None else f":{self.port}")


def parse(url: str, *, spaces: bool = False) -> UrlParts:
    """Split an absolute http(s) URL into its parts; `spaces` allows white space inside.

    Raises ValueError with a message for users; it does not quote the URL, which may hold secrets.
    """
    found = _ADDRESS.fullmatch(_readable(url, spaces=spaces))
    scheme = found["scheme"].lower() if found else ""
    if found is None or scheme not in DEFAULT_PORTS:
        raise ValueError("A web address must begin with http:// or https://.")
    host, port = _host_and_port(found["authority"] or "")
    return UrlParts(
        scheme=scheme,
        host=host,
        port=None if port == DEFAULT_PORTS[scheme] else port,
        path=found["path"],
        query=found["query"] or "",
    )


def with_slashes(text: str) -> str:
    """Replace backslashes before the query by slashes, as browsers do."""
    return _BEFORE_QUERY.sub(lambda found: found.group().replace("\\", "/"), text, count=1)


def bounded(url: str) -> str:
    """Return the URL unchanged. Raises ValueError above LONGEST_URL."""
    if len(url) > LONGEST_URL:
        raise ValueError(f"The web address is longer than {LONGEST_URL} characters.")
    return url


def _readable(url: str, *, spaces: bool) -> str:
    text = bounded(url.strip())
    if _UNPRINTABLE.search(text):
        raise ValueError("The web address contains control characters.")
    if not spaces and _WHITESPACE.search(text):
        raise ValueError("The web address contains white space.")
    return with_slashes(text)


def _host_and_port(authority: str) -> tuple[str, int | None]:
    if "@" in authority:
        raise ValueError("The web address contains a user name; credentials are not stored.")
    found = _AUTHORITY.fullmatch(authority)
    if found is None:
        raise ValueError("The host or port of the web address is not valid.")
    port = int(found["port"]) if found["port"] else None
    if port is not None and not 1 <= port <= 65535:
        raise ValueError("The port of the web address is not between 1 and 65535.")
    return _six(found["six"]) if found["six"] else _name(found["name"]), port


def _six(text: str) -> str:
    try:
        return f"[{ipaddress.IPv6Address(text)}]"
    except ValueError:
        raise ValueError("The host of the web address is not an IPv6 address.") from None


def _name(text: str) -> str:
    if not text:
        raise ValueError("The web address has no host.")
    host = text
    if not text.isascii() and len(text) <= LONGEST_HOST:
        try:
            host = idna.encode(text, uts46=True).decode("ascii")
        except UnicodeError:
            raise ValueError("The host of the web address is not a valid name.") from None
    host = host.lower().removesuffix(".")
    if not _HOST.fullmatch(host):
        raise ValueError("The host of the web address is not a valid name.")
    return host
