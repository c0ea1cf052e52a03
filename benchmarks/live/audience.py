"""Child processes of the benchmark: the clients and the bare server."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.service import clean_environment

_HERE = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Totals over all clients; times in seconds."""

    deliveries: int
    characters: int
    seconds: float
    """From the first delivery to the last."""
    p50: float
    p99: float
    longest: float
    began: dict[str, int]
    """By source: the last event number in the snapshots of its clients. Only later events count."""


class Piped:
    """A module of this folder as a process, controlled by lines on its pipes."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._module = module
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"benchmarks.live.{module}", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=clean_environment(),
            cwd=_HERE,
        )
        self.pid = self._process.pid

    def say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def line(self) -> str:
        """The next line of its output; its errors appear on our standard error."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line, f"{self._module} ended"
        return line

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def piped(module: str, *arguments: str) -> Iterator[Piped]:
    process = Piped(module, *arguments)
    try:
        yield process
    finally:
        process.end()


@contextmanager
def clients(url: str, *, headers: Mapping[str, str], sources: Sequence[str]) -> Iterator[Piped]:
    """Start one client per element of `sources`; all have received their snapshot."""
    with piped("clients") as process:
        process.say(json.dumps({"url": url, "headers": dict(headers), "sources": list(sources)}))
        assert process.line() == "ready"
        yield process


def heard(process: Piped) -> Heard:
    """Wait until every source is done, and return the totals."""
    return Heard(**json.loads(process.line()))
