"""Find what repeats on the pages of a site, so that it is left out of their text.

Decided from a sample of the stored pages: at the end of each run, and once early in the first, so
that most of its pages are embedded only once. Pages that were chunked otherwise are chunked again
in the background. No page is fetched for it, and a decision that fails leaves the last one.
"""

import asyncio
from collections.abc import Mapping
from typing import Final
from uuid import UUID

import structlog

from ingest.handlers.context import Context
from ingest.handlers.documents.chunk_settings import chunk_settings
from ingest.observability import metrics
from ingest.optional_steps import improve, recording
from ingest.postgres.database import Connection, transaction
from ingest.store.crawl import crawls, site_furniture
from ingest.store.crawl.crawls import Crawl
from ingest.store.crawl.site_furniture import SampledPage
from ingest.store.documents import chunking
from ingest.web.furniture import MEDIA_TYPES, PageKeys, decide, put_back, read_page

_SAMPLE: Final = 300
"""Pages; a longer one says little about the edges of the others."""
_LONGEST: Final = 200_000
"""Characters of a page."""
_BATCH: Final = 25
"""Pages in memory at a time."""
_EARLY: Final = 32
"""Pages of a first run that are enough for a first decision."""

log = structlog.get_logger()


async def find_early(crawl: Crawl, ctx: Context, *, job_id: UUID) -> None:
    """In the first run of a site, decide as soon as it has enough pages."""
    if crawl.source_type != "site" or crawl.page_count < _EARLY:
        return
    async with transaction(ctx.pool) as conn:
        if not await site_furniture.is_due(conn, crawl.source_id, pages=_EARLY):
            return
    found = await find_furniture(crawl, ctx)
    if found is None:
        return
    async with transaction(ctx.pool) as conn:
        await crawls.lock(conn, crawl.id, source_id=crawl.source_id, job_id=job_id)
        await save_furniture(conn, crawl, found)


async def find_furniture(crawl: Crawl, ctx: Context) -> dict[str, str] | None:
    """What to leave out, as decide() returns it; None: the site is to keep everything.

    If deciding fails, what was left out before.
    """
    if not (await chunk_settings(crawl.source_id, ctx)).leave_out_furniture:
        return None
    async with transaction(ctx.pool) as conn:
        known = await site_furniture.known(conn, crawl.source_id)
    pages = list[PageKeys]()
    after = ""
    with recording() as skipped:
        while batch := await _next(crawl.source_id, after, _SAMPLE - len(pages), ctx):
            pages += await asyncio.to_thread(
                improve, "furniture", lambda: _read(batch), otherwise=list
            )
            after = batch[-1][0]
        found = await asyncio.to_thread(
            improve, "furniture", lambda: decide(pages, known=known), otherwise=lambda: known
        )
    for step in skipped.found():
        metrics.step_skipped("site", step.step, step.times)
        log.warning("furniture_skipped", source_id=str(crawl.source_id), cause=step.cause)
    return known if skipped.found() else found


async def _next(source_id: UUID, after: str, room: int, ctx: Context) -> list[SampledPage]:
    if room <= 0:
        return []
    async with transaction(ctx.pool) as conn:
        return await site_furniture.sample(
            conn,
            source_id,
            after=after,
            limit=min(_BATCH, room),
            longest=_LONGEST,
            media_types=MEDIA_TYPES,
        )


def _read(batch: list[SampledPage]) -> list[PageKeys]:
    return [read_page(uri, put_back(text, left_out)) for _, uri, text, left_out in batch]


async def save_furniture(conn: Connection, crawl: Crawl, found: Mapping[str, str]) -> None:
    """Store the decision, and have pages chunked again if it is another than before.

    The caller holds the lock of the run.
    """
    before = await site_furniture.known(conn, crawl.source_id)
    await site_furniture.save(
        conn, crawl.source_id, application_id=crawl.application_id, furniture=found
    )
    if before != found:
        await chunking.rechunk_sources(conn, crawl.application_id, [crawl.source_id])
