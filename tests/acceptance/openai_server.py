"""A local OpenAI-compatible embeddings server whose moods a test decides."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.patience import PATIENCE

DIMENSION = 32
MODEL = "test-embedding"


class EmbeddingServer:
    """Deterministic vectors; can be slow, fail, or hold its answers back."""

    def __init__(self) -> None:
        self.delay = 0.0
        self.status = 200
        self.headers: dict[str, str] = {}
        self.per_second: int | None = None
        """Requests that are answered in each second; more get 429 and `Retry-After: 1`."""
        self.key: str | None = None
        """If set, all other keys are refused."""
        self.error: dict[str, str] = {"message": "told to fail", "type": "test"}
        """What goes with another status than 200."""
        self.dimension = DIMENSION
        self.poison: str | None = None
        """Whoever asks for a text with this in it gets a vector too few."""
        self.refused = 0
        self._second, self._in_second = 0, 0
        self.gate = threading.Event()
        self.gate.set()
        self.texts: list[str] = []
        self.requests = 0
        self.waiting = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                key = self.headers["Authorization"].removeprefix("Bearer ")
                status, answer = outer.answer(body, key)
                payload = json.dumps(answer).encode()
                self.send_response(status)
                if status == 429 and outer.per_second is not None:
                    self.send_header("Retry-After", "1")
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, format: str, *args: Any) -> None: ...

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Clients are killed in these tests; a broken pipe is nothing to report."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def answer(self, body: Any, key: str) -> tuple[int, Any]:
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        with self._lock:
            self.requests += 1
            if self.key is not None and key != self.key:
                return 401, {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}
            if self._is_too_much():
                self.refused += 1
                return 429, {"error": {"message": "too many requests", "type": "requests"}}
            self.waiting += 1
        self.gate.wait(PATIENCE)
        time.sleep(self.delay)
        with self._lock:
            self.waiting -= 1
            if self.status != 200:
                return self.status, {"error": self.error}
            self.texts.extend(texts)
        as_base64 = body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": index,
                "embedding": self._vector(text, as_base64, model=body["model"]),
            }
            for index, text in enumerate(texts)
        ]
        if self.poison is not None and any(self.poison in text for text in texts):
            del data[0]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return 200, {"object": "list", "data": data, "model": body["model"], "usage": usage}

    def _vector(self, text: str, as_base64: bool, *, model: str) -> Any:
        # Of the default model each text has a vector of its own, of others the sum of its words.
        parts = [text] if model == MODEL else [f"{model} {word}" for word in text.split()]
        vector = np.sum([self._random(part) for part in parts], axis=0)
        vector /= np.linalg.norm(vector)
        return base64.b64encode(vector.tobytes()).decode() if as_base64 else vector.tolist()

    def _random(self, text: str) -> NDArray[np.float32]:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        return np.random.default_rng(seed).standard_normal(self.dimension).astype(np.float32)

    def _is_too_much(self) -> bool:
        second = int(time.monotonic())
        if second != self._second:
            self._second, self._in_second = second, 0
        self._in_second += 1
        return self.per_second is not None and self._in_second > self.per_second

    def env(self) -> dict[str, str]:
        return {
            "INGEST_EMBEDDER": "openai",
            "OPENAI_BASE_URL": self.url,
            "OPENAI_API_KEY": "sk-acceptance",
            "INGEST_EMBEDDING_MODEL": MODEL,
            "INGEST_EMBEDDING_DIMENSIONS": str(DIMENSION),
        }

    def serve(self) -> None:
        self._server.serve_forever(poll_interval=0.05)

    def close(self) -> None:
        self.gate.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    server = EmbeddingServer()
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()
