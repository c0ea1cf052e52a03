"""The result of a contestant, and the check that its work is complete."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg
from psycopg import sql

from benchmarks.end_to_end.works import MARK, Work
from ingest.providers.embedders.factory import build_embedder
from ingest.settings.settings import Settings
from ingest.tokens.tokenizers import load_tokenizer

_SAMPLE = 20
_ALIKE = 0.95  # another text has 0.5

Row = tuple[Any, ...]
"""The content of a chunk, its vector, and what else the query gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """The contents of a database after a run."""

    chunks: int
    tokens: int
    """Tokens of all chunks by the embedder's tokenizer, however wide their white space is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpu:
    """Processor time in seconds."""

    own: float
    """Of all processes of the contestant."""
    parsers: float = 0.0
    """The part of `own` that was used outside its first process."""
    postgres: float

    @property
    def total(self) -> float:
        return self.own + self.postgres


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    seconds: float
    stored: Stored
    memory: int
    """Peak memory of the contestant's processes, in bytes."""
    cpu: Cpu
    index: str
    """When the HNSW index is built."""
    again: float | None = None
    """Seconds for a second run with the same, unchanged files."""


def _content(row: Row) -> str:
    return str(row[0])


def check(dsn: str, work: Work, rows: str, *, embedded: Callable[[Row], str] = _content) -> Stored:
    """Raises AssertionError unless all files are stored, and every chunk with its own vector.

    `rows`: a query for (content, vector, …) of all chunks. `embedded`: the text that the vector is
    of, by its row.
    """
    with psycopg.connect(dsn) as conn:
        chunks = conn.execute(
            sql.SQL("select embedding::text, rows.* from ({}) as rows (content, embedding)").format(
                sql.SQL(rows)
            )
        ).fetchall()
        indexes = conn.execute("select count(*) from pg_indexes where indexdef ~ 'hnsw'").fetchone()
    texts = [" ".join(content.split()) for _, content, *_ in chunks]
    found = {mark for text in texts for mark in MARK.findall(text)}
    assert work.marks <= found, f"{len(work.marks - found)} files are missing"
    assert chunks, "nothing was stored"
    assert indexes != (0,), "there is no HNSW index"
    sample = chunks[:: max(len(chunks) // _SAMPLE, 1)]
    _check_vectors([(embedded(tuple(row)), vector) for vector, *row in sample])
    tokenizer = load_tokenizer("wordllama")
    return Stored(chunks=len(chunks), tokens=sum(map(tokenizer.count, texts)))


def _check_vectors(chunks: list[tuple[str, str | None]]) -> None:
    embedder = asyncio.run(build_embedder(Settings(embedder="static")))
    ours = asyncio.run(embedder.embed([content for content, _ in chunks]))
    for vector, (_, stored) in zip(ours, chunks, strict=True):
        assert stored is not None, "a chunk has no vector"
        theirs = np.fromstring(stored.strip("[]"), sep=",")
        alike = float(vector @ theirs) / float(np.linalg.norm(theirs))
        assert alike >= _ALIKE, f"a vector is not that of its text (cosine {alike:.4f})"
