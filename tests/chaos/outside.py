"""What the service talks to besides its provider: a web site, and receivers of webhooks."""

import json
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Literal, get_args

from standardwebhooks import Webhook

from tests.chaos.contents import Mark, paragraph

SitePages: Final = 6
SiteMood = Literal["well", "503", "cut", "slow"]
ReceiverMood = Literal["well", "500", "cut", "hangs"]
SITE_MOODS: Final[dict[str, SiteMood]] = {mood: mood for mood in get_args(SiteMood)}
RECEIVER_MOODS: Final[dict[str, ReceiverMood]] = {mood: mood for mood in get_args(ReceiverMood)}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Its clients are killed, and it hangs up on them."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None: ...

    def reply(self, status: int, body: bytes = b"", kind: str = "text/html") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Endpoint:
    """An HTTP server on a free port of the loopback, in threads of its own."""

    def __init__(self) -> None:
        self.disturbed: Counter[str] = Counter()
        """Requests by the mood that they met, apart from `well`."""
        self._lock = threading.Lock()
        outer = self

        class Handler(_Handler):
            def do_GET(self) -> None:
                outer.get(self)

            def do_POST(self) -> None:
                outer.post(self, self.rfile.read(int(self.headers["Content-Length"])))

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def get(self, request: _Handler) -> None:
        request.reply(404)

    def post(self, request: _Handler, body: bytes) -> None:
        request.reply(404)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Site(Endpoint):
    """A site of a few linked pages for each application, `/<application>/<page>`."""

    def __init__(self) -> None:
        self.mood: SiteMood = "well"
        self.versions: defaultdict[int, int] = defaultdict(lambda: 1)
        """By application; whoever changes it changes the text of all pages."""
        super().__init__()

    def start_of(self, application: int) -> str:
        return f"{self.url}/{application}"

    def marks(self, application: int) -> set[Mark]:
        """What a complete crawl of the site as it is now finds."""
        version = self.versions[application]
        return {Mark(application, "s", 0, version, page) for page in range(SitePages)}

    def get(self, request: _Handler) -> None:
        mood = self.mood
        if mood != "well":
            with self._lock:
                self.disturbed[mood] += 1
        if mood == "503":
            return request.reply(503, b"<p>Maintenance</p>")
        if mood == "cut":
            request.close_connection = True
            return None
        if mood == "slow":
            time.sleep(1)
        application, _, page = request.path.strip("/").partition("/")
        if not application.isdigit() or not (page or "0").isdigit():
            return request.reply(404)
        return request.reply(200, self._page(int(application), int(page or 0)).encode())

    def _page(self, application: int, page: int) -> str:
        mark = Mark(application, "s", 0, self.versions[application], page)
        links = "".join(
            f'<li><a href="/{application}/{number}">{number}</a></li>'
            for number in range(1, SitePages)
        )
        title = f"Page {page} of {application}"
        return (
            f"<!DOCTYPE html><html lang='en'><head><title>{title}</title></head><body><main>"
            f"<h1>{title}</h1><p>{paragraph(mark)}</p></main><nav><ul>{links}</ul></nav></body></html>"
        )


class Receiver(Endpoint):
    """Takes signed webhooks at `/<application>` and keeps what it took."""

    def __init__(self) -> None:
        self.mood: ReceiverMood = "well"
        self.secrets: dict[int, str] = {}
        self.bodies: defaultdict[tuple[int, str], set[bytes]] = defaultdict(set)
        """By application and message id, of all signed messages that came."""
        self.taken: Counter[tuple[int, str]] = Counter()
        """How often each was answered with success."""
        self.forged = 0
        super().__init__()

    def post(self, request: _Handler, body: bytes) -> None:
        application = int(request.path.strip("/"))
        headers: Mapping[str, str] = {key.lower(): value for key, value in request.headers.items()}
        mood = self.mood
        with self._lock:
            if mood != "well":
                self.disturbed[mood] += 1
            if not self._is_signed(application, headers, body):
                self.forged += 1
                return request.reply(400)
            self.bodies[application, headers["webhook-id"]].add(body)
            if mood == "well":
                self.taken[application, headers["webhook-id"]] += 1
        if mood == "500":
            return request.reply(500)
        if mood == "cut":
            request.close_connection = True
            return None
        if mood == "hangs":
            time.sleep(4)
            return request.reply(500)
        return request.reply(204)

    def events(self, application: int) -> list[Any]:
        """All messages that were taken."""
        return [
            json.loads(body)
            for (owner, id), bodies in self.bodies.items()
            if owner == application and self.taken[owner, id]
            for body in bodies
        ]

    def _is_signed(self, application: int, headers: Mapping[str, str], body: bytes) -> bool:
        # Not by the library's `verify`, which refuses old times: senders' clocks jump here.
        at = datetime.fromtimestamp(int(headers["webhook-timestamp"]), UTC)
        signed = Webhook(self.secrets[application]).sign(headers["webhook-id"], at, body.decode())
        return signed in headers["webhook-signature"].split()
