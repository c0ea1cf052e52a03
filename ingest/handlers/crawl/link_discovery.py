"""Sort the links of a page and add those in scope to the frontier."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import Final

from ingest.errors import LeaseLost
from ingest.handlers.context import Context
from ingest.handlers.crawl.check_robots import robots_for
from ingest.model import MOST_LINKS
from ingest.postgres.database import Connection, transaction
from ingest.store.crawl import crawl_pages, crawls, frontier
from ingest.store.crawl.crawl_pages import PageForJob, StoredPage
from ingest.store.crawl.crawls import Crawl, LockedCrawl
from ingest.store.crawl.frontier import NewPage, RunOwner, SeenPage
from ingest.store.limits import usage
from ingest.store.queue import jobs
from ingest.store.queue.jobs import ClaimedJob
from ingest.web import urls
from ingest.web.robots import Robots
from ingest.web.scope import Scope, build_scope

_UNLIMITED_DEPTH: Final = 1_000_000


class SortedLinks:
    """Discovered addresses by verdict: to crawl, forbidden, skipped, too deep."""

    def __init__(self) -> None:
        self.pages: list[NewPage] = []
        self.forbidden: list[SeenPage] = []
        self.skipped: Counter[str] = Counter()
        self.too_deep: list[str] = []
        """Normalised. Another page may still link to them at an allowed depth."""


def scope_of(crawl: Crawl) -> Scope:
    """The scope of a run. The API has already validated its settings."""
    settings = crawl.settings
    return build_scope(
        seed=crawl.uri,
        max_depth=_UNLIMITED_DEPTH if settings.max_depth is None else settings.max_depth,
        include=settings.include_paths,
        exclude=settings.exclude_paths,
    )


async def sort_links(
    links: Iterable[str], crawl: Crawl, ctx: Context, *, depth: int, found_at: str | None = None
) -> SortedLinks:
    """Sort links by scope and robots.txt.

    `found_at`: address of the linking page after redirects, which names the site's actual origin;
    None: the run's own origin.
    """
    home = urls.origin(found_at or crawl.uri)
    rules = await robots_for(home, ctx)
    # Run in a thread, since a page may have thousands of links and robots.txt thousands of rules.
    return await asyncio.to_thread(_sort, list(links), scope_of(crawl), rules, home, depth)


def _sort(links: Iterable[str], scope: Scope, rules: Robots, home: str, depth: int) -> SortedLinks:
    found = SortedLinks()
    known: set[str] = set()
    for link in links:
        address = scope.adopt(link)
        reason = scope.refusal(address, depth=depth)
        if reason is not None:
            found.skipped[reason] += 1
            if reason == "too_deep":
                found.too_deep.append(urls.normalise(address))
            continue
        uri = urls.normalise(address)
        if uri in known:
            continue
        known.add(uri)
        # The key uses the run's origin, the request the site's actual origin: otherwise each
        # page of a site that has moved to `www.` or https would cost a redirect.
        fetch_url = address.replace(urls.origin(address), home, 1)
        if rules.allows(fetch_url):
            url_pattern = urls.url_pattern(address)
            found.pages.append(
                NewPage(uri=uri, fetch_url=fetch_url, url_pattern=url_pattern, depth=depth)
            )
        else:
            found.forbidden.append(
                SeenPage(uri=uri, status="skipped", error_code="robots_disallowed")
            )
    return found


async def add_to_frontier(
    conn: Connection,
    job: ClaimedJob,
    crawl: Crawl,
    found: SortedLinks,
    *,
    ctx: Context,
    locked: LockedCrawl,
    freed: int = 0,
) -> None:
    """Add found pages to the frontier, up to the page limit; release `freed` places first.

    Pages for which the application has no room in its quota of jobs wait like those beyond the
    limit; if they still do when the run ends, they fail. The caller holds the lock of the run.
    """
    await frontier.count(conn, crawl.id, -freed)
    if locked.status not in ("pending", "running"):
        return  # a page that was retried after its run ended
    owner = run_owner(job, crawl)
    room = max(locked.settings.limit - locked.page_count + freed, 0)
    if room:
        room = min(room, (await usage.room(conn, crawl.application_id, ctx.quotas)).jobs)
    room -= await frontier.promote(conn, owner, room=room)
    skipped = await frontier.add(
        conn, owner, found.pages, room=room, variants=locked.settings.variants
    )
    await frontier.add_seen(conn, crawl.id, crawl.source_id, found.forbidden)
    hidden = await frontier.count_stored_only(conn, owner, found.too_deep)
    await crawls.add_skipped(conn, crawl.id, found.skipped + skipped + Counter(unread=hidden))


def run_owner(job: ClaimedJob, crawl: Crawl) -> RunOwner:
    """What new pages of the run belong to: application, source, run and root job, with priority."""
    return RunOwner(
        application_id=crawl.application_id,
        source_id=crawl.source_id,
        crawl_id=crawl.id,
        root_job_id=crawl.job_id,
        priority=job.priority,
    )


async def follow_stored_links(
    job: ClaimedJob, crawl: Crawl, page: PageForJob, stored: StoredPage, ctx: Context
) -> None:
    """Follow the stored links of a page that cannot be read now.

    Otherwise one failing page would hide the pages it links to, and they would look removed.
    """
    found = await sort_links(stored.links, crawl, ctx, depth=page.depth + 1)
    if len(stored.links) >= MOST_LINKS:
        found.skipped["unread"] += 1  # whether links were cut off is not stored
    async with transaction(ctx.pool) as conn:
        if not await jobs.hold(conn, [job]):
            raise LeaseLost(job.id)
        locked = await crawls.lock(conn, crawl.id, source_id=crawl.source_id, job_id=job.id)
        await add_to_frontier(conn, job, crawl, found, ctx=ctx, locked=locked)
        await crawl_pages.note_links_followed(conn, page.id, job=job)
