"""What nothing needs any more: blobs without rows, pictures beyond their budget, expired rows."""

from datetime import timedelta
from typing import Final

import structlog

from ingest.blobs.base import BlobStore
from ingest.postgres.database import Pool, transaction
from ingest.store.crawl import crawl_origins, webhook_events
from ingest.store.limits import schedules, token_budgets
from ingest.store.pages import page_images
from ingest.store.queue import job_control, workers
from ingest.store.sources import sources
from ingest.store.tenants import api_keys, sessions

log = structlog.get_logger()

# Younger files may belong to an upload that has not written its rows yet.
ORPHAN_AGE: Final = timedelta(days=1)
_KEYS_AT_ONCE: Final = 500


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


async def sweep_blobs(pool: Pool, blobs: BlobStore, *, older_than: timedelta = ORPHAN_AGE) -> int:
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
