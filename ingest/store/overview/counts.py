"""How many jobs of an application are ready, run, wait or have failed. No count is unbounded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.limits import provider_pauses
from ingest.store.limits.provider_pauses import ProviderPause, names_of
from ingest.store.view import UtcTime, View

_SQL = load_queries("overview/counts.sql")

LARGEST_COUNT: Final = 10_000
"""Counts stop here."""
_REASONS: Final = 50


class BoundedCount(View):
    """A count that stops at a limit, so that it never takes long."""

    count: int
    is_more: bool
    """There are more than `count`."""

    @classmethod
    def of(cls, found: int) -> Self:
        """`found`: counted up to LARGEST_COUNT + 1, or a sum of such counts."""
        return cls(count=min(found, LARGEST_COUNT), is_more=found > LARGEST_COUNT)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsOfType:
    type: str
    reason: str | None
    """Why ready jobs do not start: `paused`, `max_concurrent`, `rate_limited`; None: they may."""
    is_paused: bool
    is_enabled: bool
    ready: int
    running: int
    oldest_seconds: float | None
    """Age of the oldest ready job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsByReason:
    reason: str
    jobs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsByCode:
    code: str
    jobs: int


class LaneView(View):
    """A provider whose requests are paused, or that fails."""

    lane: str
    """`provider/model`; for the operator also which key and endpoint."""
    reason: str | None
    """`rate_limited`, `provider_unavailable`, `probe`: a request finds out whether it works again,
    or `provider_paused`: by the operator. Null: not paused at the moment."""
    paused_until: UtcTime | None
    failing_since: UtcTime | None
    error_code: str | None
    """The error that keeps pausing the lane."""
    paused_since: UtcTime | None = None
    """When the operator paused it."""
    note: str | None = None
    """Who paused it and why, in the operator's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    """Each number stops at LARGEST_COUNT + 1 per type, reason or code."""

    types: Sequence[JobsOfType]
    waiting: Sequence[JobsByReason]
    """Jobs that wait for a time."""
    failures: Sequence[JobsByCode]
    """Of the last 24 hours."""
    reviews: int

    @property
    def ready(self) -> int:
        return sum(each.ready for each in self.types if each.reason is None)

    @property
    def running(self) -> int:
        return sum(each.running for each in self.types)

    @property
    def failed(self) -> int:
        return sum(each.jobs for each in self.failures)

    @property
    def oldest_seconds(self) -> float | None:
        """Age of the oldest job that waits for a worker, or for a limit of its type."""
        ages = (each.oldest_seconds for each in self.types if each.reason != "paused")
        return max((age for age in ages if age is not None), default=None)

    def by_reason(self) -> dict[str, int]:
        """Jobs that wait for a time, and ready jobs whose type may not start."""
        held = (
            JobsByReason(reason=each.reason, jobs=each.ready) for each in self.types if each.reason
        )
        return _sums((*self.waiting, *held))


def _sums(parts: Iterable[JobsByReason]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for part in parts:
        if part.jobs:
            sums[part.reason] = sums.get(part.reason, 0) + part.jobs
    return sums


async def read(conn: Connection, application_id: UUID) -> JobCounts:
    """Count the application's jobs. Needs a transaction; sets its statement timeout to 5 seconds.

    Raises psycopg QueryCanceled when a statement takes longer.
    """
    await conn.execute(_SQL["limit_time"])
    values = {"application_id": application_id, "bound": LARGEST_COUNT + 1, "most": _REASONS}
    # Never prepared: a generic plan does not know how few jobs the application may have.
    async with conn.cursor(row_factory=class_row(JobsOfType)) as cur:
        types = await (await cur.execute(_SQL["types"], values, prepare=False)).fetchall()
    async with conn.cursor(row_factory=class_row(JobsByReason)) as cur:
        waiting = await (await cur.execute(_SQL["waiting"], values, prepare=False)).fetchall()
    async with conn.cursor(row_factory=class_row(JobsByCode)) as cur:
        failures = await (await cur.execute(_SQL["failures"], values, prepare=False)).fetchall()
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["reviews"], values, prepare=False)
        reviews = int(await cur.fetchone() or 0)
    return JobCounts(types=types, waiting=waiting, failures=failures, reviews=reviews)


async def lanes(conn: Connection) -> list[LaneView]:
    """Providers that are paused or failing, whichever application uses them."""
    async with conn.cursor(row_factory=class_row(LaneView)) as cur:
        found = await (await cur.execute(_SQL["lanes"], {})).fetchall()
    stopped = await provider_pauses.paused(conn)
    # A pause by the operator outlasts, and hides, those that the provider caused.
    others = [lane for lane in found if not stopped.keys() & set(names_of(lane.lane))]
    return [*(_stopped(lane, pause) for lane, pause in sorted(stopped.items())), *others]


def _stopped(lane: str, pause: ProviderPause) -> LaneView:
    return LaneView(
        lane=lane,
        reason="provider_paused",
        paused_until=None,
        failing_since=None,
        error_code=None,
        paused_since=pause.since,
        note=pause.note,
    )
