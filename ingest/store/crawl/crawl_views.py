"""Runs, their pages and schedules as the API shows them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from ingest.model import SourceStatus
from ingest.postgres.database import Connection, load_queries
from ingest.store.crawl.crawl_pages import PageStatus
from ingest.store.crawl.crawls import CrawlStatus
from ingest.store.crawl.runs import CrawlProvider
from ingest.store.sources.source_views import ScheduleView
from ingest.store.view import UtcTime, View

_SQL = load_queries("crawl/crawl_views.sql")


class Crawl(View):
    id: UUID
    job_id: UUID
    provider: CrawlProvider
    status: CrawlStatus
    page_count: int
    skipped: dict[str, int]
    """Links that were not followed, by reason."""
    is_complete: bool | None
    """Whether the run saw every page; null while it is open. Pages are removed only if true."""
    digest: dict[str, Any] | None
    """Number of pages by outcome, tokens spent and saved; null while it is open."""
    error_code: str | None
    error_message: str | None
    created_at: UtcTime
    started_at: UtcTime | None
    ended_at: UtcTime | None


class CrawlPage(View):
    id: UUID
    uri: str
    depth: int
    job_id: UUID | None
    status: PageStatus
    http_status: int | None
    error_code: str | None
    error_message: str | None
    document_id: UUID | None
    duplicate_of: str | None
    content_hash: str | None
    chunk_count: int
    tokens_spent: int
    tokens_saved: int
    created_at: UtcTime
    updated_at: UtcTime


class LastRun(View):
    crawl_id: UUID
    job_id: UUID
    status: CrawlStatus
    error_code: str | None
    error_message: str | None
    created_at: UtcTime
    ended_at: UtcTime | None


class ScheduledSource(View):
    """A page or site with a schedule of its own."""

    id: UUID
    type: str
    name: str
    uri: str
    status: SourceStatus
    error_code: str | None
    rescrape: ScheduleView
    next_rescrape_at: UtcTime
    last_run: LastRun | None
    """The latest run, also one that was started by hand."""


async def list_scheduled(
    conn: Connection, *, application_id: UUID, limit: int, after: tuple[datetime, UUID] | None
) -> list[ScheduledSource]:
    """Sources with a schedule of their own, the next one first."""
    after_time, after_id = after or (None, None)
    async with conn.cursor(row_factory=class_row(ScheduledSource)) as cur:
        await cur.execute(
            _SQL["scheduled"],
            {
                "application_id": application_id,
                "limit": limit,
                "after_time": after_time,
                "after_id": after_id,
            },
            prepare=False,  # for the same reason as in source_views.py
        )
        return await cur.fetchall()


async def list_crawls(
    conn: Connection,
    *,
    application_id: UUID,
    source_id: UUID,
    limit: int,
    before: tuple[datetime, UUID] | None,
) -> list[Crawl]:
    """Runs of a source, newest first."""
    before_time, before_id = before or (None, None)
    async with conn.cursor(row_factory=class_row(Crawl)) as cur:
        await cur.execute(
            _SQL["crawls"],
            {
                "application_id": application_id,
                "source_id": source_id,
                "limit": limit,
                "before_time": before_time,
                "before_id": before_id,
            },
        )
        return await cur.fetchall()


async def list_pages(
    conn: Connection,
    *,
    application_id: UUID,
    source_id: UUID,
    crawl_id: UUID | None,
    status: PageStatus | None,
    limit: int,
    after: UUID | None,
) -> list[CrawlPage]:
    """Pages of one run of a source; without `crawl_id`, of the latest run."""
    async with conn.cursor(row_factory=class_row(CrawlPage)) as cur:
        await cur.execute(
            _SQL["pages"],
            {
                "application_id": application_id,
                "source_id": source_id,
                "crawl_id": crawl_id,
                "status": status,
                "limit": limit,
                "after": after,
            },
            prepare=False,  # for the same reason as in source_views.py
        )
        return await cur.fetchall()
