"""Knowledge sources, documents and chunks, as the API returns them.

Lists are never prepared: the best index, and where to start in it, depends on the parameters. If
most applications or sources are small, the planner prefers a generic plan, which reads a large one
from its beginning for every page and filter.
"""

from typing import Any, Final
from uuid import UUID

from psycopg.rows import class_row, kwargs_row, scalar_row
from pydantic import Field

from ingest.model import ChunkBy, SourceStatus, section_paths
from ingest.postgres.database import Connection, load_queries
from ingest.store.crawl.runs import CrawlSettings
from ingest.store.documents.chunking import ChunkingOverrides
from ingest.store.documents.extraction_views import Coverage, Encoding
from ingest.store.sources import missing_content
from ingest.store.view import UtcTime, View

_SQL = load_queries("sources/source_views.sql")

_LONGEST_LEFT_OUT: Final = 2000


class CrawlView(View):
    """The crawl settings of a site, from the latest request."""

    limit: int
    max_depth: int | None
    include_paths: list[str]
    exclude_paths: list[str]
    provider: str


class ScheduleView(View):
    cron: str
    timezone: str


class ChunkingView(View):
    size: int | None
    overlap: int | None
    by: ChunkBy | None
    leave_out_furniture: bool | None


class Waiting(View):
    """What the source waits for."""

    reason: str
    """As `waitReason` of the job."""
    job_id: UUID
    """The job that waits: the current one, or one for a file inside or a page."""
    code: str | None
    message: str | None
    """What went wrong, such as the embedding provider's refusal."""
    until: UtcTime | None
    """When it goes on by itself; null: when a pause or a limit of the job's type ends."""


class StoredSource(View):
    """A source without the fields that depend on the installation's settings."""

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
    waiting: Waiting | None
    """Null unless the source is open and waits for something other than a free worker."""
    metadata: dict[str, Any]
    coverage: Coverage | None
    chunk_count: int
    token_count: int
    size_bytes: int | None
    """Size of the searchable version; counts and hash refer to it too."""
    content_hash: str | None
    """SHA-256, hexadecimal."""
    duplicate_of: UUID | None
    job_id: UUID | None
    """The job of the current run."""
    crawl: CrawlView | None
    rescrape: ScheduleView | None
    """The source's own schedule; null: fetched again every night."""
    next_rescrape_at: UtcTime | None
    """Null: with the next nightly rescrape; files are never rescraped."""
    chunking: ChunkingView
    """The source's own settings."""
    event_seq: int
    created_at: UtcTime
    updated_at: UtcTime
    collection_ids: list[UUID]
    """The collections that it is in, of those that the key may see."""
    application_chunking: Any = Field(exclude=True)

    @property
    def chunking_choices(self) -> tuple[ChunkingOverrides, ChunkingOverrides]:
        """The application's chunk settings, then the source's own, which take precedence."""
        return ChunkingOverrides.from_json(self.application_chunking), ChunkingOverrides(
            **dict(self.chunking)
        )


class Document(View):
    id: UUID
    knowledge_source_id: UUID
    uri: str
    title: str | None
    media_type: str
    status: str
    error_code: str | None
    error_message: str | None
    """For a `partial` document: what is missing."""
    chunk_count: int
    token_count: int
    coverage: Coverage
    encoding: Encoding | None
    extractor: str
    metadata: dict[str, Any]
    warnings: list[str]
    """Stable codes of anomalies that are not errors."""
    created_at: UtcTime
    updated_at: UtcTime
    deleted_at: UtcTime | None


class LeftOut(View):
    """A block that repeats on the pages of a site."""

    at: int
    """Where in the text it would be, in characters."""
    text: str
    """Its Markdown, up to 2,000 characters."""
    is_cut: bool
    """There is more of it."""


class Chunk(View):
    id: UUID
    document_id: UUID
    ordinal: int
    content: str
    token_count: int
    headings: list[str]
    """Above the start of the chunk, outermost first."""
    sections: list[list[str]]
    """The same for every section that the chunk contains, in reading order."""
    page: int | None
    page_end: int | None
    char_start: int
    char_end: int


def chunk_view(
    *, headings: list[str], next_sections: list[tuple[int, int, str]] | None, **columns: Any
) -> Chunk:
    """A row of rag.chunks."""
    sections = section_paths(headings, next_sections)
    return Chunk(headings=headings, sections=sections, **columns)


async def get(conn: Connection, *, application_id: UUID, id: UUID) -> StoredSource | None:
    async with conn.cursor(row_factory=kwargs_row(stored_source)) as cur:
        await cur.execute(_SQL["get"], {"application_id": application_id, "id": id})
        return await cur.fetchone()


def stored_source(
    *,
    crawl_settings: dict[str, Any] | None,
    rescrape_cron: str | None,
    rescrape_timezone: str | None,
    own_chunking: Any,
    **columns: Any,
) -> StoredSource:
    """A row of rag.source_views."""
    if columns["status"] == "partial" and columns["error_message"] is None:
        columns["error_message"] = missing_content.in_words(
            columns["error_code"], columns["coverage"]
        )
    schedule = {"cron": rescrape_cron, "timezone": rescrape_timezone}
    crawl = None
    if crawl_settings is not None and columns["type"] == "site":
        crawl = CrawlSettings.from_json(crawl_settings)
    return StoredSource.model_validate(
        {
            **columns,
            "crawl": crawl,
            "rescrape": None if rescrape_cron is None else schedule,
            "chunking": ChunkingOverrides.from_json(own_chunking),
        }
    )


def _document(**columns: Any) -> Document:
    message = missing_content.in_words(columns["error_code"], columns["coverage"])
    return Document(error_message=message, **columns)


async def event_seq(conn: Connection, *, application_id: UUID, id: UUID) -> int | None:
    """The number of the source's last event; None if there is no such source."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["seq"], {"application_id": application_id, "id": id})
        return await cur.fetchone()


async def list_documents(
    conn: Connection, *, application_id: UUID, source_id: UUID, limit: int, after: UUID | None
) -> list[Document]:
    """Documents, oldest first. The caller has checked that the source is not deleted."""
    async with conn.cursor(row_factory=kwargs_row(_document)) as cur:
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


async def document(conn: Connection, *, application_id: UUID, document_id: UUID) -> Document | None:
    """A document; None if it does not exist or its source was deleted."""
    async with conn.cursor(row_factory=kwargs_row(_document)) as cur:
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
) -> list[Chunk]:
    """Chunks in reading order; `after`: document and ordinal of the previous page's last chunk.

    The caller has checked that the source is not deleted.
    """
    after_document, after_ordinal = after or (None, None)
    async with conn.cursor(row_factory=kwargs_row(chunk_view)) as cur:
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


async def document_text(
    conn: Connection,
    *,
    application_id: UUID,
    document_id: UUID,
    part: tuple[int, int] | None = None,
) -> str | None:
    """The extracted Markdown; None if there is no such document or it was deleted.

    `part`: only the characters from the first offset to before the second.
    """
    start, end = part or (None, 0)
    length = 0 if start is None else max(0, end - start)
    names = {"application_id": application_id, "document_id": document_id}
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["text"], {**names, "start": start, "length": length})
        return await cur.fetchone()


async def left_out(
    conn: Connection, *, application_id: UUID, document_id: UUID, limit: int
) -> list[LeftOut]:
    """What was left out of the document's text, in its order; none of a missing document."""
    values = {"application_id": application_id, "document_id": document_id, "limit": limit}
    async with conn.cursor(row_factory=class_row(LeftOut)) as cur:
        await cur.execute(_SQL["left_out"], {**values, "longest": _LONGEST_LEFT_OUT})
        return await cur.fetchall()
