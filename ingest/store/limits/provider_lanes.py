"""Lanes: what is left of a rate limit that all workers share, whether it is paused, and why."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.queue.jobs import wake

_SQL = load_queries("limits/provider_lanes.sql")

PROVIDER_CODES: Final = (
    "embedding_unavailable",
    "embedding_unauthorized",
    "embedding_model_missing",
    "embedding_quota",
    "embedding_mismatch",
)
"""With these, jobs wait for the embedding provider to be mended."""
FAILURES_TO_PAUSE: Final = 3
"""In a row. A lane with so many lets one request try after each pause."""
RELEASED_AT_ONCE: Final = 1000
"""Jobs, at most, that one transaction lets go on."""

PauseReason = Literal["rate_limited", "provider_unavailable", "probe"]
"""`probe`: one request is under way to see whether a provider that failed is back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why a provider failed the last time."""

    code: str
    status: int | None
    """Of the HTTP answer; None: there was none."""
    message: str


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
    failing_since: datetime | None
    """Since when it is paused again and again for this cause; None: it is not."""
    error_code: str | None
    error_status: int | None
    error_message: str | None
    now: datetime
    limits: Any
    """`requestsPerMinute` and `tokensPerMinute`, as somebody wrote them; None: nobody did."""

    @property
    def cause(self) -> Cause | None:
        return _cause(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneState:
    """What can be known of a lane without taking anything of it."""

    is_paused: bool
    delay: timedelta | None
    """How much longer it is paused."""
    reason: PauseReason | None
    failures: int
    failing_since: datetime | None
    error_code: str | None
    error_status: int | None
    error_message: str | None

    @property
    def cause(self) -> Cause | None:
        return _cause(self)


def _cause(row: "Lane | LaneState") -> Cause | None:
    if row.error_code is None:
        return None
    message = row.error_message or row.error_code
    return Cause(code=row.error_code, status=row.error_status, message=message)


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
            "failing_since": lane.failing_since,
            "error_code": lane.error_code,
            "error_status": lane.error_status,
            "error_message": lane.error_message,
        },
    )


async def succeed(conn: Connection, lane: str) -> bool:
    """A request of the lane was answered; whether the lane was failing until now."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["succeed"], {"lane": lane})
        return bool(await cur.fetchone())


async def state(conn: Connection, lane: str) -> LaneState | None:
    """None: nobody has asked for anything in it yet."""
    async with conn.cursor(row_factory=class_row(LaneState)) as cur:
        await cur.execute(_SQL["state"], {"lane": lane})
        return await cur.fetchone()


async def end_pauses(
    conn: Connection,
    *,
    lane: str | None = None,
    reason: PauseReason | None = None,
) -> list[str]:
    """End pauses of providers, all or only those of a lane or with a reason; the paused lanes."""
    values = {"failures": FAILURES_TO_PAUSE, "lane": lane, "reason": reason}
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["end_pauses"], values)
        return await cur.fetchall()


async def release(conn: Connection, *, all: bool = False) -> int:
    """Let some of the jobs that wait for the embedding provider go on, and wake the workers.

    `all`: those that wait for any provider. How many there were.
    """
    values = {"codes": list(PROVIDER_CODES), "all": all, "limit": RELEASED_AT_ONCE}
    done = await conn.execute(_SQL["release"], values)
    if done.rowcount:
        await wake(conn)
    return done.rowcount
