"""Compare a crawl's results at Firecrawl with the events received, and fill the gaps.

Missing pages go into the inbox as if their events had arrived: the jobs of pages read from there.
"""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from ingest.blobs.base import BlobStore, new_key
from ingest.errors import LeaseLost
from ingest.handlers.context import Context
from ingest.handlers.firecrawl.pages import pages_out_of_scope, to_provider_pages
from ingest.postgres.database import Connection, transaction
from ingest.providers.firecrawl.answers import CrawlStatus
from ingest.providers.firecrawl.client import FirecrawlClient
from ingest.providers.firecrawl.events import UNSCRAPED, CrawledPage
from ingest.store.crawl import crawls, frontier, provider_pages, webhook_events
from ingest.store.crawl.crawls import Crawl
from ingest.store.crawl.frontier import SeenPage
from ingest.store.crawl.provider_pages import ProviderPage
from ingest.store.crawl.webhook_events import NewWebhookEvent
from ingest.store.queue import jobs
from ingest.store.queue.jobs import ClaimedJob
from ingest.web import urls
from ingest.web.crawl_completeness import NOT_DELIVERED, NOT_SCRAPED

LARGEST_ROW: Final = 256 * 1024
"""Largest event, in bytes, that is stored in its row; larger ones go to the blob store."""

_PAGES_AT_ONCE: Final = 50


async def reconcile(
    job: ClaimedJob,
    crawl: Crawl,
    provider_crawl_id: str,
    status: CrawlStatus,
    client: FirecrawlClient,
    ctx: Context,
) -> int:
    """Add every page that Firecrawl has and the run lacks; returns how many were added.

    Records how many pages are missing from the results, compared with the counts in `status`.
    Commits in batches, so that an interrupted attempt keeps its progress. Raises Transient from the
    client, and LeaseLost.
    """
    gap_filler = _GapFiller(job, crawl, provider_crawl_id, ctx)
    batch: list[CrawledPage] = []
    size = 0
    async for page in client.pages(provider_crawl_id):
        if batch and (len(batch) == _PAGES_AT_ONCE or size + _size(page) > LARGEST_ROW):
            await gap_filler.store(batch)
            batch, size = [], 0
        batch.append(page)
        size += _size(page)
    await gap_filler.store(batch)
    errors = await client.errors(provider_crawl_id)
    await gap_filler.store_failures(errors.failed, errors.robots_blocked)
    await gap_filler.note_missing(
        not_scraped=errors.unnamed + sum(page.outcome in UNSCRAPED for page in errors.failed),
        not_delivered=max(status.total, status.completed) - gap_filler.delivered
        if status.is_counted
        else 1,
    )
    return gap_filler.added


class _GapFiller:
    """Writes the missing pages of a run."""

    def __init__(self, job: ClaimedJob, crawl: Crawl, provider_crawl_id: str, ctx: Context) -> None:
        self.added = 0
        self.delivered = 0
        """Pages among the results that were scraped and have a valid address."""
        self._job = job
        self._crawl = crawl
        self._provider_crawl_id = provider_crawl_id
        self._ctx = ctx

    async def store(self, batch: Sequence[CrawledPage]) -> None:
        """Store the pages of a batch that the run lacks, as one event."""
        self.delivered += sum(len(to_provider_pages([page])) for page in batch)
        batch = await self._inside(batch)
        known_as = [(page, item.uri) for page in batch for item in to_provider_pages([page])]
        async with transaction(self._ctx.pool) as conn:
            missing = await provider_pages.missing(conn, self._crawl.id, to_provider_pages(batch))
        wanted = {item.uri for item in missing}
        pages = [page for page, uri in known_as if uri in wanted]
        if not pages:
            return
        event = await self._event(pages)
        async with transaction(self._ctx.pool) as conn:
            is_stored = await self._insert(conn, to_provider_pages(pages), event)
        if event.blob_key is not None and not is_stored:
            await self._ctx.blobs.delete([event.blob_key])

    async def store_failures(
        self, failed: Sequence[CrawledPage], robots_blocked: Sequence[str]
    ) -> None:
        """Record pages that failed, and pages that robots.txt forbids."""
        failed = await self._inside(failed)
        async with transaction(self._ctx.pool) as conn:
            await self._insert(conn, to_provider_pages(failed), None)
            await frontier.add_seen(
                conn, self._crawl.id, self._crawl.source_id, _forbidden(robots_blocked)
            )

    async def note_missing(self, *, not_scraped: int, not_delivered: int) -> None:
        """Record how many pages were never read, so that the run removes none."""
        async with transaction(self._ctx.pool) as conn:
            if not await jobs.hold(conn, [self._job]):
                raise LeaseLost(self._job.id)
            await crawls.set_missing_counts(
                conn,
                self._crawl.id,
                at_least={NOT_SCRAPED: not_scraped},
                exactly={NOT_DELIVERED: max(not_delivered, 0)},
            )

    async def _inside(self, pages: Sequence[CrawledPage]) -> list[CrawledPage]:
        """The pages in the run's scope; the rest are recorded as skipped."""
        crawl = self._crawl
        others = await pages_out_of_scope(pages, crawl)
        if others:
            async with transaction(self._ctx.pool) as conn:
                if not await jobs.hold(conn, [self._job]):
                    raise LeaseLost(self._job.id)
                await crawls.lock(conn, crawl.id, source_id=crawl.source_id, job_id=self._job.id)
                await frontier.add_seen(conn, crawl.id, crawl.source_id, list(others.values()))
        return [page for index, page in enumerate(pages) if index not in others]

    async def _event(self, pages: Sequence[CrawledPage]) -> NewWebhookEvent:
        body = await asyncio.to_thread(_body, self._provider_crawl_id, pages)
        key = None
        if len(body) > LARGEST_ROW:
            key = await _store_blob(self._ctx.blobs, self._crawl.application_id, body)
        return NewWebhookEvent(
            provider="firecrawl",
            dedupe_key=hashlib.sha256(body).digest(),
            size_bytes=len(body),
            body=body if key is None else None,
            blob_key=key,
        )

    async def _insert(
        self, conn: Connection, pages: Sequence[ProviderPage], event: NewWebhookEvent | None
    ) -> bool:
        """Write in the caller's transaction; False if an earlier attempt stored the event."""
        if not await jobs.hold(conn, [self._job]):
            raise LeaseLost(self._job.id)
        event_id = None if event is None else await webhook_events.add(conn, event)
        if event is not None and event_id is None:
            return False
        crawl = self._crawl
        locked = await crawls.lock(conn, crawl.id, source_id=crawl.source_id, job_id=self._job.id)
        owner = await provider_pages.owner_of(conn, crawl)
        self.added += await provider_pages.insert(
            conn, owner, pages, locked=locked, event_id=event_id
        )
        if event_id is not None:
            await webhook_events.mark_processed(
                conn,
                event_id,
                type="page",
                provider_crawl_id=self._provider_crawl_id,
                crawl_id=crawl.id,
            )
        return True


async def _store_blob(blobs: BlobStore, application_id: UUID, body: bytes) -> str:
    staged = blobs.stage(new_key(application_id))
    try:
        await staged.write(body)
        await staged.finish()
        await blobs.commit([staged])
    except BaseException:
        await staged.discard()
        raise
    return staged.key


def _body(provider_crawl_id: str, pages: Sequence[CrawledPage]) -> bytes:
    event = {
        "success": True,
        "type": "crawl.page",
        "id": provider_crawl_id,
        "data": [_document(page) for page in pages],
    }
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()


def _document(page: CrawledPage) -> dict[str, Any]:
    """A page in the format of an event."""
    return {
        "markdown": page.markdown,
        "links": list(page.links),
        "metadata": {
            "title": page.title,
            "language": page.language,
            "description": page.description,
            "sourceURL": page.source_url,
            "url": page.url,
            "statusCode": page.status_code,
            "scrapeId": page.scrape_id,
            "error": page.error,
        },
    }


def _size(page: CrawledPage) -> int:
    """Approximate size of a page as JSON, in bytes."""
    return len(page.markdown) + sum(map(len, page.links)) + 500


def _forbidden(addresses: Sequence[str]) -> list[SeenPage]:
    found = {}
    for address in addresses:
        try:
            uri = urls.normalise(address)
        except ValueError:
            continue
        found[uri] = SeenPage(uri=uri, status="skipped", error_code="robots_disallowed")
    return list(found.values())
