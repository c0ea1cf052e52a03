"""The root job of a site's run: it starts the run, waits for its pages, and ends it.

It is claimed once per step: begin; wait while pages are discovered and processed; finish.
Between steps it waits in the queue without spending an attempt.
"""

from datetime import timedelta
from typing import Final

from ingest.errors import LeaseLost, Permanent
from ingest.handlers.context import Context, Outcome, Progress, Wait
from ingest.handlers.crawl.current_run import run_of
from ingest.handlers.crawl.finish_crawl import finish_crawl
from ingest.handlers.crawl.link_discovery import Found, add_found, run_target, sort_links
from ingest.handlers.crawl.robots import AGAIN, RobotsUnavailable, robots_of
from ingest.handlers.crawl.sitemaps import Named, sitemap_pages
from ingest.handlers.firecrawl import run
from ingest.handlers.registry import handler
from ingest.postgres.database import Connection, transaction
from ingest.store.crawl import crawls, frontier
from ingest.store.crawl.crawls import Crawl
from ingest.store.crawl.frontier import NewPage
from ingest.store.queue import jobs
from ingest.store.queue.jobs import ClaimedJob
from ingest.web import urls

# Fallback: normally the last page wakes the root job.
_LOOK_AGAIN: Final = timedelta(seconds=15)
_PATIENCE_SECONDS: Final = 3600.0


@handler("site_crawl")
async def crawl_site(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Run one step of a site's run."""
    crawl = await run_of(job, ctx)
    if crawl.status not in crawls.OPEN:
        crawl = await _begin_again(job, crawl, ctx)
    error: Permanent | None = None
    if crawl.provider == "firecrawl":
        step = await run.step(job, crawl, ctx, progress)
        if isinstance(step, Outcome):
            return step
        error = step.error
    elif crawl.status == "pending":
        return await _begin(job, crawl, ctx)
    async with ctx.pool.connection() as conn:
        if await jobs.open_children(conn, job.id):
            return Outcome(wait=Wait(delay=_LOOK_AGAIN, reason="pages"))
    if crawl.provider == "builtin" and await _look_at_orphans(job, crawl, ctx):
        return Outcome(wait=Wait(delay=_LOOK_AGAIN, reason="pages"))
    return await finish_crawl(job, crawl, ctx, error=error)


async def _look_at_orphans(job: ClaimedJob, crawl: Crawl, ctx: Context) -> bool:
    """Requeue duplicates whose canonical page was never stored; whether there were any."""
    async with transaction(ctx.pool) as conn:
        if not await jobs.hold(conn, [job]):
            raise LeaseLost(job.id)
        return await frontier.requeue_orphans(conn, run_target(job, crawl)) > 0


async def _begin(job: ClaimedJob, crawl: Crawl, ctx: Context) -> Outcome:
    """Fetch robots.txt and sitemaps; fill the frontier with the start page and the listed pages."""
    try:
        robots = await robots_of(urls.origin(crawl.start), ctx, refresh=True)
    except RobotsUnavailable as error:
        return await _begin_later(crawl, ctx, error)
    named = Named()
    if crawl.settings.max_depth != 0:
        named = await sitemap_pages(crawl, robots, ctx)
    found = await sort_links(named.pages, crawl, ctx, depth=1)
    start = NewPage(
        uri=urls.normalise(crawl.uri),
        fetch_url=crawl.start,
        shape=urls.shape(crawl.uri),
        depth=0,
    )
    first = Found()
    # Never refused here: if robots.txt forbids the start page, its own job fails.
    first.pages = [start, *found.pages]
    first.forbidden, first.skipped = found.forbidden, found.skipped + named.skipped

    async def write(conn: Connection) -> None:
        locked = await crawls.lock(conn, crawl.id, source_id=crawl.source_id, job_id=job.id)
        await crawls.mark_running(conn, crawl.id)
        await add_found(conn, job, crawl, first, locked=locked)

    return Outcome(write=write, wait=Wait(delay=_LOOK_AGAIN, reason="pages"))


async def _begin_later(crawl: Crawl, ctx: Context, error: RobotsUnavailable) -> Outcome:
    """Wait, for an hour at most, for a host that answers robots.txt with an error."""
    if not error.host_answers:
        raise error
    if (crawl.sent_seconds_ago or 0) > _PATIENCE_SECONDS:
        raise Permanent(f"{error}, for an hour now", code=error.code)
    async with transaction(ctx.pool) as conn:
        await crawls.save_first_attempt(conn, crawl.id)
    return Outcome(wait=Wait(delay=AGAIN, reason="robots_unavailable"))


async def _look_at_pages_again(conn: Connection, job: ClaimedJob, crawl: Crawl) -> bool:
    """Requeue failed pages; all, if none failed or the run completed. Whether there were any."""
    target = run_target(job, crawl)
    if crawl.status != "completed" and await frontier.requeue(conn, target):
        return True
    return await frontier.requeue(conn, target, all=True) > 0


async def _begin_again(job: ClaimedJob, crawl: Crawl, ctx: Context) -> Crawl:
    """A person retried the run: restart the provider's crawl, or requeue our failed pages.

    A completed run that waited for a review fetches all its pages again.
    """
    async with transaction(ctx.pool) as conn:
        if not await jobs.hold(conn, [job]):
            raise LeaseLost(job.id)
        goes_on = crawl.provider == "builtin" and await _look_at_pages_again(conn, job, crawl)
        await crawls.restart(conn, crawl.id)
        if goes_on:
            await crawls.mark_running(conn, crawl.id)
        again = await crawls.get(conn, crawl.id)
    if again is None:
        raise LeaseLost(job.id)
    return again
