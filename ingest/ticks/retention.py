"""Retention: remove expired jobs, events, runs, idempotency responses and hidden documents.

Every removal is a series of bounded transactions that use an index and skip locked rows. So
replicas can clean up concurrently and next to the workers. A replica that is killed keeps what it
committed; the next one continues with the rest.
"""

import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

import structlog

from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.documents import held_documents
from ingest.store.retention import retention, retention_jobs, retention_runs
from ingest.store.retention.retention_jobs import EndedJob, JobRetention
from ingest.store.tenants import applications, idempotency, sessions

log = structlog.get_logger()

# Any job that paid for a cached vector should have ended long before.
_CACHE_AGE: Final = timedelta(days=7)
_ROWS_PER_BATCH: Final = 1000
# Smaller batches: removing these rows also removes log lines or chunks.
_JOBS_PER_BATCH: Final = 250
_HELD_PER_BATCH: Final = 50
_RUNS_PER_BATCH: Final = 250
_BUDGET: Final = timedelta(minutes=5)

Step = Callable[[Connection], Awaitable[int]]
"""Removes a bounded number of rows; returns how many, 0 if none are left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Retention periods."""

    jobs: JobRetention
    events: timedelta
    answers: timedelta
    deliveries: timedelta
    deleted: timedelta
    runs: timedelta


class _Deadline:
    """The time when cleaning up stops; the rest is left for the next time."""

    def __init__(self, budget: timedelta) -> None:
        self._until = time.monotonic() + budget.total_seconds()

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._until


Removal = Callable[[_Deadline], Awaitable[int]]


async def apply_retention(
    pool: Pool, periods: Retention, *, budget: timedelta = _BUDGET
) -> dict[str, int]:
    """Remove everything past its retention period; returns the number of rows by kind.

    Each kind has the full `budget`. An error in one kind does not stop the rest.
    """
    kinds: dict[str, Removal] = {
        "jobs": partial(_forget_jobs, pool, periods.jobs),
        "events": partial(_forget_events, pool, periods.events),
        "runs": partial(_forget_runs, pool, periods.runs),
        **{name: partial(_repeat, pool, step) for name, step in _simple_steps(periods).items()},
    }
    removed = {}
    for name, forget in kinds.items():
        try:
            removed[name] = await forget(_Deadline(budget))
        except Exception as error:
            log.error("housekeeping.failed", what=name, exc_info=error)
    if any(removed.values()):
        log.info("housekeeping.done", **removed)
    return removed


def _simple_steps(periods: Retention) -> dict[str, Step]:
    limit = _ROWS_PER_BATCH
    return {
        "answers": partial(idempotency.forget_answers, older_than=periods.answers, limit=limit),
        "deliveries": partial(
            retention.forget_deliveries, older_than=periods.deliveries, limit=limit
        ),
        "documents": partial(retention.forget_documents, older_than=periods.deleted, limit=limit),
        "vectors": partial(retention.forget_cached_vectors, older_than=_CACHE_AGE, limit=limit),
        "sessions": partial(sessions.forget, limit=limit),
        "held": partial(held_documents.drop_orphans, limit=_HELD_PER_BATCH),
    }


async def _repeat(pool: Pool, step: Step, deadline: _Deadline) -> int:
    total = 0
    while not deadline.is_over:
        async with transaction(pool) as conn:
            removed = await step(conn)
        if not removed:
            break
        total += removed
    return total


# ---------------------------------------------------------------- jobs


async def _forget_jobs(pool: Pool, periods: JobRetention, deadline: _Deadline) -> int:
    """Repeat until a round removes nothing: a root is removed the round after its last child."""
    total = 0
    while removed := await _forget_jobs_once(pool, periods, deadline):
        total += removed
    return total


async def _forget_jobs_once(pool: Pool, periods: JobRetention, deadline: _Deadline) -> int:
    total = 0
    last: EndedJob | None = None
    while not deadline.is_over:
        async with transaction(pool) as conn:
            ended = await retention_jobs.list_ended(
                conn, periods, after=last, limit=_JOBS_PER_BATCH
            )
            expired = await retention_jobs.expired_runs(
                conn, periods, list({job.root_id for job in ended})
            )
        if not ended:
            break
        last = ended[-1]
        free = await _detach_sources(
            pool, periods, [job for job in ended if job.root_id in expired]
        )
        if free:
            async with transaction(pool) as conn:
                total += await retention_jobs.forget(conn, periods, free)
    return total


async def _detach_sources(
    pool: Pool, periods: JobRetention, jobs: Sequence[EndedJob]
) -> list[EndedJob]:
    """Detach these jobs from their sources where allowed; returns the jobs now unreferenced."""
    current: defaultdict[UUID, list[EndedJob]] = defaultdict(list)
    for job in jobs:
        if job.application_id is not None:
            current[job.application_id].append(job)
    gone: set[UUID] = set()
    for application_id, theirs in current.items():
        async with transaction(pool) as conn:
            await applications.lock_sources(conn, application_id)
            gone |= await retention_jobs.detach_sources(
                conn,
                periods,
                application_id=application_id,
                source_ids=[job.source_id for job in theirs if job.source_id],
                root_ids=[job.root_id for job in theirs],
            )
    return [job for job in jobs if job.source_id is None or job.source_id in gone]


# ---------------------------------------------------------------- events, runs


async def _forget_events(pool: Pool, older_than: timedelta, deadline: _Deadline) -> int:
    total = 0
    async with transaction(pool) as conn:
        last = await retention.events_seen(conn)
    while not deadline.is_over:
        async with transaction(pool) as conn:
            old = await retention.old_events(
                conn, older_than=older_than, after=last, limit=_ROWS_PER_BATCH
            )
            if not old:
                break
            last = old[-1]
            total += await retention.forget_events(conn, old)
            await retention.see_events(conn, last.created_at)
    return total


async def _forget_runs(pool: Pool, older_than: timedelta, deadline: _Deadline) -> int:
    total = 0
    last: retention_runs.OldRun | None = None
    while not deadline.is_over:
        async with transaction(pool) as conn:
            old = await retention_runs.old(
                conn, older_than=older_than, after=last, limit=_RUNS_PER_BATCH
            )
        if not old:
            break
        last = old[-1]
        for run in old:
            if not run.stays:
                total += await _forget_run(pool, run.id, deadline)
    return total


async def _forget_run(pool: Pool, crawl_id: UUID, deadline: _Deadline) -> int:
    await _repeat(
        pool,
        partial(retention_runs.forget_pages, crawl_id=crawl_id, limit=_ROWS_PER_BATCH),
        deadline,
    )
    async with transaction(pool) as conn:
        return int(await retention_runs.forget_run(conn, crawl_id))
