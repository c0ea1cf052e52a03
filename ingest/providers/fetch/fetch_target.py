"""Parses URLs strictly: the URL requested is exactly the URL that was checked."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import quote, urlsplit

import idna

from ingest.errors import Permanent

DEFAULT_PORTS: Final = {"http": 80, "https": 443}

_MOST_CHARACTERS: Final = 8192
_MOST_HOST_CHARACTERS: Final = 253
# Parsers disagree on these: some drop them, some end the host at them.
_AMBIGUOUS: Final = re.compile(r"[\x00-\x1f\x7f]")
_AUTHORITY: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:@\\%\s]+)(?::([0-9]{0,6}))?")
_NAME: Final = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}")
# Allowed as the last label of a host only in an IPv4 address (URL standard, §3.5).
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_KEPT_IN_PATH: Final = "/%:@!$&'()*+,;=~-._|[]"
_KEPT_IN_QUERY: Final = _KEPT_IN_PATH + "?"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchTarget:
    """The parts of a URL that a request needs."""

    url: str
    """The URL to request: no fragment, host and path in ASCII."""
    scheme: str
    """`http` or `https`."""
    host: str
    """Lower case, ASCII; an IPv6 address without its brackets."""
    port: int
    path: str
    """Path and query."""

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port; connections are reused for requests to the same origin."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """The value of the `Host` header: IPv6 in brackets, without the default port."""
        return _authority(self.scheme, self.host, self.port)


def blocked(what: str) -> Permanent:
    return Permanent(what, code="fetch_blocked")


def parse_url(url: str) -> FetchTarget:
    """Parse a URL. Raises Permanent `fetch_blocked` if it is not one that we request.

    Messages never quote the URL, which may hold a password.
    """
    url = url.strip()
    if len(url) > _MOST_CHARACTERS:
        raise blocked("the URL is too long")
    if _AMBIGUOUS.search(url):
        raise blocked("the URL contains control characters")
    try:
        parts = urlsplit(url)
        path = quote(parts.path or "/", safe=_KEPT_IN_PATH)
        query = quote(parts.query, safe=_KEPT_IN_QUERY)
    except ValueError:  # brackets that do not match, lone surrogates
        raise blocked("the URL is not valid") from None
    if parts.scheme not in DEFAULT_PORTS:
        raise blocked("only http and https URLs are fetched")
    host, port = _host_and_port(parts.netloc, DEFAULT_PORTS[parts.scheme])
    path += f"?{query}" if query else ""
    return FetchTarget(
        url=f"{parts.scheme}://{_authority(parts.scheme, host, port)}{path}",
        scheme=parts.scheme,
        host=host,
        port=port,
        path=path,
    )


def literal_address(host: str) -> IPv4Address | IPv6Address | None:
    """The IP address if the host of a FetchTarget is one; None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def _authority(scheme: str, host: str, port: int) -> str:
    host = f"[{host}]" if ":" in host else host
    return host if port == DEFAULT_PORTS[scheme] else f"{host}:{port}"


def _host_and_port(authority: str, default_port: int) -> tuple[str, int]:
    if "@" in authority:
        raise blocked("the URL contains a user name or password")
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        raise blocked("the URL's host is not valid")
    port = int(match[2]) if match[2] else default_port
    if not 1 <= port <= 65535:
        raise blocked("the URL's port is not valid")
    return _host(match[1]), port


def _host(written: str) -> str:
    if written.startswith("["):
        try:
            return str(IPv6Address(written[1:-1]))
        except ValueError:
            raise blocked("the URL's IPv6 address is not valid") from None
    name = _ascii(written).removesuffix(".")
    if len(name) > _MOST_HOST_CHARACTERS or not _NAME.fullmatch(name):
        raise blocked("the URL's host is not a valid name")
    if _NUMBER.fullmatch(name.rpartition(".")[2]) and literal_address(name) is None:
        raise blocked("the URL's host is a number, but not a plain IPv4 address")
    return name


def _ascii(name: str) -> str:
    """The host name in ASCII. ASCII names skip idna, which refuses `_`; the web uses it."""
    if name.isascii():
        return name.lower()
    if len(name) > _MOST_HOST_CHARACTERS:
        raise blocked("the URL's host is too long")
    try:
        return idna.encode(name, uts46=True).decode("ascii").lower()
    except UnicodeError:
        raise blocked("the URL's host is not a valid international name") from None
