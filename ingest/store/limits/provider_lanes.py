"""Lanes: a token bucket and circuit breaker per provider, shared by all workers."""

from collections.abc import Sequence
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
"""Error codes with which jobs wait for the embedding provider to recover."""
FAILURES_TO_PAUSE: Final = 3
"""Consecutive failures after which a lane lets only one request through after each pause."""
RELEASED_AT_ONCE: Final = 1000
"""Maximum number of jobs that one transaction makes ready."""

PauseReason = Literal["rate_limited", "provider_unavailable", "probe"]
"""`probe`: one request is in flight to test whether a failed provider has recovered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why a provider last failed."""

    code: str
    status: int | None
    """HTTP status; None: there was no response."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """The current state of a lane, by the database's clock."""

    requests: float | None
    """Remaining requests; negative if overdrawn, None if the bucket is full."""
    tokens: float | None
    refilled_at: datetime
    paused_until: datetime | None
    pause_reason: PauseReason | None
    failures: int
    """Consecutive failures."""
    failing_since: datetime | None
    """Since when this cause keeps pausing the lane; None if it does not."""
    error_code: str | None
    error_status: int | None
    error_message: str | None
    now: datetime
    limits: Any
    """`requestsPerMinute` and `tokensPerMinute`, not validated; None: not configured."""
    is_stopped: bool
    """The operator has paused it (provider_pauses.py)."""

    @property
    def cause(self) -> Cause | None:
        return _cause(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneState:
    """The state of a lane, read without taking tokens."""

    is_paused: bool
    delay: timedelta | None
    """Remaining pause."""
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
    """Lock a lane until the transaction ends; add it if it does not exist."""
    while True:
        async with conn.cursor(row_factory=class_row(Lane)) as cur:
            await cur.execute(_SQL["lock"], {"lane": lane})
            locked = await cur.fetchone()
        if locked is not None:
            return locked
        await conn.execute(_SQL["add"], {"lane": lane})


async def save(conn: Connection, name: str, lane: Lane) -> None:
    """Write a lane that this transaction locked."""
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
    """Record that a request succeeded; returns whether the lane was failing before."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["succeed"], {"lane": lane})
        return bool(await cur.fetchone())


async def state(conn: Connection, lane: str) -> LaneState | None:
    """The state of a lane; None if it has not been used yet."""
    async with conn.cursor(row_factory=class_row(LaneState)) as cur:
        await cur.execute(_SQL["state"], {"lane": lane})
        return await cur.fetchone()


async def names(conn: Connection, *, limit: int) -> list[str]:
    """Lanes of providers that were used, by name."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["all"], {"limit": limit})
        return await cur.fetchall()


async def end_pauses(
    conn: Connection,
    *,
    lane: str | None = None,
    reason: PauseReason | None = None,
) -> list[str]:
    """End pauses of providers, optionally of one lane or reason; returns the affected lanes."""
    values = {"failures": FAILURES_TO_PAUSE, "lane": lane, "reason": reason}
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["end_pauses"], values)
        return await cur.fetchall()


async def release(conn: Connection, *, codes: Sequence[str], reasons: Sequence[str]) -> int:
    """Make some of the jobs that wait for a provider ready, and wake the workers.

    Those whose last error is one of `codes`, and those that wait for one of `reasons`. Returns the
    number of jobs.
    """
    values = {"codes": list(codes), "reasons": list(reasons), "limit": RELEASED_AT_ONCE}
    done = await conn.execute(_SQL["release"], values)
    if done.rowcount:
        await wake(conn)
    return done.rowcount
