"""End a site's run: remove pages that are gone, write the totals, set the run's status."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from ingest.errors import ErrorCode, LeaseLost, Permanent
from ingest.handlers.context import Context, Outcome, Review
from ingest.handlers.crawl.placeholder_pages import MESSAGES
from ingest.handlers.crawl.site_furniture import find_furniture, save_furniture
from ingest.postgres.database import Connection, transaction
from ingest.store.crawl import crawl_pages, crawls, provider_pages, site_documents, site_furniture
from ingest.store.crawl.crawls import Crawl
from ingest.store.queue import jobs
from ingest.store.queue.jobs import ClaimedJob
from ingest.store.tenants import applications
from ingest.web.crawl_completeness import HIDING, PageCount, is_complete, missing, presence_of

_HAS_TEXT = ("new", "changed", "unchanged", "kept")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Findings:
    """Summary of a run's pages, taken after all of them have ended."""

    pages: list[PageCount]
    is_complete: bool
    unseen: list[UUID]
    """Documents that this run did not see; removed if the run is complete."""
    live_count: int
    asks_before_removal: bool
    """Whether the application wants a review before many pages are removed."""

    @property
    def with_text(self) -> int:
        return sum(page.n for page in self.pages if page.status in _HAS_TEXT)


async def finish_crawl(
    job: ClaimedJob, crawl: Crawl, ctx: Context, *, error: Permanent | None
) -> Outcome:
    """End a run whose pages have all ended. Raises `error`, or Permanent if no page has text."""
    found = await _findings(job, crawl, ctx, is_whole=error is None)
    error = error or _nothing_found(found)
    if error is not None:
        await _fail(job, crawl, ctx, error)
        raise error
    gone = found.unseen if found.is_complete else []
    is_held = found.asks_before_removal and len(gone) > found.live_count * ctx.web.removal_threshold

    furniture = await _furniture(found, crawl, ctx)

    async def write(conn: Connection) -> None:
        await crawls.lock(conn, crawl.id, source_id=crawl.source_id, job_id=job.id)
        # Meanwhile an event may have reported that a page was not scraped.
        is_complete = found.is_complete and not missing(await crawls.skipped(conn, crawl.id))
        removed = gone if is_complete else []
        await site_documents.list_unseen(
            conn, removed, crawl_id=crawl.id, status="held" if is_held else "removed"
        )
        if not is_held:
            await site_documents.remove(conn, removed)
        await site_documents.recount(conn, source_id=crawl.source_id, crawl_id=crawl.id)
        if furniture is not None:
            await save_furniture(conn, crawl, furniture)
        await crawls.end(conn, crawl.id, status="completed", is_complete=is_complete)
        await crawls.write_digest(
            conn,
            crawl.id,
            removed=0 if is_held else len(removed),
            held=len(removed) if is_held else 0,
        )

    if is_held:
        message = (
            f"{len(gone)} of {found.live_count} pages are no longer on the site;"
            " approve to remove them, reject to keep them"
        )
        return Outcome(write=write, review=Review(message=message, reason="mass_deletion"))
    return Outcome(write=write, result={"isComplete": found.is_complete})


async def _furniture(found: _Findings, crawl: Crawl, ctx: Context) -> dict[str, str] | None:
    """What to leave out of the pages; None: as before."""
    if not any(page.status in ("new", "changed") for page in found.pages):
        async with transaction(ctx.pool) as conn:
            if not await site_furniture.is_due(conn, crawl.source_id, pages=1):
                return None
    return await find_furniture(crawl, ctx)


async def _findings(job: ClaimedJob, crawl: Crawl, ctx: Context, *, is_whole: bool) -> _Findings:
    """Read the summary. The run gets no more pages, so it is still valid in the later write."""
    source_id, crawl_id = crawl.source_id, crawl.id
    async with transaction(ctx.pool) as conn:
        if not await jobs.hold(conn, [job]):
            raise LeaseLost(job.id)
        await crawl_pages.record_failures(conn, crawl_id)
        await crawl_pages.fail_without_room(conn, crawl_id, most=crawl.settings.limit)
        pages = [PageCount(**row) for row in await crawl_pages.count_by_state(conn, crawl_id)]
        settings = await applications.settings_of(conn, crawl.application_id)
        return _Findings(
            pages=pages,
            is_complete=is_whole and await _is_complete(conn, crawl, pages),
            unseen=await site_documents.unseen(
                conn,
                source_id=source_id,
                crawl_id=crawl_id,
                variants=crawl.settings.variants,
            ),
            live_count=await site_documents.live(conn, source_id),
            asks_before_removal="mass_deletion" in settings.reviews,
        )


async def _is_complete(conn: Connection, crawl: Crawl, pages: Sequence[PageCount]) -> bool:
    """Collect the inputs of `is_complete`. Call after failures have been recorded."""
    skipped = Counter(await crawls.skipped(conn, crawl.id))
    if crawl.provider == "firecrawl":
        limit = crawl.settings.limit
        skipped["limit"] += await provider_pages.is_cut_off(conn, crawl.id, limit=limit)
    hiding = () if crawl.settings.accept_losses else HIDING
    pages = [page for page in pages if page.status != "skipped" or page.error_code in hiding]
    blind = await crawl_pages.count_unseen_behind_failures(
        conn, crawl_id=crawl.id, follows_stored=crawl.provider == "builtin", hiding=hiding
    )
    unread = sum(
        page.n
        for page in pages
        if page.status in ("failed", "skipped") and presence_of(page) == "unknown"
    )
    return is_complete(pages, failures_hiding_nothing=unread - blind, skipped=skipped)


def _nothing_found(found: _Findings) -> Permanent | None:
    """The error of a run without any text: the most frequent error of its pages."""
    if found.with_text:
        return None
    reasons: Counter[str] = Counter()
    for page in found.pages:
        is_failure = page.status == "failed" or page.error_code in MESSAGES
        if is_failure and page.error_code is not None:
            reasons[page.error_code] += page.n
    if not reasons:
        return Permanent("no page with text was found", code="empty_content")
    code, count = reasons.most_common(1)[0]
    why = next((f": {why}" for kind, why in MESSAGES.items() if kind == code), "")
    return Permanent(
        f"no page could be read; {count} ended with {code}{why}", code=cast(ErrorCode, code)
    )


async def _fail(job: ClaimedJob, crawl: Crawl, ctx: Context, error: Permanent) -> None:
    async with transaction(ctx.pool) as conn:
        if not await jobs.hold(conn, [job]):
            raise LeaseLost(job.id)
        await crawls.lock(conn, crawl.id, source_id=crawl.source_id, job_id=job.id)
        await site_documents.recount(conn, source_id=crawl.source_id, crawl_id=crawl.id)
        await crawls.end(
            conn,
            crawl.id,
            status="failed",
            is_complete=False,
            error_code=error.code,
            error_message=str(error),
        )
        await crawls.write_digest(conn, crawl.id, removed=0, held=0)
