"""New vectors wait outside of the HNSW index, so that what stores them need not wait for it.

    store ──▶ rag.embeddings_fresh ──move──▶ rag.embeddings ── its HNSW index per model
                 few: all are compared          any number: found by the index

The index is most of what a chunk costs Postgres. A vector is found from its commit on, in either
part: a search asks the fresh part first and the index then, so what is moved in between is found in
both, never in none, and counted once. Few means: as many as are compared in little more time than
the index takes.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.documents.embedding_models import index_type

_SQL = load_queries("documents/fresh_vectors.sql")

# Compared in about 15 ms: a row costs nearly 1 µs, and a number 1 ns more.
_MOST_ROWS: Final = 16_000
_MOST_NUMBERS: Final = 4_000_000
# To count them takes about as long as to store a document.
_COUNT_SECONDS: Final = 1.0
_LARGEST_HALF: Final = float(np.finfo(np.float16).max)

_TYPES: Final = ("uuid", "int2", "uuid", "vector")
VectorRow = tuple[UUID, int, UUID, NDArray[np.float32]]
"""Chunk, model, application, vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """How many vectors of a model wait, counted to one more than there is room for."""

    dimension: int
    vectors: int

    @property
    def is_high(self) -> bool:
        """Whether to move some although others need the processor."""
        return 2 * self.vectors > room(self.dimension)


@dataclass(slots=True)
class _Known:
    counted_at: float
    dimension: int
    vectors: int


# What this process knows of the database, by model. Several processes, or one whose transaction
# fails, are wrong for a second at most: then some more or fewer vectors wait than could.
_known: Final[dict[int, _Known]] = {}


def room(dimension: int) -> int:
    """How many vectors of a model may wait."""
    return min(_MOST_ROWS, _MOST_NUMBERS // dimension)


async def store(conn: Connection, rows: Iterable[VectorRow]) -> None:
    """Store vectors of chunks: fresh while there is room, else under the index at once.

    So a load that nobody finds the time to index is slowed down by its own index.
    """
    by_model: defaultdict[int, list[VectorRow]] = defaultdict(list)
    for row in rows:
        by_model[row[1]].append(row)
    for model_id, own in by_model.items():
        is_fresh = _can_be_indexed(own) and await _take_room(conn, model_id, own)
        statement = _SQL["copy_fresh" if is_fresh else "copy_indexed"]
        async with conn.cursor() as cur, cur.copy(statement) as copy:
            copy.set_types(_TYPES)
            for row in own:
                await copy.write_row(row)


def _can_be_indexed(rows: Sequence[VectorRow]) -> bool:
    """What the index refuses is refused now, to who stores it, and not when it is moved.

    The dimension is looked at with the room.
    """
    if index_type(len(rows[0][3])) == "vector":
        return True
    return all(np.abs(vector).max() <= _LARGEST_HALF for _, _, _, vector in rows)


async def _take_room(conn: Connection, model_id: int, rows: Sequence[VectorRow]) -> bool:
    known = _known.get(model_id)
    if known is None or time.monotonic() - known.counted_at >= _COUNT_SECONDS:
        known = await _count(conn, model_id)
    if known is None or any(len(vector) != known.dimension for _, _, _, vector in rows):
        # The index refuses it; among those that wait, no search could compare with it.
        return False
    if known.vectors + len(rows) > room(known.dimension):
        return False
    known.vectors += len(rows)
    return True


async def _count(conn: Connection, model_id: int) -> _Known | None:
    parameters = {"model_id": model_id, "bound": _MOST_ROWS}
    row = await (await conn.execute(_SQL["count"], parameters)).fetchone()
    if row is None:
        return None  # no such model
    known = _Known(counted_at=time.monotonic(), dimension=row[0], vectors=row[1])
    _known[model_id] = known
    return known


async def levels(conn: Connection) -> list[Level]:
    """How many vectors wait, of each model."""
    async with conn.cursor(row_factory=class_row(Level)) as cur:
        await cur.execute(_SQL["levels"], {"bound": _MOST_ROWS + 1})
        return await cur.fetchall()


async def lock_moving(conn: Connection) -> bool:
    """Whether we are the one to move vectors, until our transaction ends."""
    return bool(await _scalar(conn, "lock_moving"))


async def is_quiet(conn: Connection) -> bool:
    """Whether no job runs and none is about to."""
    return bool(await _scalar(conn, "is_quiet"))


async def move(conn: Connection, *, limit: int) -> int:
    """Put up to `limit` vectors under the index; how many. Waits for nobody."""
    return (await conn.execute(_SQL["move"], {"limit": limit})).rowcount


async def _scalar(conn: Connection, name: str) -> Any:
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL[name])
        return await cur.fetchone()
