"""Completion of upload batches: a batch completes when none of its sources is open."""

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
    """Mark batches that have ended; each is returned to one caller only.

    Run in a separate transaction, after the last source's has committed: if two sources end at
    the same time, neither transaction sees that the other source has ended.
    """
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["lock"], {"ids": list(ids)})
        locked = await cur.fetchall()
    if not locked:
        return []
    async with conn.cursor(row_factory=class_row(CompletedBatch)) as cur:
        await cur.execute(_SQL["complete"], {"ids": locked})
        return await cur.fetchall()


async def list_open(conn: Connection) -> list[UUID]:
    """Batches not marked as completed, least recently updated first."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["list_open"])
        return await cur.fetchall()


async def reopen(conn: Connection, *, job_ids: Sequence[UUID]) -> None:
    """Reopen the batches of these jobs; call after changing the jobs and sources."""
    if job_ids:
        await conn.execute(_SQL["reopen"], {"job_ids": list(job_ids)})
