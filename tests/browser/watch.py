"""What no page of the dashboard may do, whatever a test is about."""

import re
from typing import Final
from urllib.parse import urlsplit

from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    Route,
    WebError,
    WebSocket,
)

# Chromium reports each violation in the console too, but not always as an error.
_REPORT_VIOLATIONS: Final = """
document.addEventListener("securitypolicyviolation", (event) => console.error(
  `violates ${event.effectiveDirective}: ${event.blockedURI} in ${event.sourceFile}`));
"""
# A refusal of the API is an answer like any other; a request that ends with its page is none.
_USUAL: Final = re.compile(r"Failed to load resource: (the server responded|net::ERR_ABORTED)")


NO_NETWORK: Final = r"net::ERR_|WebSocket connection to"
"""Problems of a page that does not reach the service."""


class Problems:
    """Violations of the content policy, errors in the console, uncaught exceptions, requests to
    other origins, files that are missing and answers that say `500`."""

    def __init__(self, *, origin: str) -> None:
        """`origin`: such as `http://127.0.0.1:8000`."""
        self.origins = {origin}
        self.seen: list[str] = []
        self._allowed = ["$^"]

    def allow(self, pattern: str) -> None:
        """Allow problems that match the regular expression. None need happen: what a fault brings
        depends on what the page does at that moment."""
        self._allowed.append(pattern)

    def watch(self, context: BrowserContext) -> None:
        """Watch all pages of a browser."""
        context.add_init_script(_REPORT_VIOLATIONS)
        context.on("console", self._console)
        context.on("weberror", self._uncaught)
        context.on("response", self._response)
        context.on("request", self._request)
        context.on("page", self._page)
        context.route(lambda url: not self._is_own(url), _abort)

    def check(self) -> None:
        """Fail if something went wrong that is not allowed."""
        wrong = [seen for seen in self.seen if not re.search("|".join(self._allowed), seen)]
        if wrong:
            raise AssertionError("\n".join(wrong))

    def _is_own(self, url: str) -> bool:
        parts = urlsplit(url.removeprefix("blob:"))
        scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
        return f"{scheme}://{parts.netloc}" in self.origins or url == "about:blank"

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not _USUAL.match(message.text):
            self.seen.append(f"console: {message.text}")

    def _uncaught(self, error: WebError) -> None:
        self.seen.append(f"uncaught: {error.error}")

    def _response(self, response: Response) -> None:
        is_file = urlsplit(response.url).path.rpartition("/")[0].endswith("/assets")
        if response.status == 500 or (is_file and response.status >= 400):
            self.seen.append(f"{response.status}: {response.url}")

    def _request(self, request: Request) -> None:
        if not self._is_own(request.url):
            self.seen.append(f"request to {request.url}")

    def _page(self, page: Page) -> None:
        page.on("websocket", self._socket)

    def _socket(self, socket: WebSocket) -> None:
        if not self._is_own(socket.url):
            self.seen.append(f"socket to {socket.url}")


def _abort(route: Route) -> None:
    route.abort()
