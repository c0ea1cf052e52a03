"""A buffer of new vectors outside the HNSW index, so that writers need not wait for the index.

    store ──▶ rag.embeddings_fresh ──move──▶ rag.embeddings (one HNSW index per model)
                 scanned in full                any number: searched by index

Updating the index is most of what a chunk costs Postgres. A vector is searchable from its commit
on: a search reads the buffer first, then the index. A vector moved in between is found in both,
never in neither, and counted once. The buffer is limited to what a search compares in 25 ms. Many
vectors are not moved one by one: the index is built anew (index_builds.py).
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg.rows import scalar_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("embeddings/fresh_vectors.sql")

# A full scan takes about 25 ms of processor time: 0.15 µs per row plus 1 ns per component; twice
# that where `shared_buffers` does not hold the buffer.
_MOST_ROWS: Final = 64_000
_MOST_NUMBERS: Final = 16_000_000
# Counting takes about as long as storing a document, so reuse a count for this long.
_COUNT_SECONDS: Final = 1.0
COUNTED: Final = _MOST_ROWS + 1
"""Counts of the buffer stop here: it is full."""
_LARGEST_HALF: Final = float(np.finfo(np.float16).max)

VectorRow = tuple[UUID, int, UUID, NDArray[np.float32]]
"""Chunk id, model id, application id, vector."""


@dataclass(slots=True)
class _BufferCount:
    counted_at: float
    dimension: int
    vectors: int


# Buffer levels by model, as this process knows them. Other processes or a rollback make them wrong
# for a second at most; the buffer then holds slightly more or fewer vectors than allowed.
_known: Final[dict[int, _BufferCount]] = {}


def capacity(dimension: int) -> int:
    """The buffer's capacity for vectors of one model."""
    return min(_MOST_ROWS, _MOST_NUMBERS // dimension)


async def store(conn: Connection, rows: Iterable[VectorRow]) -> None:
    """Store vectors in the buffer while there is room, else directly in the indexed table.

    This is backpressure: when the mover cannot keep up, writers pay for the index themselves.
    """
    by_model: defaultdict[int, list[VectorRow]] = defaultdict(list)
    for row in rows:
        by_model[row[1]].append(row)
    for model_id, own in by_model.items():
        is_fresh = _can_be_indexed(own) and await _reserve_capacity(conn, model_id, own)
        await conn.execute(
            _SQL["store_fresh" if is_fresh else "store_indexed"],
            {
                "model_id": model_id,
                "chunk_ids": [id for id, _, _, _ in own],
                "application_ids": [owner for _, _, owner, _ in own],
                "vectors": [Vector(vector) for _, _, _, vector in own],
            },
        )


def _can_be_indexed(rows: Sequence[VectorRow]) -> bool:
    """Whether each value fits `halfvec`. The writer must get the error, not the mover.

    _reserve_capacity checks the dimension.
    """
    return all(np.abs(vector).max() <= _LARGEST_HALF for _, _, _, vector in rows)


async def _reserve_capacity(conn: Connection, model_id: int, rows: Sequence[VectorRow]) -> bool:
    known = _known.get(model_id)
    if known is None or time.monotonic() - known.counted_at >= _COUNT_SECONDS:
        known = await _count(conn, model_id)
    if known is None or any(len(vector) != known.dimension for _, _, _, vector in rows):
        # The index rejects it; in the buffer it would break every search.
        return False
    if known.vectors + len(rows) > capacity(known.dimension):
        return False
    known.vectors += len(rows)
    return True


async def _count(conn: Connection, model_id: int) -> _BufferCount | None:
    parameters = {"model_id": model_id, "bound": _MOST_ROWS}
    row = await (await conn.execute(_SQL["count"], parameters)).fetchone()
    if row is None:
        return None  # no such model
    known = _BufferCount(counted_at=time.monotonic(), dimension=row[0], vectors=row[1])
    _known[model_id] = known
    return known


async def lock_moving(conn: Connection) -> bool:
    """Try to become the only mover until the transaction ends; False when another is."""
    return bool(await _scalar(conn, "lock_moving"))


async def is_quiet(conn: Connection) -> bool:
    """Whether no job is running or about to start."""
    return bool(await _scalar(conn, "is_quiet"))


async def move(conn: Connection, model_id: int, *, limit: int) -> int:
    """Move up to `limit` vectors of a model to the indexed table; returns how many.

    Never waits for locks. While the model's index is being built, that is where they wait for it.
    """
    return (await conn.execute(_SQL["move"], {"model_id": model_id, "limit": limit})).rowcount


async def _scalar(conn: Connection, name: str) -> Any:
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL[name])
        return await cur.fetchone()
