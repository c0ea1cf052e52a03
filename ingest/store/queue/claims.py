"""Who gets which job next: the claim, the limits of job types, and what is waiting for its time."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import AsyncCursor
from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.queue.jobs import ClaimedJob

_SQL = load_queries("queue/claims.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimableType:
    type: str
    is_limited: bool
    """Whether it has `max_concurrent` or `rate_per_minute`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What the limits of a job type leave to all workers together, at this moment."""

    type: str
    allowance: int
    """Jobs that may start now; below 1: none."""
    wait_seconds: float | None
    """How long until the rate allows the next one; None if it is not the rate that forbids it."""


def _claimed_row(cursor: AsyncCursor[Any]) -> Callable[[Sequence[Any]], ClaimedJob]:
    """As class_row, but quicker. The payload comes as text: most are empty."""
    columns = [column.name for column in cursor.description or ()]
    if columns and columns != list(ClaimedJob._fields):
        raise TypeError(f"a claim returns {columns}")
    at = ClaimedJob._fields.index("payload")

    def claimed(row: Sequence[Any]) -> ClaimedJob:
        text = row[at]
        payload = {} if text == "{}" else json.loads(text)
        return ClaimedJob._make((*row[:at], payload, *row[at + 1 :]))

    return claimed


@asynccontextmanager
async def prepared(conn: Connection) -> AsyncIterator[None]:
    """Let a connection claim quickly in this block; it should serve nothing else meanwhile."""
    await conn.execute(_SQL["set_plans"])
    try:
        yield
    finally:
        if not conn.closed:
            await conn.execute(_SQL["reset_plans"])


async def share_switches(conn: Connection) -> None:
    """Keep switches and limits of the workers as they are until the caller's transaction ends.

    Before the first statement that reads them.
    """
    await conn.execute(_SQL["share_switches"])


async def claimable_types(conn: Connection, *, handlers: Sequence[str]) -> list[ClaimableType]:
    """Job types that are enabled, not paused, and whose handler this worker has."""
    async with conn.cursor(row_factory=class_row(ClaimableType)) as cur:
        await cur.execute(_SQL["claimable_types"], {"handlers": list(handlers)})
        return await cur.fetchall()


async def weights(conn: Connection) -> dict[UUID, int]:
    """Shares of applications, 1 to 100; those that are not named have 1."""
    return dict(await (await conn.execute(_SQL["weights"])).fetchall())


async def allowances(conn: Connection, types: Sequence[str]) -> list[Allowance]:
    """What the limits of these types allow; others that ask wait until our transaction ends.

    Types whose limits were lifted meanwhile are left out.
    """
    lanes = [f"type:{type}" for type in types]
    locked = await conn.execute(_SQL["lock_lanes"], {"lanes": lanes})
    if locked.rowcount < len(lanes):
        await conn.execute(_SQL["add_lanes"], {"lanes": lanes})
        await conn.execute(_SQL["lock_lanes"], {"lanes": lanes})
    async with conn.cursor(row_factory=class_row(Allowance)) as cur:
        await cur.execute(_SQL["allowances"], {"types": list(types)})
        return await cur.fetchall()


async def spend(conn: Connection, started: Mapping[str, int]) -> None:
    """Note how many jobs of limited types were started, in the transaction that claimed them."""
    await conn.execute(_SQL["spend"], {"types": list(started), "counts": list(started.values())})


async def claim(
    conn: Connection,
    *,
    types: Sequence[str],
    batch: int,
    worker: UUID,
    cursor: UUID,
    allowed: Mapping[str, int] | None = None,
    weights: Mapping[UUID, int] | None = None,
) -> list[ClaimedJob]:
    """Take up to `batch` ready jobs, in shares over applications; ours until their fence moves.

    `cursor` is the application that this worker served last; `allowed` the most jobs of a type.
    Fewer jobs than asked for does not mean that nothing is left; an empty answer does, unless other
    workers were claiming the same.
    """
    heavier = weights or {}
    async with conn.cursor(row_factory=_claimed_row) as cur:
        await cur.execute(
            _SQL["claim"],
            {
                "types": list(types),
                "allowances": [(allowed or {}).get(type) for type in types],
                "batch": batch,
                "worker": worker,
                "cursor": cursor,
                "weight_ids": list(heavier),
                "weights": list(heavier.values()),
            },
            prepare=True,
        )
        return await cur.fetchall()


async def claim_oldest(conn: Connection, *, types: Sequence[str], worker: UUID) -> list[ClaimedJob]:
    """Take the job that has been ready for longest, whatever its priority; at most one."""
    async with conn.cursor(row_factory=_claimed_row) as cur:
        await cur.execute(_SQL["claim_oldest"], {"types": list(types), "worker": worker})
        return await cur.fetchall()


async def promote(conn: Connection) -> int:
    """Make up to 1,000 jobs ready whose time has come; how many."""
    return (await conn.execute(_SQL["promote"])).rowcount


async def next_due(conn: Connection) -> timedelta | None:
    """How long until the next scheduled job is due; None when there is none."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["next_due"])
        seconds = await cur.fetchone()
    return None if seconds is None else timedelta(seconds=max(0.0, seconds))


async def ready_types(conn: Connection, types: Sequence[str]) -> list[str]:
    """Those of these types of which a job is ready, locked by another claim or not."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["ready_types"], {"types": list(types)})
        return await cur.fetchall()
