"""Scheduled ticks: process, recover, reconcile, rescrape, clean up. All are safe to run twice."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog

from ingest import temporary_folders
from ingest.blobs.base import BlobStore
from ingest.observability import metrics
from ingest.postgres.database import Pool, transaction
from ingest.scheduling.cron import Scheduler
from ingest.store.crawl import crawl_origins, rescrapes, webhook_events
from ingest.store.limits import schedules, token_budgets, usage
from ingest.store.notify import deliveries, outbox
from ingest.store.pages import page_images
from ingest.store.queue import job_control, jobs, workers
from ingest.store.sources import batches, job_events, sources
from ingest.store.tenants import api_keys, sessions
from ingest.ticks.database_clock import DatabaseClock
from ingest.ticks.retention import Retention, apply_retention
from ingest.ticks.term_indexer import index_terms
from ingest.ticks.vector_indexer import index_vectors

log = structlog.get_logger()

# Younger files may belong to an upload that has not written its rows yet.
_ORPHAN_AGE: Final = timedelta(days=1)
_KEYS_AT_ONCE: Final = 500
_STARTS_AT_ONCE: Final = 200
_BATCHES_AT_ONCE: Final = 100
_CHANGES_AT_ONCE: Final = 20_000


def build_ticks(
    *,
    pool: Pool,
    blobs: BlobStore,
    wake: Callable[[], None],
    tick: str,
    stale_after: timedelta,
    rescrape: str | None,
    retention: Retention,
    clock: DatabaseClock,
    page_image_cache: int,
) -> Scheduler:
    """Build all ticks of a worker process, not yet started.

    `rescrape`: cron expression for sources without their own schedule; None: never.
    `page_image_cache`: bytes of pictures of pages to keep.
    """

    async def guard(name: str, firing: datetime) -> bool:
        async with transaction(pool) as conn:
            return await schedules.fire(conn, name=name, scheduled_for=firing)

    scheduler = Scheduler(guard, clock=clock.now)

    @scheduler.cron("set-clock", "25 * * * * *", on_every_replica=True)
    async def set_clock() -> None:
        await clock.set(pool)

    @scheduler.cron("process-rag-jobs", tick, on_every_replica=True)
    async def process() -> None:
        # Every worker wakes; the claim distributes the jobs.
        wake()

    @scheduler.cron("recover-stale-jobs", "*/5 * * * * *", on_every_replica=True)
    async def recover() -> None:
        # On every replica: the single replica that got the firing could be the stuck one.
        await recover_stale_jobs(pool, stale_after=stale_after)

    @scheduler.cron("reconcile-sources", "15 * * * * *")
    async def reconcile() -> None:
        await reconcile_sources(pool)

    @scheduler.cron("complete-batches", "45 * * * * *")
    async def complete() -> None:
        await complete_batches(pool)

    if rescrape is not None:

        @scheduler.cron("rescrape-urls", rescrape, catch_up=True)
        async def nightly() -> None:
            await make_nightly_due(pool)

    @scheduler.cron("start-rescrapes", "0 * * * * *")
    async def start() -> None:
        await start_rescrapes(pool)

    _index(scheduler, pool)
    _release(scheduler, pool)
    _count(scheduler, pool)
    _clean_up(scheduler, pool, blobs, retention)
    _evict(scheduler, pool, blobs, page_image_cache)
    return scheduler


def _index(scheduler: Scheduler, pool: Pool) -> None:
    @scheduler.cron("index-vectors", "*/2 * * * * *", on_every_replica=True)
    async def index() -> None:
        # On every replica: the one that got the firing might die before all vectors are moved.
        await index_vectors(pool)

    @scheduler.cron("index-terms", "1/2 * * * * *")
    async def index_words() -> None:
        await index_terms(pool)


def _release(scheduler: Scheduler, pool: Pool) -> None:
    @scheduler.cron("release-deliveries", "*/15 * * * * *")
    async def release() -> None:
        async with transaction(pool) as conn:
            await deliveries.release_missed(conn)


def _count(scheduler: Scheduler, pool: Pool) -> None:
    @scheduler.cron("fold-usage", "*/5 * * * * *", on_every_replica=True)
    async def fold() -> None:
        # On every replica, like the vector indexer; a replica skips it while another does it.
        await fold_usage(pool)

    @scheduler.cron("recount-usage", "0 47 3 * * *")
    async def recount() -> None:
        async with transaction(pool) as conn:
            wrong = await usage.recount(conn)
        if wrong:
            log.warning("usage.was_wrong", applications=wrong)


async def fold_usage(pool: Pool) -> int:
    """Add the changes of usage to the totals; returns how many."""
    total = 0
    while True:
        async with transaction(pool) as conn:
            folded = await usage.fold(conn, limit=_CHANGES_AT_ONCE)
        total += folded
        if folded < _CHANGES_AT_ONCE:
            return total


def _clean_up(scheduler: Scheduler, pool: Pool, blobs: BlobStore, retention: Retention) -> None:
    @scheduler.cron("sweep-blobs", "0 17 * * * *")
    async def sweep() -> None:
        await sweep_blobs(pool, blobs)
        await asyncio.to_thread(temporary_folders.sweep, older_than=_ORPHAN_AGE)

    @scheduler.cron("housekeeping", "0 41 * * * *")
    async def housekeeping() -> None:
        await apply_retention(pool, retention)

    @scheduler.cron("prune", "0 30 3 * * *")
    async def prune() -> None:
        await prune_old(pool)
        await forget_webhook_events(pool, blobs)


def _evict(scheduler: Scheduler, pool: Pool, blobs: BlobStore, budget: int) -> None:
    @scheduler.cron("evict-page-images", "35 * * * * *")
    async def evict() -> None:
        await evict_page_images(pool, blobs, budget=budget)


async def evict_page_images(pool: Pool, blobs: BlobStore, *, budget: int) -> int:
    """Remove the longest unused pictures of pages beyond `budget` bytes; returns how many."""
    count = 0
    while True:
        async with transaction(pool) as conn:
            keys = await page_images.evict(conn, budget=budget, limit=_KEYS_AT_ONCE)
        # After the rows, so that none names a missing blob; a sweep finds those left by a kill.
        await blobs.delete(keys)
        count += len(keys)
        if len(keys) < _KEYS_AT_ONCE:
            return count


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


async def make_nightly_due(pool: Pool) -> None:
    """Make all sources without their own schedule due, spread over half an hour."""
    last: UUID | None = None
    while True:
        async with transaction(pool) as conn:
            last = await rescrapes.make_nightly_due(conn, after=last)
        if last is None:
            return


async def start_rescrapes(pool: Pool) -> int:
    """Start runs for up to 200 due sources; returns how many. The rest wait for the next tick."""
    async with transaction(pool) as conn:
        due = await rescrapes.due(conn, limit=_STARTS_AT_ONCE)
    started = 0
    for source in due:
        try:
            async with transaction(pool) as conn:
                started += await rescrapes.start_if_due(conn, source)
        except Exception as error:
            # One failing source must not block the rest.
            log.error("rescrape.not_started", source_id=str(source.id), exc_info=error)
    if started:
        log.info("rescrapes.started", count=started)
    return started


async def sweep_blobs(pool: Pool, blobs: BlobStore, *, older_than: timedelta = _ORPHAN_AGE) -> int:
    """Remove blobs that no row references, and files left by killed uploads; returns how many."""
    removed = await blobs.sweep_staged(older_than=older_than)
    keys: list[str] = []
    async for key in blobs.list_keys(older_than=older_than):
        keys.append(key)
        if len(keys) == _KEYS_AT_ONCE:
            removed += await _remove_orphans(pool, blobs, keys)
            keys = []
    removed += await _remove_orphans(pool, blobs, keys)
    if removed:
        log.info("blobs.swept", count=removed)
    return removed


async def _remove_orphans(pool: Pool, blobs: BlobStore, keys: list[str]) -> int:
    async with transaction(pool) as conn:
        needed = await sources.referenced_blobs(conn, keys)
        needed |= await job_control.blobs_of_jobs(conn, keys)
        needed |= await webhook_events.blobs(conn, keys)
        needed |= await page_images.referenced_blobs(conn, keys)
    orphans = [key for key in keys if key not in needed]
    await blobs.delete(orphans)
    return len(orphans)


async def prune_old(pool: Pool) -> None:
    """Remove old schedule firings, silent workers, tickets, codes, crawl origins, token budgets."""
    for forget in (
        schedules.forget_old,
        workers.forget_silent,
        api_keys.forget_tickets,
        sessions.forget_codes,
        crawl_origins.forget_origins,
        token_budgets.forget_old,
    ):
        async with transaction(pool) as conn:
            await forget(conn)


async def forget_webhook_events(pool: Pool, blobs: BlobStore) -> int:
    """Remove old processed events from the inbox, and their blobs; returns the number of events."""
    count = 0
    while True:
        async with transaction(pool) as conn:
            forgotten = await webhook_events.forget(conn)
        if not forgotten:
            return count
        count += len(forgotten)
        await blobs.delete([key for key in forgotten if key is not None])
