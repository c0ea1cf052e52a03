"""What all peers share: the task, the clock and the answer."""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from static_embedder import StaticEmbedder


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    kind: Literal["text", "pdf", "html"]
    folder: str
    """Contains only the files to ingest."""
    url: str
    """postgresql://… of an empty database with pgvector."""
    scratch: str
    """An empty folder for files that the peer writes."""
    model: dict[str, str]
    tokens: int
    """Size of a chunk; the overlap is an eighth. The next two fields give about the same in other
    units.
    """
    characters: int
    words: int
    again: bool
    """Whether to ingest the same files a second time."""

    @property
    def files(self) -> list[Path]:
        return sorted(Path(self.folder).iterdir())

    def embedder(self) -> StaticEmbedder:
        return StaticEmbedder(**self.model)

    def url_for(self, driver: str) -> str:
        """The URL in the form that SQLAlchemy expects."""
        return self.url.replace("postgresql:", f"postgresql+{driver}:", 1)


def answer(
    prepare: Callable[[Task], Callable[[], object]], *, rows: str, index: str = "in place"
) -> None:
    """Read a task from standard input, run it, and print the seconds it took.

    `prepare` does what an installation does only once (tables and their index, connections, the
    model, late imports), and returns the function that ingests the folder; only that function is
    timed. `rows`: a query for (content, vector) of all stored chunks. `index`: when the HNSW index
    is built.
    """
    task = Task(**json.load(sys.stdin))
    ingest = prepare(task)
    times = [_timed(ingest) for _ in range(2 if task.again else 1)]
    seconds, cpu = zip(*times, strict=True)
    print(json.dumps({"seconds": seconds, "cpu": cpu[0], "rows": rows, "index": index}))


def _timed(ingest: Callable[[], object]) -> tuple[float, float]:
    """Elapsed and processor seconds, including children that have ended."""
    started, used = time.perf_counter(), sum(os.times()[:4])
    ingest()
    return time.perf_counter() - started, sum(os.times()[:4]) - used
