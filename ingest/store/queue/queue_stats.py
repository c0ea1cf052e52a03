"""Counts over the whole installation, for operators. The cost does not grow with the queue."""

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
"""Counts of jobs per type stop here."""
_REASONS: Final = (
    "retry",
    "scheduled",
    "pages",
    "provider",
    "provider_unavailable",
    "provider_paused",
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
    """Age of the oldest ready job."""
    due: int
    """Delayed jobs that become ready within a minute."""
    processing: int
    overdue: int
    """Running for over five minutes longer than their timeout."""
    failed: int
    review_needed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingJobs:
    """Delayed jobs by wait reason; `other` stands for reasons defined by custom handlers."""

    type: str
    reason: str
    jobs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneStats:
    lane: str
    paused_seconds: float
    """Remaining pause; 0: not paused."""
    failures: int
    """Consecutive failures."""
    failing_code: str | None
    """The error that keeps pausing the lane; None: there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationStats:
    inbox: int
    """Unprocessed webhook events from providers."""
    deliveries: int
    """Pending notifications."""
    endpoints_failing: int
    endpoints_disabled: int
    """Disabled on request or after failures."""
    open_batches: int
    fresh_vectors: int
    """Vectors that are not indexed yet."""
    is_paused: bool
    embedder_is_paused: bool
    """Paused for another minute or more, or failing for over a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStats:
    types: Sequence[TypeStats]
    waiting: Sequence[WaitingJobs]
    lanes: Sequence[LaneStats]
    installation: InstallationStats
    workers: Workers


async def read(conn: Connection, *, stale_after: timedelta, embedder: str) -> QueueStats:
    """Read all counts. Needs a transaction; sets its statement timeout to 5 seconds.

    `embedder` is the embedding lane, or its provider and model if there is no lane. Raises
    psycopg QueryCanceled when a statement takes longer.
    """
    types = await read_types(conn, bound=LARGEST_COUNT)
    bound = {"bound": LARGEST_COUNT}
    async with conn.cursor(row_factory=class_row(WaitingJobs)) as cur:
        await cur.execute(_SQL["waiting"], {**bound, "reasons": list(_REASONS)})
        waiting = await cur.fetchall()
    async with conn.cursor(row_factory=class_row(LaneStats)) as cur:
        lanes = await (await cur.execute(_SQL["lanes"], {})).fetchall()
    async with conn.cursor(row_factory=class_row(InstallationStats)) as cur:
        await cur.execute(_SQL["installation"], {**bound, "embedder": embedder})
        [installation] = await cur.fetchall()
    return QueueStats(
        types=types,
        waiting=waiting,
        lanes=lanes,
        installation=installation,
        workers=await workers.summary(conn, stale_after=stale_after),
    )


async def read_types(conn: Connection, *, bound: int) -> list[TypeStats]:
    """Jobs by type; counts stop at `bound`. Needs a transaction, as `read` does."""
    await conn.execute(_SQL["bound"])
    async with conn.cursor(row_factory=class_row(TypeStats)) as cur:
        await cur.execute(_SQL["types"], {"bound": bound})
        return await cur.fetchall()


async def oldest_ready(conn: Connection) -> timedelta | None:
    """Age of the oldest claimable job; None if there is none or everything is paused."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["oldest_ready"])
        seconds = await cur.fetchone()
    return None if seconds is None else timedelta(seconds=seconds)
