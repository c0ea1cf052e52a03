"""Real processes of the service, for acceptance tests and benchmarks: started, killed and asked."""

import atexit
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from harness.patience import LONG_PATIENCE, PATIENCE

KEY = "rk_operator_key_of_the_acceptance_tests"
INGEST = Path(sys.executable).parent / "ingest"

SHORT_LEASE = {"INGEST_HEARTBEAT": "0.5", "INGEST_STALE_AFTER": "4"}
"""For tests whose workers die. On a busy machine one that is well may be silent for seconds."""


class Service:
    """One process of the program under test, with an HTTP client when it serves."""

    def __init__(self, command: str, *, data: Path, env: Mapping[str, str]) -> None:
        self.command = command
        self.data = data
        self.port = free_port()
        self.log = data / f"{command}-{self.port}.log"
        clean = clean_environment()
        self._env = {
            **clean,
            "INGEST_DATA_DIR": str(data),
            "INGEST_ADMIN_KEY": KEY,
            "INGEST_PORT": str(self.port),
            "INGEST_EMBEDDER": "static",
            "INGEST_WORKER_PROCESSES": "0",  # else by the cores of the machine
            **env,
        }
        self.process = self._start()
        self.http = httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {KEY}"},
            timeout=PATIENCE,
            # Shorter than the server keeps a connection: a request must not meet its end.
            limits=httpx.Limits(keepalive_expiry=2),
        )

    def _start(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [INGEST, self.command], env=self._env, stdout=log, stderr=log, cwd="/"
            )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def wait_until_ready(self, *, within: float = PATIENCE) -> "Service":
        def answers() -> bool:
            if self.process.poll() is not None:
                raise AssertionError(f"{self.command} ended: {self.log.read_text()[-3000:]}")
            with suppress(httpx.TransportError):
                return self.http.get("/readyz").status_code == 200
            return False

        until(answers, within=within)
        return self

    def kill(self) -> None:
        """As the kernel's memory killer does: no chance to say goodbye."""
        self.process.kill()
        self.process.wait()

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def restart(self) -> None:
        self.process = self._start()

    def end(self) -> None:
        """Gracefully if it can."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(20)
            self.process.kill()
        self.process.wait()
        self.http.close()

    # -- asking

    def get(self, path: str, **query: Any) -> Any:
        """The JSON of a response; like any client, it asks again after a 503."""

        def available() -> httpx.Response | None:
            answer = self.http.get(path, params=query)
            return None if answer.status_code == 503 else answer

        answer = until(available)
        answer.raise_for_status()
        return answer.json()

    def pages(self, path: str, **query: Any) -> Iterator[Any]:
        """All items of a list."""
        cursor: dict[str, str] = {}
        while True:
            page = self.get(path, limit=200, **query, **cursor)
            yield from page["items"]
            if page["nextCursor"] is None:
                return
            cursor = {"cursor": page["nextCursor"]}

    def upload(self, files: Iterable[tuple[str, bytes]]) -> Any:
        """All files in one request; its answer."""
        parts = [("files", (path, content)) for path, content in files]
        answer = self.http.post("/upload/documents", files=parts)
        assert answer.status_code == 202, answer.text[:2000]
        return answer.json()

    def search(self, query: str, **more: Any) -> list[Any]:
        answer = self.http.post("/api/search", json={"query": query, **more})
        answer.raise_for_status()
        hits: list[Any] = answer.json()["hits"]
        return hits

    def progress(self, id: str) -> Any:
        return self.get(f"/api/knowledge-source/{id}/progress")

    def source(self, id: str) -> Any:
        return self.get(f"/api/knowledge-sources/{id}")

    def wait_until_terminal(self, id: str, *, within: float = LONG_PATIENCE) -> Any:
        """Until a source or an application has nothing open; its progress, which must add up."""

        def settled() -> Any:
            now = self.progress(id)
            check_adds_up(now)
            return now if not now["pending"] and not now["processing"] and now["total"] else None

        # Not too often: to count thousands of sources is work that the service would rather do.
        return until(settled, within=within, every=0.25)


def clean_environment() -> dict[str, str]:
    """Ours without settings of the service; what was compiled once need not be again."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("INGEST_", "OPENAI_", "DATABASE_", "STORAGE_"))
        and name != "PYTHONDONTWRITEBYTECODE"
    }


def free_port() -> int:
    """A port for a server that is started later, and perhaps again.

    On Linux nobody else gets it meanwhile: a socket that only holds it is in the way of those that
    take any free port, not of servers that ask for this one.
    """
    probe = socket.socket()
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    probe.bind(("127.0.0.1", 0))
    port: int = probe.getsockname()[1]
    if sys.platform == "linux":
        atexit.register(probe.close)
    else:
        probe.close()
    return port


def check_adds_up(progress: Any) -> None:
    parts = ("completed", "failed", "cancelled", "reviewNeeded", "processing", "pending")
    assert progress["total"] == sum(progress[part] for part in parts), progress


def until(condition: Callable[[], Any], *, within: float = PATIENCE, every: float = 0.05) -> Any:
    """Wait for `condition` to return something true, and return it."""
    deadline = time.monotonic() + within
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {within} s"
        time.sleep(every)
    return found


@contextmanager
def services(*, data: Path, env: Mapping[str, str]) -> Iterator[Callable[..., Service]]:
    """A starter of processes; whatever it started is ended with the block."""
    with ExitStack() as started:

        def start(command: str, **more: str) -> Service:
            service = Service(command, data=data, env={**env, **more})
            started.callback(service.end)
            return service

        yield start
