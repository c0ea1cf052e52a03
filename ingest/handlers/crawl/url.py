"""A single web page requested by its address: fetch, extract, embed, store."""

from dataclasses import replace

from ingest.errors import LeaseLost
from ingest.handlers.context import Context, Outcome, Progress, Write
from ingest.handlers.crawl.current_run import current_run
from ingest.handlers.crawl.fetch_page import (
    PageTemporarilyUnavailable,
    PageUnavailable,
    note_http_status,
)
from ingest.handlers.crawl.read_page import read_page
from ingest.handlers.crawl.store_page import page_outcome
from ingest.handlers.registry import handler
from ingest.payloads import RunPayload
from ingest.postgres.database import Connection, transaction
from ingest.store.crawl import crawl_pages, crawls, frontier, site_documents
from ingest.store.crawl.crawls import Crawl
from ingest.store.queue import jobs
from ingest.store.queue.jobs import ClaimedJob


@handler("url")
async def ingest_url(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Fetch the page and store it if it has changed; its outcome ends the run."""
    crawl = await current_run(RunPayload.of(job).crawl_id, ctx)
    async with transaction(ctx.pool) as conn:
        if not await jobs.hold(conn, [job]):
            raise LeaseLost(job.id)
        await crawls.mark_running(conn, crawl.id)
        page = await frontier.ensure_single_page(
            conn,
            crawl_id=crawl.id,
            source_id=crawl.source_id,
            uri=crawl.uri,
            fetch_url=crawl.start,
            job_id=job.id,
        )
        stored = await crawl_pages.stored_page(conn, crawl.source_id, page.uri)
    try:
        read = await read_page(job, page, stored, ctx, progress, scope=None)
    except (PageUnavailable, PageTemporarilyUnavailable) as error:
        await note_http_status(job, page, error.http_status, ctx)
        raise
    # A user asked for exactly this page: it keeps the requested address, and `noindex` is ignored.
    read = replace(read, uri=page.uri, may_index=True)
    outcome = await page_outcome(job, crawl, page, read, stored, ctx, progress)
    return replace(outcome, write=_write_and_end_run(outcome, crawl))


def _write_and_end_run(outcome: Outcome, crawl: Crawl) -> Write:
    async def write(conn: Connection) -> None:
        assert outcome.write is not None  # noqa: S101 page_outcome always has one
        await outcome.write(conn)
        await site_documents.recount(conn, source_id=crawl.source_id, crawl_id=crawl.id)
        await crawls.end(conn, crawl.id, status="completed", is_complete=True)
        await crawls.write_digest(conn, crawl.id, removed=0, held=0)

    return write
