"""What the peers have in common: what they are asked, the clock, and their answer."""

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
    """Holds the files, and nothing else."""
    url: str
    """postgresql://… of an empty database that has pgvector."""
    scratch: str
    """An empty folder, for what the peer keeps on disk."""
    model: dict[str, str]
    tokens: int
    """Of a chunk; the overlap is an eighth. The next two are about the same, in other units."""
    characters: int
    words: int
    again: bool
    """Whether the same files are to be ingested a second time."""

    @property
    def files(self) -> list[Path]:
        return sorted(Path(self.folder).iterdir())

    def embedder(self) -> StaticEmbedder:
        return StaticEmbedder(**self.model)

    def url_for(self, driver: str) -> str:
        """The URL as SQLAlchemy takes it."""
        return self.url.replace("postgresql:", f"postgresql+{driver}:", 1)


def answer(
    prepare: Callable[[Task], Callable[[], object]], *, rows: str, index: str = "in place"
) -> None:
    """Run a task from standard input and print its seconds.

    `prepare` does what is done once in the life of an installation (tables and their index,
    connections, the model, imports that come late) and answers what ingests the folder: that is
    timed. `rows` is a query for (content, vector) of all chunks that are stored, `index` says when
    the HNSW index is made.
    """
    task = Task(**json.load(sys.stdin))
    ingest = prepare(task)
    times = [_timed(ingest) for _ in range(2 if task.again else 1)]
    seconds, cpu = zip(*times, strict=True)
    print(json.dumps({"seconds": seconds, "cpu": cpu[0], "rows": rows, "index": index}))


def _timed(ingest: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock, and of the processor, with those of children that have ended."""
    started, used = time.perf_counter(), sum(os.times()[:4])
    ingest()
    return time.perf_counter() - started, sum(os.times()[:4]) - used
