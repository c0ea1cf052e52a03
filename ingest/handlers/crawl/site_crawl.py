"""The root job of a site's run: it starts the run, waits for its pages, and ends it.

It is claimed once per step: begin; wait while pages are discovered and processed; finish.
Between steps it waits in the queue without spending an attempt.
"""

from datetime import timedelta
from typing import Final

from ingest.errors import LeaseLost, Permanent
from ingest.handlers.context import Context, Outcome, Progress, Wait
from ingest.handlers.crawl.check_robots import RETRY_DELAY, RobotsUnavailable, robots_for
from ingest.handlers.crawl.current_run import current_run
from ingest.handlers.crawl.finish_crawl import finish_crawl
from ingest.handlers.crawl.link_discovery import (
    SortedLinks,
    add_to_frontier,
    run_owner,
    scope_of,
    sort_links,
)
from ingest.handlers.crawl.sitemaps import SitemapPages, sitemap_pages
from ingest.handlers.firecrawl import run
from ingest.handlers.registry import handler
from ingest.payloads import RunPayload
from ingest.postgres.database import Connection, transaction
from ingest.store.crawl import crawls, frontier
from ingest.store.crawl.crawls import Crawl
from ingest.store.crawl.frontier import NewPage
from ingest.store.queue import jobs
from ingest.store.queue.jobs import ClaimedJob
from ingest.web import urls

# Fallback: normally the last page wakes the root job.
_POLL: Final = timedelta(seconds=15)
_ROBOTS_TIMEOUT_SECONDS: Final = 3600.0


@handler("site_crawl")
async def crawl_site(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Run one step of a site's run."""
    crawl = await current_run(RunPayload.of(job).crawl_id, ctx)
    if crawl.status not in crawls.OPEN:
        crawl = await _restart(job, crawl, ctx)
    error: Permanent | None = None
    if crawl.provider == "firecrawl":
        step = await run.step(job, crawl, ctx, progress)
        if isinstance(step, Outcome):
            return step
        error = step.error
    elif crawl.status == "pending":
        return await _begin(job, crawl, ctx)
    async with transaction(ctx.pool) as conn:
        if await jobs.open_children(conn, job.id):
            return Outcome(wait=Wait(delay=_POLL, reason="pages"))
    if crawl.provider == "builtin" and await _requeue_orphans(job, crawl, ctx):
        return Outcome(wait=Wait(delay=_POLL, reason="pages"))
    return await finish_crawl(job, crawl, ctx, error=error)


async def _requeue_orphans(job: ClaimedJob, crawl: Crawl, ctx: Context) -> bool:
    """Requeue duplicates whose canonical page was never stored; returns whether there were any."""
    async with transaction(ctx.pool) as conn:
        if not await jobs.hold(conn, [job]):
            raise LeaseLost(job.id)
        return await frontier.requeue_orphans(conn, run_owner(job, crawl)) > 0


async def _begin(job: ClaimedJob, crawl: Crawl, ctx: Context) -> Outcome:
    """Fetch robots.txt and sitemaps; fill the frontier with the start page and the listed pages."""
    try:
        robots = await robots_for(urls.origin(crawl.start), ctx, refresh=True)
    except RobotsUnavailable as error:
        return await _wait_for_robots(crawl, ctx, error)
    listed = SitemapPages()
    if crawl.settings.max_depth != 0:
        listed = await sitemap_pages(
            scope_of(crawl),
            robots,
            ctx,
            owner=job.application_id,
            limit=crawl.settings.limit,
        )
    found = await sort_links(listed.pages, crawl, ctx, depth=1)
    start = NewPage(
        uri=urls.normalise(crawl.uri),
        fetch_url=crawl.start,
        url_pattern=urls.url_pattern(crawl.uri),
        depth=0,
    )
    first = SortedLinks()
    # Never refused here: if robots.txt forbids the start page, its own job fails.
    first.pages = [start, *found.pages]
    first.forbidden, first.skipped = found.forbidden, found.skipped + listed.skipped

    async def write(conn: Connection) -> None:
        locked = await crawls.lock(conn, crawl.id, source_id=crawl.source_id, job_id=job.id)
        await crawls.mark_running(conn, crawl.id)
        await add_to_frontier(conn, job, crawl, first, ctx=ctx, locked=locked)

    return Outcome(write=write, wait=Wait(delay=_POLL, reason="pages"))


async def _wait_for_robots(crawl: Crawl, ctx: Context, error: RobotsUnavailable) -> Outcome:
    """Wait, for an hour at most, for a host that responds to robots.txt with an error."""
    if not error.host_answers:
        raise error
    if (crawl.sent_seconds_ago or 0) > _ROBOTS_TIMEOUT_SECONDS:
        raise Permanent(f"{error}, for an hour now", code=error.code)
    async with transaction(ctx.pool) as conn:
        await crawls.save_first_attempt(conn, crawl.id)
    return Outcome(wait=Wait(delay=RETRY_DELAY, reason="robots_unavailable"))


async def _requeue_pages(conn: Connection, job: ClaimedJob, crawl: Crawl) -> bool:
    """Requeue failed pages, or all if none failed or the run completed; False if none exist."""
    owner = run_owner(job, crawl)
    if crawl.status != "completed" and await frontier.requeue(conn, owner):
        return True
    return await frontier.requeue(conn, owner, all=True) > 0


async def _restart(job: ClaimedJob, crawl: Crawl, ctx: Context) -> Crawl:
    """Restart a run that a person retried: the provider's crawl, or our failed pages.

    A completed run that waited for a review fetches all its pages again.
    """
    async with transaction(ctx.pool) as conn:
        if not await jobs.hold(conn, [job]):
            raise LeaseLost(job.id)
        has_pages = crawl.provider == "builtin" and await _requeue_pages(conn, job, crawl)
        await crawls.restart(conn, crawl.id)
        if has_pages:
            await crawls.mark_running(conn, crawl.id)
        again = await crawls.get(conn, crawl.id)
    if again is None:
        raise LeaseLost(job.id)
    return again
