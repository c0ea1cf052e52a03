"""Where the links of a page lead: which of them become pages of the crawl."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from ingest.db import Connection, transaction
from ingest.errors import LeaseLost
from ingest.handlers.context import Context
from ingest.handlers.robots import robots_of
from ingest.pipeline.web import urls
from ingest.pipeline.web.robots import Robots
from ingest.pipeline.web.scope import Scope, build_scope
from ingest.store import crawl_pages, crawls, jobs
from ingest.store.crawl_pages import Family, NewPage, SeenPage
from ingest.store.crawls import Crawl, Locked
from ingest.store.jobs import ClaimedJob

_NO_END: Final = 1_000_000


class Found:
    """Addresses that were found, sorted by what is to become of them."""

    def __init__(self) -> None:
        self.pages: list[NewPage] = []
        self.forbidden: list[SeenPage] = []
        self.skipped: Counter[str] = Counter()


def scope_of(crawl: Crawl) -> Scope:
    """The borders of a run. Its settings were checked when it was asked for."""
    settings = crawl.settings
    return build_scope(
        seed=crawl.uri,
        max_depth=_NO_END if settings.max_depth is None else settings.max_depth,
        include=settings.include_paths,
        exclude=settings.exclude_paths,
    )


async def sort_links(links: Iterable[str], crawl: Crawl, ctx: Context, *, depth: int) -> Found:
    """Which links lead to pages of the crawl, which robots.txt forbids, and which are skipped."""
    found, scope = Found(), scope_of(crawl)
    addresses: dict[str, str] = {}
    for link in links:
        address = scope.adopt(link)
        reason = scope.refusal(address, depth=depth)
        if reason is not None:
            found.skipped[reason] += 1
            continue
        addresses.setdefault(urls.normalise(address), address)
    if addresses:
        # One site has one origin: all addresses were adopted to the seed's.
        rules = await robots_of(urls.origin(crawl.uri), ctx)
        _judge(addresses, rules, found, depth)
    return found


def _judge(addresses: dict[str, str], rules: Robots, found: Found, depth: int) -> None:
    for uri, address in addresses.items():
        if rules.allows(address):
            shape = urls.path_shape(address)
            found.pages.append(NewPage(uri=uri, fetch_url=address, shape=shape, depth=depth))
        else:
            found.forbidden.append(
                SeenPage(uri=uri, status="skipped", error_code="robots_disallowed")
            )


async def add_found(
    conn: Connection, job: ClaimedJob, crawl: Crawl, found: Found, *, locked: Locked, freed: int = 0
) -> None:
    """Add what was found to the frontier, as far as the limit goes; `freed` places are given back.

    The caller holds the lock of the run.
    """
    await crawl_pages.count(conn, crawl.id, -freed)
    if locked.status not in ("pending", "running"):
        return  # a page of a run that has ended, tried again
    family = family_of(job, crawl)
    room = max(locked.settings.limit - locked.page_count + freed, 0)
    room -= await crawl_pages.promote(conn, family, places=room)
    skipped = await crawl_pages.add(conn, family, found.pages, room=room)
    await crawl_pages.add_seen(conn, crawl.id, crawl.source_id, found.forbidden)
    await crawls.add_skipped(conn, crawl.id, found.skipped + skipped)


def family_of(job: ClaimedJob, crawl: Crawl) -> Family:
    """Whose pages they are."""
    return Family(
        application_id=crawl.application_id,
        source_id=crawl.source_id,
        crawl_id=crawl.id,
        root_job_id=crawl.job_id,
        priority=job.priority,
    )


async def lead_on_without(
    job: ClaimedJob, crawl: Crawl, links: Iterable[str], ctx: Context, *, depth: int
) -> None:
    """Follow the links that a page had last time, since it cannot be had now.

    Else one page that fails would hide those behind it, and they would look removed.
    """
    found = await sort_links(links, crawl, ctx, depth=depth)
    async with transaction(ctx.pool) as conn:
        if not await jobs.hold(conn, [job]):
            raise LeaseLost(job.id)
        locked = await crawls.lock(conn, crawl.id, source_id=crawl.source_id, job_id=job.id)
        await add_found(conn, job, crawl, found, locked=locked)
