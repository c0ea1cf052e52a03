"""A provider, or receiver, of anything, that counts: who asks when, and how many at once."""

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness.patience import PATIENCE


class CountingProvider:
    """Answers `POST /<name>` with 200; a name that is `down` gets 503."""

    def __init__(self) -> None:
        self.delay = 0.0
        self.down: set[str] = set()
        self.answers: dict[str, list[int]] = defaultdict(list)
        """What a name gets first, request after request."""
        self.calls: dict[str, list[float]] = defaultdict(list)
        self.bodies: list[tuple[dict[str, str], bytes]] = []
        """Headers, their names in lower case, and body of each request."""
        self.most_at_once = 0
        self._at_once = 0
        self._may_answer = threading.Event()
        self._may_answer.set()
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.bodies.append((headers, body))
                status = outer.answer(self.path.strip("/"))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None: ...

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Workers are killed in these tests."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody is answered within it."""
        self._may_answer.clear()
        try:
            yield
        finally:
            self._may_answer.set()

    def answer(self, name: str) -> int:
        with self._lock:
            self.calls[name].append(time.monotonic())
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        time.sleep(self.delay)
        self._may_answer.wait(PATIENCE)
        with self._lock:
            self._at_once -= 1
            first = self.answers[name].pop(0) if self.answers[name] else 200
        return 503 if name in self.down else first


@contextmanager
def counting_provider() -> Iterator[CountingProvider]:
    provider = CountingProvider()
    thread = threading.Thread(
        target=provider.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
    )
    thread.start()
    try:
        yield provider
    finally:
        provider.server.shutdown()
        provider.server.server_close()
        thread.join()
