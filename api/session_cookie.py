"""The cookie of a dashboard session, and the checks that keep other web sites from using it.

Cookies are sent by any page that makes a browser ask. So a request that changes something must
come from a page of this origin, which browsers state in `Sec-Fetch-Site` or, over plain http, only
in `Origin`; and it has a header that pages of other origins may not set.
"""

import re
from typing import Final
from urllib.parse import urlsplit

from fastapi import Response
from fastapi.requests import HTTPConnection

from api.problems import Forbidden
from ingest.store.tenants.sessions import LIFETIME

CSRF_HEADER: Final = "X-Ingest-Csrf"

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_PORTS: Final = {"http": 80, "https": 443}


def session_of(connection: HTTPConnection) -> str | None:
    """The secret in the cookie."""
    return connection.cookies.get(_name(connection)) or None


def set_session(response: Response, connection: HTTPConnection, secret: str) -> None:
    """Give the browser the cookie of a new session."""
    response.set_cookie(
        _name(connection),
        secret,
        max_age=int(LIFETIME.total_seconds()),
        path="/",  # as __Host- demands; scripts of the same host may ask for any path anyway
        secure=_is_https(connection),
        httponly=True,
        samesite="strict",
    )


def clear_session(response: Response, connection: HTTPConnection) -> None:
    """Have the browser forget the cookie."""
    response.delete_cookie(
        _name(connection),
        path="/",
        secure=_is_https(connection),
        httponly=True,
        samesite="strict",
    )


def _name(connection: HTTPConnection) -> str:
    """`ingest`, after the port and the path prefix if there are any: services on other ports and
    paths of a host get the same cookies. `__Host-` keeps other hosts of the domain from setting it.
    """
    port = re.search(r":(\d+)$", connection.headers.get("host", ""))
    prefix = re.sub(r"[^A-Za-z0-9]", "-", connection.scope.get("root_path", ""))
    name = f"ingest{f'-{port[1]}' if port else ''}{prefix}"
    return f"__Host-{name}" if _is_https(connection) else name


def check_use(connection: HTTPConnection) -> None:
    """Raise Forbidden for what a page of another origin may have made the browser send."""
    if connection.scope["type"] == "websocket":
        if not _has_own_origin(connection):
            raise _refusal("the handshake does not come from a page of this service")
    elif connection.scope["method"] not in _SAFE:
        check_change(connection)
    elif connection.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        raise _refusal("the request comes from another site")


def check_change(connection: HTTPConnection) -> None:
    """Raise Forbidden unless a page of this origin sends the request."""
    site = connection.headers.get("sec-fetch-site")
    if not (_has_own_origin(connection) if site is None else site == "same-origin"):
        raise _refusal("the request does not come from a page of this service")
    if connection.headers.get(CSRF_HEADER) != "1":
        raise _refusal(f"a request with a session needs the header `{CSRF_HEADER}: 1`")


def _refusal(why: str) -> Forbidden:
    return Forbidden(why, code="cross_site_request")


def _is_https(connection: HTTPConnection) -> bool:
    return connection.scope.get("scheme") in ("https", "wss")


def _has_own_origin(connection: HTTPConnection) -> bool:
    """Whether `Origin` is the address by which the browser reached us.

    A proxy may put that into X-Forwarded-Host. Whoever sends it is believed: pages cannot set it,
    and other clients have no cookie to steal.
    """
    try:
        origin = urlsplit(connection.headers.get("origin", ""))
        port = origin.port or _PORTS[origin.scheme]
    except (ValueError, KeyError):
        return False
    if _is_https(connection) and origin.scheme != "https":
        return False
    hosts = [
        connection.headers.get("host", ""),
        connection.headers.get("x-forwarded-host", "").partition(",")[0].strip(),
    ]
    default = _PORTS[origin.scheme]
    return (origin.hostname, port) in [_host_and_port(host, default) for host in hosts if host]


def _host_and_port(host: str, default: int) -> tuple[str | None, int] | None:
    try:
        parts = urlsplit(f"//{host}")
        return parts.hostname, parts.port or default
    except ValueError:
        return None
