"""Lanes: what is left of a rate limit that all workers share, and whether it is paused."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from psycopg.rows import class_row

from ingest.db import Connection, load_queries

_SQL = load_queries("lanes.sql")

PauseReason = Literal["rate_limited", "provider_unavailable", "probe"]
"""`probe`: one request is under way to see whether a provider that failed is back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A lane as it is now, by the database's clock."""

    requests: float | None
    """Left; below zero: a debt. None: as many as fit."""
    tokens: float | None
    refilled_at: datetime
    paused_until: datetime | None
    pause_reason: PauseReason | None
    failures: int
    """In a row."""
    now: datetime
    limits: Any
    """`requestsPerMinute` and `tokensPerMinute`, as somebody wrote them; None: nobody did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    delay: timedelta
    reason: PauseReason


async def lock(conn: Connection, lane: str) -> Lane:
    """The lane, added if need be; nobody else changes it before the transaction ends."""
    while True:
        async with conn.cursor(row_factory=class_row(Lane)) as cur:
            await cur.execute(_SQL["lock"], {"lane": lane})
            locked = await cur.fetchone()
        if locked is not None:
            return locked
        await conn.execute(_SQL["add"], {"lane": lane})


async def save(conn: Connection, name: str, lane: Lane) -> None:
    """Write a lane that this transaction has locked."""
    await conn.execute(
        _SQL["save"],
        {
            "lane": name,
            "requests": lane.requests,
            "tokens": lane.tokens,
            "refilled_at": lane.refilled_at,
            "paused_until": lane.paused_until,
            "pause_reason": lane.pause_reason,
            "failures": lane.failures,
        },
    )


async def succeed(conn: Connection, lane: str) -> None:
    """A request of the lane was answered: failures are no longer in a row."""
    await conn.execute(_SQL["succeed"], {"lane": lane})


async def pause(conn: Connection, lane: str) -> Pause | None:
    """How long the lane is still paused, and why; None: it is not."""
    async with conn.cursor(row_factory=class_row(Pause)) as cur:
        await cur.execute(_SQL["pause"], {"lane": lane})
        return await cur.fetchone()
