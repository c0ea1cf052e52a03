"""A local reranking server whose moods a test decides."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class RerankServer:
    """Scores a text by `score`; answers with another `status`, or holds its answers back."""

    def __init__(self) -> None:
        self.score: Callable[[str], float] = lambda text: 0.0
        self.status = 200
        self.body: bytes | None = None
        """Instead of the scores."""
        self.gate = threading.Event()
        self.gate.set()
        self.requests: list[dict[str, Any]] = []
        self.url = ""

    def answer(self, request: dict[str, Any]) -> bytes:
        self.requests.append(request)
        self.gate.wait()
        scores = [
            {"index": index, "relevance_score": self.score(text)}
            for index, text in enumerate(request["documents"])
        ]
        # Best first, as real servers answer.
        scores.sort(key=lambda one: -one["relevance_score"])
        return self.body if self.body is not None else json.dumps({"results": scores}).encode()


@contextmanager
def rerank_server() -> Iterator[RerankServer]:
    outer = RerankServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = outer.answer(request)
            try:
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except (BrokenPipeError, ConnectionResetError):  # the client gave up
                self.close_connection = True

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        outer.url = f"http://127.0.0.1:{server.server_address[1]}/v1/rerank"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield outer
        finally:
            outer.gate.set()
            server.shutdown()
