"""The job for one page of a site, fetched by us or already fetched by a provider."""

from ingest.errors import Permanent, Transient
from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.crawl.current_run import current_run
from ingest.handlers.crawl.fetch_page import (
    PageTemporarilyUnavailable,
    PageUnavailable,
    RedirectOutOfScope,
    note_http_status,
)
from ingest.handlers.crawl.link_discovery import (
    SortedLinks,
    add_to_frontier,
    follow_stored_links,
    scope_of,
)
from ingest.handlers.crawl.read_page import ReadPage, login_elsewhere, read_page
from ingest.handlers.crawl.read_provider_page import read_provider_page
from ingest.handlers.crawl.site_furniture import find_early
from ingest.handlers.crawl.store_page import page_outcome, recount_ended_run
from ingest.handlers.registry import handler
from ingest.payloads import PagePayload
from ingest.postgres.database import Connection, transaction
from ingest.store.crawl import crawl_pages, crawls
from ingest.store.crawl.crawl_pages import PageForJob, PageResult, StoredPage
from ingest.store.crawl.crawls import Crawl
from ingest.store.queue.jobs import ClaimedJob


@handler("crawl_page")
async def crawl_page(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Read a page, store it if it is new or changed, and queue the pages it links to."""
    payload = PagePayload.of(job)
    crawl = await current_run(payload.crawl_id, ctx)
    async with transaction(ctx.pool) as conn:
        page = await crawl_pages.for_job(conn, payload.page_id)
        if page is None:
            raise Permanent("the knowledge source was deleted", code="source_deleted")
        stored = await crawl_pages.stored_page(conn, page.source_id, page.uri)
    await find_early(crawl, ctx, job_id=job.id)
    if crawl.provider == "firecrawl":
        try:
            read = await read_provider_page(page, stored, ctx, progress)
        except PageUnavailable as error:
            if not await _is_gone(error, page, stored, ctx):
                raise
            return _end_without_content(
                job, crawl, page, ctx, "gone", error.code, str(error), error.http_status
            )
    else:
        found = await _read(job, crawl, page, stored, ctx, progress)
        if isinstance(found, Outcome):
            return found
        read = found
    if read.uri != page.uri:
        async with transaction(ctx.pool) as conn:
            stored = await crawl_pages.stored_page(conn, page.source_id, read.uri)
    return await page_outcome(job, crawl, page, read, stored, ctx, progress)


async def _read(
    job: ClaimedJob,
    crawl: Crawl,
    page: PageForJob,
    stored: StoredPage | None,
    ctx: Context,
    progress: Progress,
) -> ReadPage | Outcome:
    """The page, or the outcome for a page that is gone or redirects out of the crawl."""
    scope = scope_of(crawl)
    try:
        return await read_page(job, page, stored, ctx, progress, scope=scope)
    except RedirectOutOfScope as redirect:
        if redirect.leads_to_login:
            return login_elsewhere(page)
        if page.depth == 0:
            raise Permanent(
                f"the site redirects to {redirect.url}: crawl that address instead",
                code="fetch_failed",
            ) from None
        return _end_without_content(
            job, crawl, page, ctx, "skipped", redirect.reason, str(redirect)
        )
    except (Permanent, Transient) as error:
        if isinstance(error, PageUnavailable | PageTemporarilyUnavailable):
            await note_http_status(job, page, error.http_status, ctx)
        if isinstance(error, PageUnavailable) and await _is_gone(error, page, stored, ctx):
            return _end_without_content(
                job, crawl, page, ctx, "gone", error.code, str(error), error.http_status
            )
        if stored is not None:
            await follow_stored_links(job, crawl, page, stored, ctx)
        raise


async def _is_gone(
    error: PageUnavailable, page: PageForJob, stored: StoredPage | None, ctx: Context
) -> bool:
    """Whether there was a page; otherwise the link to it is dead, which counts as a failure.

    Sites often link to pages that they have deleted. These stay `gone` after their removal.
    """
    if not error.is_gone or stored is not None:
        return error.is_gone
    async with transaction(ctx.pool) as conn:
        return await crawl_pages.was_removed(conn, page)


def _end_without_content(
    job: ClaimedJob,
    crawl: Crawl,
    page: PageForJob,
    ctx: Context,
    status: crawl_pages.PageStatus,
    code: str,
    message: str,
    http_status: int | None = None,
) -> Outcome:
    """The outcome for a page without content. Its place within the page limit is freed."""
    # Only the built-in crawler counts a page before it is fetched; one that Firecrawl reports as
    # failed or gone was never counted.
    freed = int(crawl.provider == "builtin")

    async def write(conn: Connection) -> None:
        locked = await crawls.lock(conn, crawl.id, source_id=crawl.source_id, job_id=job.id)
        result = PageResult(
            status=status, error_code=code, error_message=message, http_status=http_status
        )
        await crawl_pages.finish(conn, page.id, result)
        await add_to_frontier(conn, job, crawl, SortedLinks(), ctx=ctx, locked=locked, freed=freed)
        await recount_ended_run(conn, crawl, locked)

    return Outcome(write=write, result={"uri": page.uri, "outcome": status})
