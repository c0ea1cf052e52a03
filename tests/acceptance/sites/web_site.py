"""A web site on a real socket, with every trap that crawlers meet; it notes who asked for what."""

import hashlib
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from tests.acceptance.sites import site_pages
from tests.acceptance.sites.site_pages import Page

_NOT_FOUND: Final = Page(status=404, body=b"<p>Nothing here.</p>", is_validated=False)
_LAST_MODIFIED: Final = "Sun, 01 Nov 2026 10:00:00 GMT"
_THINKING_SECONDS: Final = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request."""

    at: float
    """Monotonic seconds."""
    target: str
    """Path with query, as it was sent."""
    path: str
    """As the site knows the page: without slash, index page and where the reader came from."""
    headers: Mapping[str, str]
    """By lower-case name."""
    status: int


class WebSite:
    """A site of which there are two versions: that of the first night, and that of the second."""

    def __init__(self) -> None:
        self.version = 1
        self.visits: list[Visit] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.answer(self)

            def log_message(self, format: str, *args: Any) -> None: ...

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Crawlers hang up on pages that are too long."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.origin = f"http://localhost:{self._server.server_port}"

    # -- what is to come of it

    def url(self, path: str) -> str:
        return self.origin + path

    def expected_pages(self, version: int | None = None) -> set[str]:
        """Normalised addresses that must become documents."""
        return {self.url(path) for path in site_pages.expected(version or self.version)}

    def failing_pages(self) -> dict[str, str]:
        """Addresses that end with an error, and its code."""
        return {self.url(path): code for path, code in site_pages.FAILING.items()}

    def is_endless(self, url: str) -> bool:
        """Whether an address is one of a trap's: a few such documents do no harm."""
        return url.startswith(tuple(self.url(path) for path in site_pages.ENDLESS))

    # -- what was asked

    def forget_visits(self) -> None:
        self.visits, self.most_at_once = [], 0

    def trespasses(self) -> list[str]:
        """Requests for what robots.txt, nofollow or the media type forbids, or under another host.

        The site redirects to and links to addresses that lead away from it; whoever follows them
        comes back under another name.
        """
        own = self.origin.removeprefix("http://")
        return [
            visit.headers["host"] + visit.target
            for visit in self.visits
            if visit.headers["host"] != own or visit.path.startswith(site_pages.UNTOUCHABLE)
        ]

    # -- serving

    def serve(self) -> None:
        self._server.serve_forever(poll_interval=0.05)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        path, page = self._page(request.path)
        headers = {name.lower(): value for name, value in request.headers.items()}
        tag = f'"{hashlib.sha256(page.body).hexdigest()[:20]}"'
        if page.is_validated and page.status == 200 and headers.get("if-none-match") == tag:
            page = Page(status=304)
        time.sleep(_THINKING_SECONDS)
        with self._lock:
            self._at_once -= 1
            self.visits.append(
                Visit(
                    at=time.monotonic(),
                    target=request.path,
                    path=path,
                    headers=headers,
                    status=page.status,
                )
            )
        _send(request, page, tag)

    def _page(self, target: str) -> tuple[str, Page]:
        parts = urlsplit(target)
        path = unquote(parts.path).removesuffix("/index.html").rstrip("/") or "/"
        query = {name: value for name, value in parse_qsl(parts.query) if name[:4] != "utm_"}
        return path + (f"?{urlencode(query)}" if query else ""), self._answer(path, query)

    def _answer(self, path: str, query: Mapping[str, str]) -> Page:
        if path == "/moved":
            # The same server under a name that is not the site's.
            elsewhere = self.origin.replace("localhost", "127.0.0.1")
            return Page(status=302, location=f"{elsewhere}/guide/4")
        page = site_pages.build(self.version, self.origin).get(path)
        return page or site_pages.without_end(path, query) or _NOT_FOUND


def _send(request: BaseHTTPRequestHandler, page: Page, tag: str) -> None:
    request.send_response(page.status)
    if page.location is not None:
        request.send_header("Location", page.location)
    if page.is_validated and page.status == 200:
        request.send_header("ETag", tag)
        request.send_header("Last-Modified", _LAST_MODIFIED)
    if page.status != 304:
        request.send_header("Content-Type", page.content_type)
    if page.is_endless:
        request.send_header("Connection", "close")
        request.close_connection = True
    elif page.status != 304:
        request.send_header("Content-Length", str(len(page.body)))
    request.end_headers()
    request.wfile.write(page.body)


@contextmanager
def web_site() -> Iterator[WebSite]:
    site = WebSite()
    thread = threading.Thread(target=site.serve, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.close()
        thread.join()
