"""What the peers' scripts share: the arguments, the files, the answer."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any


def arguments() -> dict[str, Any]:
    """The JSON object on standard input."""
    read: dict[str, Any] = json.loads(sys.stdin.read())
    return read


def files(task: dict[str, Any]) -> list[Path]:
    return sorted(Path(task["folder"]).iterdir())


def characters(task: dict[str, Any], tokens: int) -> int:
    """Convert a number of tokens to about as many characters, for splitters that count those."""
    return int(tokens * task["bytes_per_token"])


def slices(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


class Stopwatch:
    """Runs from its construction until `stop`."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._seconds = 0.0

    def stop(self) -> None:
        self._seconds = time.perf_counter() - self._started

    def answer(self, *, chunks: int) -> None:
        """Print the result as the last line of standard output; `chunks`: stored rows."""
        print(json.dumps({"seconds": self._seconds, "chunks": chunks}))
