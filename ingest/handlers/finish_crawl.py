"""The end of a site's run: what is no longer there, what it all came to, and how it is judged."""

from collections import Counter
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from ingest.db import Connection, transaction
from ingest.errors import ErrorCode, LeaseLost, Permanent
from ingest.handlers.context import Context, Outcome, Review
from ingest.store import (
    applications,
    crawl_pages,
    crawls,
    frontier,
    jobs,
    provider_pages,
    site_documents,
)
from ingest.store.crawls import Crawl
from ingest.store.jobs import ClaimedJob

_SEEN = ("new", "changed", "unchanged", "kept")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Findings:
    """What the pages of a run say about it, once all of them have ended."""

    states: list[dict[str, Any]]
    is_complete: bool
    """Every page of the site was seen: only then is what was not seen gone."""
    unseen: list[UUID]
    live: int
    asks: bool
    """Whether the application wants to be asked about the removal of many pages."""

    @property
    def seen(self) -> int:
        return sum(row["n"] for row in self.states if row["status"] in _SEEN)


async def finish_crawl(
    job: ClaimedJob, crawl: Crawl, ctx: Context, *, error: Permanent | None
) -> Outcome:
    """End a run whose pages have all ended. Raises `error`, or why nothing was found."""
    found = await _findings(job, crawl, ctx, is_whole=error is None)
    error = error or _nothing_found(found)
    if error is not None:
        await _fail(job, crawl, ctx, error)
        raise error
    removed = found.unseen if found.is_complete else []
    is_held = found.asks and len(removed) > found.live * ctx.web.removal_threshold

    async def write(conn: Connection) -> None:
        await crawls.lock(conn, crawl.id, source_id=crawl.source_id, job_id=job.id)
        await site_documents.list_unseen(
            conn, removed, crawl_id=crawl.id, status="held" if is_held else "removed"
        )
        if not is_held:
            await site_documents.remove(conn, removed)
        await site_documents.recount(conn, source_id=crawl.source_id, crawl_id=crawl.id)
        await crawls.end(conn, crawl.id, status="completed", is_complete=found.is_complete)
        await crawls.write_digest(
            conn,
            crawl.id,
            removed=0 if is_held else len(removed),
            held=len(removed) if is_held else 0,
        )

    if is_held:
        message = (
            f"{len(removed)} of {found.live} pages are no longer on the site;"
            " approve to remove them, reject to keep them"
        )
        return Outcome(write=write, review=Review(message=message, reason="mass_deletion"))
    return Outcome(write=write, result={"isComplete": found.is_complete})


async def _findings(job: ClaimedJob, crawl: Crawl, ctx: Context, *, is_whole: bool) -> _Findings:
    """Nobody else adds to the run any more, so this still holds when it is acted upon."""
    source_id, crawl_id = crawl.source_id, crawl.id
    async with transaction(ctx.pool) as conn:
        if not await jobs.hold(conn, [job]):
            raise LeaseLost(job.id)
        await crawl_pages.record_failures(conn, crawl_id)
        skipped = await crawls.skipped(conn, crawl_id)
        beyond = skipped.get("limit", 0) + await frontier.over_limit(conn, crawl_id)
        is_complete = is_whole and beyond == 0 and not skipped.get("unread")
        if is_complete and crawl.provider == "firecrawl":
            limit = crawl.settings.limit
            is_complete = not await provider_pages.is_cut_off(conn, crawl_id, limit=limit)
        if is_complete:
            blind = await crawl_pages.blind_spots(
                conn, crawl_id=crawl_id, follows_stored=crawl.provider == "builtin"
            )
            is_complete = blind == 0
        settings = await applications.settings_of(conn, crawl.application_id)
        return _Findings(
            states=await crawl_pages.states(conn, crawl_id),
            is_complete=is_complete,
            unseen=await site_documents.unseen(
                conn,
                source_id=source_id,
                crawl_id=crawl_id,
                variants=crawl.settings.variants,
            ),
            live=await site_documents.live(conn, source_id),
            asks="mass_deletion" in settings.reviews,
        )


def _nothing_found(found: _Findings) -> Permanent | None:
    """Why a run that has seen no page at all failed: what most of its pages failed with."""
    if found.seen:
        return None
    reasons: Counter[ErrorCode] = Counter()
    for row in found.states:
        if row["status"] == "failed":
            reasons[row["error_code"]] += row["n"]
    if not reasons:
        return Permanent("no page with text was found", code="empty_content")
    code, count = reasons.most_common(1)[0]
    return Permanent(f"no page could be read; {count} ended with {code}", code=code)


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
