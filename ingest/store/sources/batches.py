"""When upload batches end: no source of theirs is open any more."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("sources/batches.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedBatch:
    id: UUID
    application_id: UUID
    completed_at: datetime


async def complete(conn: Connection, ids: Sequence[UUID]) -> list[CompletedBatch]:
    """Mark those of `ids` that have ended; each is answered to one caller only.

    In a transaction of its own, after the last source's has committed: of two last sources that
    end at the same time, neither sees the other's end.
    """
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["lock"], {"ids": list(ids)})
        locked = await cur.fetchall()
    if not locked:
        return []
    async with conn.cursor(row_factory=class_row(CompletedBatch)) as cur:
        await cur.execute(_SQL["complete"], {"ids": locked})
        return await cur.fetchall()


async def still_open(conn: Connection) -> list[UUID]:
    """Batches that are not marked, the longest untouched first."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["open"])
        return await cur.fetchall()


async def reopen(conn: Connection, *, job_ids: Sequence[UUID]) -> None:
    """Say that jobs of batches are at work again; after the jobs and sources were changed."""
    if job_ids:
        await conn.execute(_SQL["reopen"], {"job_ids": list(job_ids)})
