"""Claiming jobs: the claim itself, the limits of job types, and scheduled jobs."""

import json
from collections.abc import Mapping, Sequence
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
    """True if `max_concurrent` or `rate_per_minute` is set."""
    is_limited_and_ready: bool
    """True if it also has a ready job, even one locked by another claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What the limits of a job type allow now, summed over all workers."""

    type: str
    allowance: int
    """Jobs that may start now; none if below 1."""
    wait_seconds: float | None
    """Time until the rate limit allows the next job; None if the rate limit does not block."""


async def _claimed(cursor: AsyncCursor[tuple[Any, ...]]) -> list[ClaimedJob]:
    """All payloads are read as one document: one by one takes eight times as long."""
    columns = tuple(column.name for column in cursor.description or ())
    if columns != ClaimedJob._fields:
        raise TypeError(f"the claim returned columns {columns}, expected {ClaimedJob._fields}")
    at = columns.index("payload")
    rows = await cursor.fetchall()
    payloads = json.loads(f"[{','.join(row[at] for row in rows)}]")
    return [
        ClaimedJob._make((*row[:at], payload, *row[at + 1 :]))
        for row, payload in zip(rows, payloads, strict=True)
    ]


async def set_planner(conn: Connection) -> None:
    """Set planner options for the caller's transaction, which only reads or changes the queue."""
    await conn.execute(_SQL["set_planner"])


async def begin(conn: Connection) -> None:
    """Begin a claim in the caller's transaction: planner options, and no change of the config."""
    await conn.execute(_SQL["begin"])


async def claimable_types(conn: Connection, *, handlers: Sequence[str]) -> list[ClaimableType]:
    """Job types that are enabled, not paused, and have a handler in this worker."""
    async with conn.cursor(row_factory=class_row(ClaimableType)) as cur:
        await cur.execute(_SQL["claimable_types"], {"handlers": list(handlers)})
        return await cur.fetchall()


async def weights(conn: Connection) -> dict[UUID, int]:
    """Weights of applications, 1 to 100; applications not in the result have weight 1."""
    return dict(await (await conn.execute(_SQL["weights"])).fetchall())


async def allowances(conn: Connection, types: Sequence[str]) -> list[Allowance]:
    """What the limits of these types allow; concurrent callers wait until our transaction ends.

    Types whose limits were removed in the meantime are left out.
    """
    lanes = [f"type:{type}" for type in types]
    locked = await conn.execute(_SQL["lock_lanes"], {"lanes": lanes})
    if locked.rowcount < len(lanes):
        await conn.execute(_SQL["add_lanes"], {"lanes": lanes})
        await conn.execute(_SQL["lock_lanes"], {"lanes": lanes})
    async with conn.cursor(row_factory=class_row(Allowance)) as cur:
        await cur.execute(_SQL["allowances"], {"types": list(types)})
        return await cur.fetchall()


async def charge_rate_limits(conn: Connection, started: Mapping[str, int]) -> None:
    """Charge started jobs to the rate limits, in the transaction that claimed them."""
    await conn.execute(
        _SQL["charge_rate_limits"], {"types": list(started), "counts": list(started.values())}
    )


async def claim(
    conn: Connection,
    *,
    types: Sequence[str],
    batch: int,
    worker: UUID,
    cursor: UUID,
    allowed: Mapping[str, int] | None = None,
    weights: Mapping[UUID, int] | None = None,
    held: Mapping[UUID, float] | None = None,
    most_held: int | None = None,
) -> list[ClaimedJob]:
    """Claim up to `batch` ready jobs, shared fairly among applications.

    The caller owns a job until its fence moves. `cursor` is the application this worker served
    last; `allowed` caps jobs per type. `held`: the worker's slots that applications hold, so that
    those with fewer come first; with `most_held`, only those with fewer than that. Fewer jobs than
    `batch` does not mean the queue is empty; no jobs does, unless other workers were claiming the
    same ones or `most_held` is given.
    """
    heavier, holders = weights or {}, held or {}
    async with conn.cursor(binary=True) as cur:
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
                "held_ids": list(holders),
                "held": list(holders.values()),
                "most_held": most_held,
                # Holders may have the next places after the cursor.
                "candidates": batch + len(holders),
            },
            prepare=True,
        )
        return await _claimed(cur)


async def claim_oldest(conn: Connection, *, types: Sequence[str], worker: UUID) -> list[ClaimedJob]:
    """Claim at most one job: the oldest ready one, regardless of priority."""
    async with conn.cursor(binary=True) as cur:
        await cur.execute(_SQL["claim_oldest"], {"types": list(types), "worker": worker})
        return await _claimed(cur)


async def promote(conn: Connection) -> int:
    """Make up to 1,000 due jobs ready; returns how many."""
    return (await conn.execute(_SQL["promote"])).rowcount


async def next_due(conn: Connection) -> timedelta | None:
    """Time until the next scheduled job is due; None if there is none."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["next_due"])
        seconds = await cur.fetchone()
    return None if seconds is None else timedelta(seconds=max(0.0, seconds))


async def ready_types(conn: Connection, types: Sequence[str]) -> list[str]:
    """Which of these types have a ready job, even one locked by another claim."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["ready_types"], {"types": list(types)})
        return await cur.fetchall()
