"""Check an address before it is added: what a run would meet there."""

from typing import Final, Literal
from uuid import UUID

from fastapi import Request

from api.authenticated_route import KeyedRouter
from api.dependencies import Editor, PoolDep, RuntimeDep
from api.middleware.rate_limits import RequestLimits
from api.schema.crawl_request import CrawlRequest, new_run
from ingest.postgres.database import transaction
from ingest.store.lists import source_lists
from ingest.store.lists.source_lists import SourceFilter
from ingest.store.tenants import applications
from ingest.store.view import View
from ingest.url_check import UrlReport

router = KeyedRouter(prefix="/upload", tags=["upload"])

PER_MINUTE: Final = 30
_EXAMPLES: Final = 10


class Refusal(View):
    code: str
    message: str


class CheckedRobots(View):
    verdict: Literal["allowed", "disallowed", "unavailable"]
    """For the start page. `unavailable`: the host answers with an error, so nothing is crawled."""
    crawl_delay_seconds: float | None
    """What robots.txt asks for between two requests."""


class CheckedSitemap(View):
    page_count: int
    """Pages in scope that the sitemaps list, without the start page."""
    is_complete: bool
    """False: not all sitemaps were read, or they list more than the limit and 1,000 pages."""
    examples: list[str]
    """The first ten."""
    skipped: dict[str, int]
    """Listed addresses that the run would not fetch, by reason."""


class CheckedUrl(View):
    url: str
    """The normalised address: the identity of the source."""
    knowledge_source_id: UUID | None
    """The source with this address: it would be fetched again."""
    refusal: Refusal | None
    """Why the page cannot be read now, as its job would fail; null: it can."""
    http_status: int | None
    final_url: str | None
    """The address after redirects."""
    redirects: list[str]
    """Addresses that redirect, in order."""
    media_type: str | None
    title: str | None
    is_indexable: bool
    """False: the page asks robots not to index it, so its text would not be stored."""
    robots: CheckedRobots | None
    """Null for a single page: robots.txt is for crawlers."""
    sitemap: CheckedSitemap | None
    """Null for a single page, and where robots.txt could not be read."""


@router.post("/url/check")
async def check_url(
    body: CrawlRequest, request: Request, runtime: RuntimeDep, pool: PoolDep, key: Editor
) -> CheckedUrl:
    """Fetch what a run would fetch first, and store nothing: robots.txt, the page, sitemaps.

    With the built-in crawler, also if Firecrawl would crawl. Takes up to 40 seconds; at most 30 a
    minute per application.
    """
    new = new_run(
        body,
        application_id=key.application_id,
        settings=runtime.settings,
        metadata=None,
        place="body",
    )
    limits: RequestLimits = request.app.state.url_check_limits
    limits.count(key.application_id.bytes)
    async with transaction(pool) as conn:
        outer = (await applications.settings_of(conn, key.application_id)).chunking
        known = await source_lists.page(
            conn,
            application_id=key.application_id,
            where=SourceFilter(type=new.type, uri=new.uri),
            limit=1,
            before=None,
        )
    report = await runtime.url_checks.check(
        new, pool=pool, cut_by=runtime.chunking.effective(outer)
    )
    return _answer(new.uri, known.rows[0].id if known.rows else None, report)


def _answer(url: str, source_id: UUID | None, report: UrlReport) -> CheckedUrl:
    robots = sitemap = None
    if report.robots is not None:
        robots = CheckedRobots(verdict=report.robots, crawl_delay_seconds=report.crawl_delay)
    if report.sitemap is not None:
        skipped = dict(report.sitemap.skipped)
        unread, cut = skipped.pop("unread", 0), skipped.pop("limit", 0)
        pages = list(report.sitemap.pages)
        sitemap = CheckedSitemap(
            page_count=len(pages),
            is_complete=not (unread or cut),
            examples=pages[:_EXAMPLES],
            skipped=skipped,
        )
    refusal = report.refusal
    return CheckedUrl(
        url=url,
        knowledge_source_id=source_id,
        refusal=refusal and Refusal(code=refusal.code, message=refusal.message),
        http_status=report.http_status,
        final_url=report.final_url,
        redirects=list(report.redirects),
        media_type=report.media_type,
        title=report.title,
        is_indexable=report.is_indexable,
        robots=robots,
        sitemap=sitemap,
    )
