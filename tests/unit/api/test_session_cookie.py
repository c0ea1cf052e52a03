"""The cookie of a session: its name, and who may use it."""

import pytest
from fastapi import Response
from fastapi.requests import HTTPConnection

from api.problems import Forbidden
from api.session_cookie import check_use, clear_session, session_of, set_session

HERE = {"host": "ingest.example", "origin": "https://ingest.example", "x-ingest-csrf": "1"}


def connection(
    *,
    kind: str = "http",
    method: str = "POST",
    scheme: str = "https",
    root_path: str = "",
    headers: dict[str, str | None],
) -> HTTPConnection:
    given = {name: value for name, value in headers.items() if value is not None}
    return HTTPConnection(
        {
            "type": kind,
            "method": method,
            "scheme": scheme,
            "path": "/",
            "root_path": root_path,
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        }
    )


def is_allowed(*, kind: str = "http", method: str = "POST", **headers: str | None) -> bool:
    """Whether a request with these headers, `_` for `-`, instead of those of a page may use it."""
    changed = {name.replace("_", "-"): value for name, value in headers.items()}
    scheme = "wss" if kind == "websocket" else "https"
    asking = connection(kind=kind, method=method, scheme=scheme, headers={**HERE, **changed})
    try:
        check_use(asking)
    except Forbidden:
        return False
    return True


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "BREW"])
def test_a_change_needs_the_origin_and_the_header(method: str) -> None:
    assert is_allowed(method=method)
    assert is_allowed(method=method, sec_fetch_site="same-origin")
    assert is_allowed(method=method, sec_fetch_site="same-origin", origin=None)
    assert not is_allowed(method=method, x_ingest_csrf=None)
    assert not is_allowed(method=method, x_ingest_csrf="0")
    assert not is_allowed(method=method, sec_fetch_site="same-origin", x_ingest_csrf=None)
    assert not is_allowed(method=method, origin=None)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", "", "Same-Origin "])
def test_what_the_browser_says_of_the_site_counts_before_the_origin(site: str) -> None:
    assert not is_allowed(sec_fetch_site=site)


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "https://ingest.example.evil.example",
        "https://evil-ingest.example",
        "https://ingest.example:8443",
        "https://ingest.example@evil.example",
        "http://ingest.example",  # anybody on the way may have written that page
        "//ingest.example",
        "ftp://ingest.example",
        "null",
        "",
        "https://",
        "https://ingest.example:x",
        "https://[::1",
    ],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_another_origin_is_refused(kind: str, origin: str) -> None:
    assert not is_allowed(kind=kind, origin=origin)


def test_a_socket_needs_the_origin_only() -> None:
    assert is_allowed(kind="websocket", x_ingest_csrf=None)
    assert not is_allowed(kind="websocket", origin=None, sec_fetch_site="same-origin")


@pytest.mark.parametrize(
    ("origin", "host", "forwarded"),
    [
        ("https://ingest.example", "INGEST.example", None),
        ("https://ingest.example", "ingest.example:443", None),
        ("https://ingest.example:443", "ingest.example", None),
        ("https://ingest.example:8443", "ingest.example:8443", None),
        ("https://[::1]:8443", "[::1]:8443", None),
        ("https://ingest.example", "api:8000", "ingest.example"),
        ("https://ingest.example", "api:8000", "ingest.example, inner.example"),
    ],
)
def test_the_own_origin_is_recognised(origin: str, host: str, forwarded: str | None) -> None:
    assert is_allowed(origin=origin, host=host, x_forwarded_host=forwarded)


def test_an_origin_by_https_is_right_where_the_proxy_does_not_say_so() -> None:
    page = connection(scheme="http", headers={**HERE, "origin": "https://ingest.example"})

    check_use(page)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_reading_is_refused_if_the_browser_names_another_site(method: str) -> None:
    def reads(site: str | None) -> bool:
        return is_allowed(method=method, sec_fetch_site=site, origin=None, x_ingest_csrf=None)

    assert reads(None)  # over plain http, browsers say nothing
    assert [reads(site) for site in ("same-origin", "none")] == [True, True]
    assert [reads(site) for site in ("same-site", "cross-site", "")] == [False, False, False]


def set_cookie(asking: HTTPConnection) -> str:
    response = Response()
    set_session(response, asking, "the-secret")
    return response.headers["set-cookie"]


def test_by_https_the_cookie_is_bound_to_the_host() -> None:
    asking = connection(headers={"host": "ingest.example"})

    assert set_cookie(asking) == (
        "__Host-ingest=the-secret; HttpOnly; Max-Age=604800; Path=/; SameSite=strict; Secure"
    )


def test_by_http_it_has_no_prefix() -> None:
    asking = connection(scheme="http", headers={"host": "ingest.example"})

    assert set_cookie(asking) == (
        "ingest=the-secret; HttpOnly; Max-Age=604800; Path=/; SameSite=strict"
    )


def test_services_on_other_ports_and_paths_of_a_host_have_their_own_cookies() -> None:
    def name(host: str, root_path: str = "") -> str:
        asking = connection(scheme="http", root_path=root_path, headers={"host": host})
        return set_cookie(asking).partition("=")[0]

    assert name("localhost:8000") == "ingest-8000"
    assert name("[::1]:8001") == "ingest-8001"
    assert name("localhost", "/teams/rag_a") == "ingest-teams-rag-a"


def test_only_the_cookie_of_this_scheme_and_host_is_read() -> None:
    def read(host: str, scheme: str) -> str | None:
        cookies = "ingest=plain; __Host-ingest=bound; ingest-8000=port; other=x"
        headers: dict[str, str | None] = {"host": host, "cookie": cookies}
        return session_of(connection(scheme=scheme, headers=headers))

    assert read("a.example", "http") == read("a.example", "ws") == "plain"
    assert read("a.example", "https") == read("a.example", "wss") == "bound"
    assert read("a.example:8000", "http") == "port"
    assert read("a.example:8001", "http") is None


def test_clearing_it_names_the_same_cookie() -> None:
    asking = connection(headers={"host": "ingest.example:8443"})
    response = Response()
    clear_session(response, asking)

    cleared = response.headers["set-cookie"]
    assert cleared.startswith('__Host-ingest-8443=""; ')
    assert {"Max-Age=0", "Path=/", "Secure", "HttpOnly"} <= set(cleared.split("; "))
