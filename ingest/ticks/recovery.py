"""What a worker that died leaves open: its jobs, the states of their sources, and batches."""

from datetime import timedelta
from typing import Final

import structlog

from ingest.observability import metrics
from ingest.postgres.database import Pool, transaction
from ingest.store.notify import outbox
from ingest.store.queue import jobs
from ingest.store.sources import batches, job_events, sources

log = structlog.get_logger()

_BATCHES_AT_ONCE: Final = 100


async def recover_stale_jobs(pool: Pool, *, stale_after: timedelta) -> int:
    """Recover jobs from workers whose heartbeat is stale; returns how many."""
    async with transaction(pool) as conn:
        stale = await jobs.recover(conn, stale_after=stale_after)
        await job_events.jobs_recovered(conn, stale)
        if stale:
            await jobs.wake(conn)
    metrics.recovered(len(stale))
    if stale:
        log.warning("jobs.recovered", count=len(stale))
    return len(stale)


async def reconcile_sources(pool: Pool) -> int:
    """Settle sources that are open but have no open job, normally none; returns how many."""
    async with transaction(pool) as conn:
        ids = await sources.unsettled(conn)
        settled = await sources.settle(conn, ids)
        settled += await sources.fail_jobless(conn, ids)
        await job_events.sources_reconciled(conn, settled)
    if ids:
        log.error("sources.reconciled", count=len(ids))
    return len(ids)


async def complete_batches(pool: Pool) -> int:
    """Complete batches that ended but that no worker completed; returns how many.

    The worker died, or the last source was cancelled, deleted or replaced.
    """
    async with transaction(pool) as conn:
        still_open = await batches.list_open(conn)
    count = 0
    for start in range(0, len(still_open), _BATCHES_AT_ONCE):
        async with transaction(pool) as conn:
            part = still_open[start : start + _BATCHES_AT_ONCE]
            count += await outbox.complete_batches(conn, part)
    return count
