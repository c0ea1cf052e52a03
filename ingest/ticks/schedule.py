"""Scheduled ticks: process, recover, reconcile, rescrape, clean up. All are safe to run twice."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog

from ingest import temporary_folders
from ingest.blobs.base import BlobStore
from ingest.postgres.database import Pool, transaction
from ingest.scheduling.cron import Scheduler
from ingest.store.crawl import rescrapes
from ingest.store.limits import schedules, usage
from ingest.store.maintenance import table_statistics
from ingest.store.notify import deliveries
from ingest.ticks.cleanup import (
    ORPHAN_AGE,
    evict_page_images,
    forget_webhook_events,
    prune_old,
    sweep_blobs,
)
from ingest.ticks.database_clock import DatabaseClock
from ingest.ticks.recovery import complete_batches, reconcile_sources, recover_stale_jobs
from ingest.ticks.retention import Retention, apply_retention
from ingest.ticks.term_indexer import index_terms
from ingest.ticks.vector_indexer import index_vectors

log = structlog.get_logger()

_STARTS_AT_ONCE: Final = 200
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
    _analyze(scheduler, pool)
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


def _analyze(scheduler: Scheduler, pool: Pool) -> None:
    @scheduler.cron("analyze-tables", "*/3 * * * * *")
    async def analyze() -> None:
        await analyze_tables(pool)


async def analyze_tables(pool: Pool) -> int:
    """Make the planner's statistics of tables that have grown; returns of how many."""
    # Outside of the role of transactions, which owns no table.
    async with pool.session() as conn:
        tables = await table_statistics.outdated(conn)
        for table in tables:
            await table_statistics.analyze(conn, table)
    return len(tables)


def _clean_up(scheduler: Scheduler, pool: Pool, blobs: BlobStore, retention: Retention) -> None:
    @scheduler.cron("sweep-blobs", "0 17 * * * *")
    async def sweep() -> None:
        await sweep_blobs(pool, blobs)
        await asyncio.to_thread(temporary_folders.sweep, older_than=ORPHAN_AGE)

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
