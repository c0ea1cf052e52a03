"""The state of the whole installation in numbers, for operators. Cheap however long the queue."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.queue import workers
from ingest.store.queue.workers import Workers

_SQL = load_queries("queue/queue_stats.sql")

LARGEST_COUNT: Final = 100_000
"""Where counts of jobs end, per type."""
_REASONS: Final = (
    "retry",
    "scheduled",
    "pages",
    "provider",
    "provider_unavailable",
    "rate_limited",
    "budget_exceeded",
    "host_busy",
    "endpoint_failing",
    "robots_unavailable",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeStats:
    """Jobs of a type that have not completed."""

    type: str
    is_on: bool
    max_concurrent: int | None
    rate_per_minute: int | None
    ready: int
    oldest_seconds: float | None
    """Since the oldest ready one was queued."""
    due: int
    """Waiting for a time that comes within a minute."""
    processing: int
    overdue: int
    """Running for much longer than their time-out."""
    failed: int
    review_needed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Jobs that wait for a time, by reason; `other` for reasons that handlers made up."""

    type: str
    reason: str
    jobs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneStats:
    lane: str
    paused_seconds: float
    """How much longer; 0: not paused."""
    failures: int
    """In a row."""
    failing_code: str | None
    """Why the lane is paused again and again; None: it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    inbox: int
    """Events of providers that are not processed."""
    deliveries: int
    """Notifications that are not delivered and not given up."""
    endpoints_failing: int
    endpoints_disabled: int
    """By the service, because they failed."""
    open_batches: int
    fresh_vectors: int
    """Vectors that are not under an index yet."""
    is_paused: bool
    embedder_is_paused: bool
    """For more than a minute, or failing for longer than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStats:
    types: Sequence[TypeStats]
    waiting: Sequence[Waiting]
    lanes: Sequence[LaneStats]
    installation: Installation
    workers: Workers


async def read(conn: Connection, *, stale_after: timedelta, embedder: str) -> QueueStats:
    """All of it. Needs a transaction, whose statements it gives 5 seconds (psycopg QueryCanceled).

    `embedder`: the embedding lane, or its provider and model if it has none.
    """
    await conn.execute(_SQL["bound"])
    bound = {"bound": LARGEST_COUNT}
    async with conn.cursor(row_factory=class_row(TypeStats)) as cur:
        types = await (await cur.execute(_SQL["types"], bound)).fetchall()
    async with conn.cursor(row_factory=class_row(Waiting)) as cur:
        await cur.execute(_SQL["waiting"], {**bound, "reasons": list(_REASONS)})
        waiting = await cur.fetchall()
    async with conn.cursor(row_factory=class_row(LaneStats)) as cur:
        lanes = await (await cur.execute(_SQL["lanes"], {})).fetchall()
    async with conn.cursor(row_factory=class_row(Installation)) as cur:
        await cur.execute(_SQL["installation"], {**bound, "embedder": embedder})
        [installation] = await cur.fetchall()
    return QueueStats(
        types=types,
        waiting=waiting,
        lanes=lanes,
        installation=installation,
        workers=await workers.summary(conn, stale_after=stale_after),
    )


async def oldest_ready(conn: Connection) -> timedelta | None:
    """Age of the oldest job that could be claimed; None when there is none, or all is paused."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["oldest_ready"])
        seconds = await cur.fetchone()
    return None if seconds is None else timedelta(seconds=seconds)
