"""Dry run of a page or site: what a crawl would meet, without storing anything of it.

Used by the API while a person fills in a form. It reads robots.txt (and keeps it, as a crawl
does), the page and a few sitemaps through the guarded fetch, each at most once.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, Literal
from uuid import UUID

from ingest.asynchronous.fair_slots import FairSlots, NoSlot
from ingest.errors import IsArchive, Permanent, Transient
from ingest.handlers.context import SitemapParser, Web
from ingest.handlers.crawl.check_robots import RobotsUnavailable, robots_for
from ingest.handlers.crawl.fetch_page import refuse_status
from ingest.handlers.crawl.sitemaps import SitemapPages, sitemap_pages
from ingest.model import ChunkSettings, WebPage
from ingest.postgres.database import Pool
from ingest.preview import Previews
from ingest.providers.fetch.fetcher import Fetched
from ingest.sandbox.messages import ParseRequest
from ingest.store.crawl.runs import NewRun
from ingest.temporary_folders import scratch_folder
from ingest.web import urls
from ingest.web.robots import Robots, read_tag
from ingest.web.scope import Scope, build_scope

RESERVE: Final = 1
_AT_ONCE: Final = 4
_PATIENCE: Final = timedelta(seconds=5)
_COME_AGAIN: Final = timedelta(seconds=10)
_SECONDS: Final = 40.0
_MAX_SITEMAPS: Final = 5
_SITEMAP_SECONDS: Final = 15.0
_UNLIMITED_DEPTH: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a run would not get the start page: code and message, as its job would end with."""

    code: str
    message: str


@dataclass(slots=True, kw_only=True)
class UrlReport:
    """What a run of this address would meet. What was not reached is None."""

    refusal: Refusal | None = None
    http_status: int | None = None
    final_url: str | None = None
    redirects: Sequence[str] = ()
    """Addresses that redirected, in order."""
    media_type: str | None = None
    title: str | None = None
    is_indexable: bool = True
    """False: the page asks not to be indexed, so its text is not stored."""
    robots: Literal["allowed", "disallowed", "unavailable"] | None = None
    """Of the start page; None for a single page, for which robots.txt is not asked."""
    crawl_delay: float | None = None
    """Seconds between two requests that robots.txt asks for."""
    sitemap: SitemapPages | None = None
    """At most the run's page limit + 1,000 pages, from at most five files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """A SiteReader."""

    pool: Pool
    web: Web
    parser: SitemapParser


class UrlChecks:
    """Makes a few dry runs concurrently; applications share the slots fairly."""

    def __init__(self, web: Web, previews: Previews, *, patience: timedelta = _PATIENCE) -> None:
        self._web = web
        self._previews = previews
        self._patience = patience
        self._slots = FairSlots[UUID](_AT_ONCE, reserve=RESERVE)

    async def check(self, new: NewRun, *, pool: Pool, cut_by: ChunkSettings) -> UrlReport:
        """Check the run that `new` would start; takes up to 40 s.

        Raises Transient `busy` if no slot becomes free in time.
        """
        report = UrlReport()
        try:
            async with self._slots.hold(new.application_id, within=self._patience):
                await self._fill(report, new, pool, cut_by)
        except NoSlot:
            raise Transient(
                "too many addresses are being checked; try again",
                code="busy",
                retry_after=_COME_AGAIN,
            ) from None
        return report

    async def _fill(
        self, report: UrlReport, new: NewRun, pool: Pool, cut_by: ChunkSettings
    ) -> None:
        parser = await self._previews.parser()
        reader = _Reader(pool=pool, web=self._web, parser=parser)
        try:
            async with asyncio.timeout(_SECONDS):
                if new.type == "url":
                    await self._read_start(report, new, None, reader, cut_by)
                else:
                    await self._read_site(report, new, reader, cut_by)
        except TimeoutError:
            report.refusal = Refusal(
                code="fetch_failed", message=f"the site did not answer within {_SECONDS:g} seconds"
            )
        except (Permanent, Transient) as error:
            report.refusal = Refusal(code=error.code, message=str(error))

    async def _read_site(
        self, report: UrlReport, new: NewRun, reader: _Reader, cut_by: ChunkSettings
    ) -> None:
        settings = new.settings
        depth = _UNLIMITED_DEPTH if settings.max_depth is None else settings.max_depth
        scope = build_scope(
            seed=new.uri,
            max_depth=depth,
            include=settings.include_paths,
            exclude=settings.exclude_paths,
        )
        start = settings.start or new.uri
        try:
            robots = await robots_for(urls.origin(start), reader)
        except RobotsUnavailable:
            report.robots = "unavailable"
            raise
        report.crawl_delay = robots.delay
        report.robots = "allowed" if robots.allows(start) else "disallowed"
        try:
            if report.robots == "disallowed":
                raise Permanent(f"robots.txt forbids {start}", code="robots_disallowed")
            await self._read_start(report, new, scope, reader, cut_by)
        finally:
            # Listed pages are crawled even if the start page cannot be read.
            if settings.max_depth != 0:
                report.sitemap = await _listed(scope, robots, reader, new)

    async def _read_start(
        self,
        report: UrlReport,
        new: NewRun,
        scope: Scope | None,
        reader: _Reader,
        cut_by: ChunkSettings,
    ) -> None:
        async def on_hop(url: str) -> None:
            report.final_url = url
            if scope is None:
                return
            if scope.refusal(url, depth=0) is not None:
                raise Permanent(
                    f"the site redirects to {url}: crawl that address instead", code="fetch_failed"
                )
            if not (await robots_for(urls.origin(url), reader)).allows(url):
                report.robots = "disallowed"
                raise Permanent(f"robots.txt forbids {url}", code="robots_disallowed")

        start = new.settings.start or new.uri
        async with scratch_folder() as folder:
            path = folder / "body"
            fetched = await self._web.fetcher.get(start, into=path, on_hop=on_hop)
            report.final_url, report.redirects = fetched.url, fetched.hops
            report.http_status = fetched.status
            refuse_status(fetched)
            await self._read_title(report, path, fetched, cut_by, owner=new.application_id)

    async def _read_title(
        self,
        report: UrlReport,
        path: Path,
        fetched: Fetched,
        cut_by: ChunkSettings,
        *,
        owner: UUID,
    ) -> None:
        request = ParseRequest(
            name=urls.file_name(fetched.url),
            declared=fetched.headers.get("content-type"),
            max_pages=self._previews.max_pages,
            chunk=cut_by,
            url=fetched.url,
        )
        parser = await self._previews.parser()
        try:
            parsed = await parser.parse(path, request, owner=owner)
        except IsArchive as error:
            raise Permanent(str(error), code="unsupported_type") from None
        document = parsed.document
        web = document.web or WebPage()
        report.title, report.media_type = document.title, document.media_type
        tag = read_tag(fetched.headers.get("x-robots-tag", ""))
        report.is_indexable = web.index and tag.index
        if web.refresh:
            report.redirects = (*report.redirects, fetched.url)
            report.final_url = web.refresh
        elif web.placeholder:
            raise Permanent("the page has no content of its own", code=web.placeholder)
        elif not parsed.chunks:
            raise Permanent("the page has no text", code="empty_content")


async def _listed(scope: Scope, robots: Robots, reader: _Reader, new: NewRun) -> SitemapPages:
    return await sitemap_pages(
        scope,
        robots,
        reader,
        owner=new.application_id,
        limit=new.settings.limit,
        max_files=_MAX_SITEMAPS,
        within=_SITEMAP_SECONDS,
    )
