"""Convert pages that Firecrawl reports, and read the content of a page for its job."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from ingest.blobs.base import BlobStore
from ingest.errors import BlobMissing, ErrorCode, Permanent
from ingest.handlers.context import Context
from ingest.handlers.crawl.fetch_page import PageUnavailable
from ingest.handlers.crawl.link_discovery import scope_of
from ingest.postgres.database import transaction
from ingest.providers.firecrawl.events import UNSCRAPED, CrawledPage, parse_event
from ingest.store.crawl import provider_pages
from ingest.store.crawl.crawl_pages import PageForJob
from ingest.store.crawl.crawls import Crawl
from ingest.store.crawl.frontier import SeenPage
from ingest.store.crawl.provider_pages import ProviderPage
from ingest.web import urls
from ingest.web.scope import Scope

_LONGEST_SCRAPE_ID: Final = 100
_LONGEST_MESSAGE: Final = 500
_NOT_A_PAGE: Final = UNSCRAPED | {"raced"}


async def pages_out_of_scope(pages: Sequence[CrawledPage], crawl: Crawl) -> Mapping[int, SeenPage]:
    """Those of `pages` that are out of the run's scope, by index, as records to store.

    The provider follows redirects to any address and interprets path patterns differently.
    """
    # In a thread: patterns may be slow.
    return await asyncio.to_thread(_pages_out_of_scope, pages, scope_of(crawl))


def _pages_out_of_scope(pages: Sequence[CrawledPage], scope: Scope) -> Mapping[int, SeenPage]:
    found = {}
    for index, page in enumerate(pages):
        if page.outcome in _NOT_A_PAGE:
            continue
        # Only the provider knows the depth of a page.
        reason = scope.refusal(page.url, depth=0)
        if reason is None:
            continue
        try:
            uri = urls.normalise(page.url)
        except ValueError:
            continue
        message = f"the page is not part of the crawl: {page.url}"
        found[index] = SeenPage(
            uri=uri,
            status="skipped",
            error_code=reason,
            error_message=message[:_LONGEST_MESSAGE],
            http_status=page.status_code,
        )
    return found


def to_provider_pages(
    pages: Sequence[CrawledPage], *, leave_out: Collection[int] = ()
) -> list[ProviderPage]:
    """Records of pages to store, each with its index in `pages`.

    Skips the indexes in `leave_out`, pages that lost a race against another page with the same
    address, pages that were not scraped, and invalid addresses.
    """
    found = []
    for index, page in enumerate(pages):
        if index in leave_out or page.outcome in _NOT_A_PAGE:
            continue
        try:
            found.append(_to_provider_page(page, index))
        except ValueError:
            continue
    return found


def _to_provider_page(page: CrawledPage, index: int) -> ProviderPage:
    code, message = _failure(page)
    scrape_id = page.scrape_id
    return ProviderPage(
        uri=urls.normalise(page.url),
        queued_as=urls.normalise(page.source_url),
        fetch_url=urls.fetchable(page.source_url),
        url_pattern=urls.url_pattern(page.url),
        scrape_id=scrape_id if scrape_id and len(scrape_id) <= _LONGEST_SCRAPE_ID else None,
        http_status=page.status_code,
        error_code=code,
        error_message=message and message[:_LONGEST_MESSAGE],
        event_index=index if code is None else None,
    )


def _failure(page: CrawledPage) -> tuple[ErrorCode | None, str | None]:
    """Error code and message of a page without content; None, None if it has content."""
    if page.status_code is not None and page.status_code >= 400:
        said = f": {page.error}" if page.error else ""
        return "fetch_status", f"the server responded with HTTP {page.status_code}{said}"
    if page.outcome == "failed":
        return "fetch_failed", page.error or "Firecrawl could not fetch the page"
    if not page.markdown.strip():
        return "empty_content", "the page has no text"
    return None, None


async def fetched_page(page: PageForJob, ctx: Context) -> CrawledPage:
    """Read the content that Firecrawl fetched for a page of a run.

    Raises Permanent with the reason of a failed fetch, PageUnavailable if the web server
    responded with an error, and Permanent `blob_missing` if the content has expired.
    """
    if page.event_id is None:
        if page.error_code == "fetch_status" and page.http_status is not None:
            raise PageUnavailable(page.http_status)
        raise Permanent(
            page.error_message or "Firecrawl could not fetch the page",
            code=page.error_code or "fetch_failed",
        )
    async with transaction(ctx.pool) as conn:
        content = await provider_pages.page_event(conn, page.id)
    if content is None:
        raise _expired()
    try:
        body = await body_of(ctx.blobs, content.body, content.blob_key)
    except BlobMissing as error:
        raise _expired() from error
    event = await asyncio.to_thread(parse_event, body)
    return event.pages[content.event_index]


async def body_of(blobs: BlobStore, body: bytes | None, blob_key: str | None) -> bytes:
    """Read the body of a stored event, from its row or the blob store; raises BlobMissing."""
    if body is not None:
        return body
    async with blobs.open_local(blob_key or "") as path:
        return await asyncio.to_thread(path.read_bytes)


def _expired() -> Permanent:
    return Permanent(
        "what Firecrawl sent for this page is no longer stored; fetch the source again",
        code="blob_missing",
    )
