"""Move new vectors under the HNSW index while no jobs need the CPU.

One process of the installation at a time, in short transactions: a concurrent delete or replace
waits for one of them at most, and a killed process keeps what it committed.
"""

from typing import Final

import structlog

from ingest.postgres.database import Pool, transaction
from ingest.store.embeddings import fresh_vectors

log = structlog.get_logger()

# Inserting one vector takes Postgres 1 to 4 ms.
_AT_ONCE: Final = 100


async def index_vectors(pool: Pool) -> int:
    """Move vectors while the queue is idle, or while too many vectors wait; returns how many."""
    total = 0
    while moved := await _move_some(pool):
        total += moved
    if total:
        log.info("vectors.indexed", count=total)
    return total


async def _move_some(pool: Pool) -> int:
    async with transaction(pool) as conn:
        if not await fresh_vectors.lock_moving(conn):
            return 0
        levels = await fresh_vectors.levels(conn)
        if not any(level.vectors for level in levels):
            return 0
        if not any(level.is_high for level in levels) and not await fresh_vectors.is_quiet(conn):
            return 0
        return await fresh_vectors.move(conn, limit=_AT_ONCE)
