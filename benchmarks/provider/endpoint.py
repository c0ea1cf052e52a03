"""Starts the embeddings endpoint as a separate process, and reads its counters."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from benchmarks.provider.server import Counts
from harness.patience import PATIENCE
from harness.service import free_port, until

_HERE = Path(__file__).parents[2]


class ProviderProcess:
    """A client of a running endpoint."""

    def __init__(self, port: int) -> None:
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=10)
        self.url = f"http://127.0.0.1:{port}/v1"

    def is_up(self) -> bool:
        with suppress(httpx.TransportError):
            return self._http.get("/counts").status_code == 200
        return False

    def reset(self) -> None:
        self._http.post("/reset").raise_for_status()

    def counts(self) -> Counts:
        """The counts since the last reset."""
        return Counts(**self._http.get("/counts").raise_for_status().json())

    def close(self) -> None:
        self._http.close()


@contextmanager
def provider(*, latency: float, bytes_per_token: float) -> Iterator[ProviderProcess]:
    port = free_port()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "benchmarks.provider.server", str(port)),
            *("--latency", str(latency), "--bytes-per-token", str(bytes_per_token)),
        ],
        cwd=_HERE,
    )
    running = ProviderProcess(port)
    try:
        until(running.is_up)
        yield running
    finally:
        running.close()
        process.terminate()
        process.wait(PATIENCE)
