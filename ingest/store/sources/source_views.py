"""Knowledge sources, documents and chunks, as the API returns them.

Lists are never prepared: the best index, and where to start in it, depends on the parameters. If
most applications or sources are small, the planner prefers a generic plan, which reads a large one
from its beginning for every page and filter.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, kwargs_row, scalar_row

from ingest.model import SourceStatus
from ingest.postgres.database import Connection, load_queries
from ingest.scheduling.recurrence import Recurrence
from ingest.store.crawl.runs import CrawlSettings
from ingest.store.documents.chunking import ChunkingOverrides
from ingest.store.sources import missing_content

_SQL = load_queries("sources/source_views.sql")
_GET, _LIST = (_SQL[name].replace(b"{waiting}", _SQL["waiting"]) for name in ("get", "list"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceView:
    id: UUID
    application_id: UUID
    batch_id: UUID | None
    """The batch that last added or updated it."""
    type: str
    name: str
    uri: str
    status: SourceStatus
    error_code: str | None
    error_message: str | None
    metadata: dict[str, Any]
    coverage: dict[str, Any] | None
    chunk_count: int
    token_count: int
    size_bytes: int | None
    """Size of the searchable version; counts and hash refer to it too."""
    content_hash: str | None
    """SHA-256, hexadecimal."""
    duplicate_of: UUID | None
    job_id: UUID | None
    """The job of the current run."""
    rescrape_cron: str | None
    rescrape_timezone: str | None
    next_rescrape_at: datetime | None
    """None: with the next nightly rescrape; files are never rescraped."""
    crawl_settings: dict[str, Any] | None
    own_chunking: Any
    application_chunking: Any
    event_seq: int
    created_at: datetime
    updated_at: datetime
    waiting: dict[str, Any] | None
    """`reason`, `code`, `message` and `until` of one of its delayed jobs."""

    @property
    def chunking(self) -> ChunkingOverrides:
        """The source's own chunk settings."""
        return ChunkingOverrides.from_json(self.own_chunking)

    @property
    def chunking_choices(self) -> tuple[ChunkingOverrides, ChunkingOverrides]:
        """The application's chunk settings, then the source's own, which take precedence."""
        return ChunkingOverrides.from_json(self.application_chunking), self.chunking

    @property
    def crawl(self) -> CrawlSettings | None:
        """Crawl settings of a site; None for other source types."""
        return CrawlSettings.from_json(self.crawl_settings) if self.type == "site" else None

    @property
    def rescrape(self) -> Recurrence | None:
        """The source's own rescrape schedule; None: the nightly one."""
        if self.rescrape_cron is None or self.rescrape_timezone is None:
            return None
        return Recurrence(cron=self.rescrape_cron, timezone=self.rescrape_timezone)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFilter:
    """Which sources to list; None: any."""

    status: SourceStatus | None = None
    type: str | None = None
    batch_id: UUID | None = None
    uri: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    id: UUID
    knowledge_source_id: UUID
    uri: str
    title: str | None
    media_type: str
    status: str
    error_code: str | None
    chunk_count: int
    token_count: int
    coverage: dict[str, Any]
    encoding: dict[str, Any] | None
    extractor: str
    metadata: dict[str, Any]
    warnings: list[str]
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None

    @property
    def error_message(self) -> str | None:
        """Which of its content is missing."""
        return missing_content.in_words(self.error_code, self.coverage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkView:
    id: UUID
    document_id: UUID
    ordinal: int
    content: str
    token_count: int
    headings: list[str]
    page: int | None
    page_end: int | None
    char_start: int
    char_end: int


async def get(conn: Connection, *, application_id: UUID, id: UUID) -> SourceView | None:
    async with conn.cursor(row_factory=kwargs_row(_source)) as cur:
        await cur.execute(_GET, {"application_id": application_id, "id": id})
        return await cur.fetchone()


async def list_sources(
    conn: Connection,
    *,
    application_id: UUID,
    where: SourceFilter,
    limit: int,
    before: tuple[datetime, UUID] | None,
) -> list[SourceView]:
    """Newest first; `before` is `created_at` and id of the last source of the previous page."""
    before_time, before_id = before or (None, None)
    async with conn.cursor(row_factory=kwargs_row(_source)) as cur:
        await cur.execute(
            _LIST,
            {
                "application_id": application_id,
                "status": where.status,
                "type": where.type,
                "batch_id": where.batch_id,
                "uri": where.uri,
                "before_time": before_time,
                "before_id": before_id,
                "limit": limit,
            },
            prepare=False,
        )
        return await cur.fetchall()


def _source(**columns: Any) -> SourceView:
    if columns["status"] == "partial" and columns["error_message"] is None:
        columns["error_message"] = missing_content.in_words(
            columns["error_code"], columns["coverage"]
        )
    return SourceView(**columns)


async def event_seq(conn: Connection, *, application_id: UUID, id: UUID) -> int | None:
    """The number of the source's last event; None if there is no such source."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["seq"], {"application_id": application_id, "id": id})
        return await cur.fetchone()


async def list_documents(
    conn: Connection, *, application_id: UUID, source_id: UUID, limit: int, after: UUID | None
) -> list[DocumentView]:
    """Oldest first. The caller has checked that the source is not deleted."""
    async with conn.cursor(row_factory=class_row(DocumentView)) as cur:
        await cur.execute(
            _SQL["documents"],
            {
                "application_id": application_id,
                "source_id": source_id,
                "limit": limit,
                "after": after,
            },
            prepare=False,
        )
        return await cur.fetchall()


async def document(
    conn: Connection, *, application_id: UUID, document_id: UUID
) -> DocumentView | None:
    """None if there is no such document or its source was deleted."""
    async with conn.cursor(row_factory=class_row(DocumentView)) as cur:
        await cur.execute(
            _SQL["document"], {"application_id": application_id, "document_id": document_id}
        )
        return await cur.fetchone()


async def list_chunks(
    conn: Connection,
    *,
    application_id: UUID,
    source_id: UUID,
    limit: int,
    after: tuple[UUID, int] | None,
) -> list[ChunkView]:
    """In reading order; `after` is document and ordinal of the last chunk of the previous page.

    The caller has checked that the source is not deleted.
    """
    after_document, after_ordinal = after or (None, None)
    async with conn.cursor(row_factory=class_row(ChunkView)) as cur:
        await cur.execute(
            _SQL["chunks"],
            {
                "application_id": application_id,
                "source_id": source_id,
                "limit": limit,
                "after_document": after_document,
                "after_ordinal": after_ordinal,
            },
            prepare=False,
        )
        return await cur.fetchall()


async def document_text(conn: Connection, *, application_id: UUID, document_id: UUID) -> str | None:
    """The extracted Markdown; None if there is no such document or it was deleted."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["text"], {"application_id": application_id, "document_id": document_id}
        )
        return await cur.fetchone()
