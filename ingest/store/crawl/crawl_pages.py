"""The pages of a run and their results. frontier.py adds the pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row, dict_row, scalar_row

from ingest.errors import ErrorCode
from ingest.postgres.database import Connection, load_queries
from ingest.store.queue import jobs

_SQL = load_queries("crawl/crawl_pages.sql")

PageStatus = Literal[
    "queued",
    "over_limit",
    "new",
    "changed",
    "unchanged",
    "kept",
    "duplicate",
    "gone",
    "skipped",
    "failed",
    "held",
    "removed",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageForJob:
    """A page as its job needs it."""

    id: UUID
    crawl_id: UUID
    source_id: UUID
    uri: str
    """Normalised; identifies the page within its run."""
    fetch_url: str
    depth: int
    event_id: int | None
    """The webhook event with its content, if a provider fetched it."""
    event_index: int | None
    ignores_canonical: bool
    """Whether to ignore its canonical URL, since no document exists there."""
    http_status: int | None
    error_code: ErrorCode | None
    """Set if the provider could not fetch the page."""
    error_message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPage:
    """The searchable document at an address."""

    id: UUID
    """Document id."""
    content_hash: bytes
    text_hash: bytes
    etag: str | None
    last_modified: str | None
    links: list[str]
    token_count: int
    chunk_count: int
    text_length: int
    """With the furniture of its site."""
    embedding_model_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPage:
    id: UUID
    uri: str
    status: PageStatus
    document_id: UUID | None
    canonical: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageResult:
    """The outcome of a page."""

    status: PageStatus
    http_status: int | None = None
    error_code: str | None = None
    error_message: str | None = None
    document_id: UUID | None = None
    duplicate_of: str | None = None
    canonical: str | None = None
    content_hash: bytes | None = None
    chunk_count: int = 0
    tokens_spent: int = 0
    tokens_saved: int = 0


async def for_job(conn: Connection, id: UUID) -> PageForJob | None:
    """A page; None if its source was purged."""
    async with conn.cursor(row_factory=class_row(PageForJob)) as cur:
        await cur.execute(_SQL["for_job"], {"id": id})
        return await cur.fetchone()


async def first_page(conn: Connection, crawl_id: UUID) -> PageForJob | None:
    """The first page of a run."""
    async with conn.cursor(row_factory=class_row(PageForJob)) as cur:
        await cur.execute(_SQL["first_page"], {"crawl_id": crawl_id})
        return await cur.fetchone()


async def stored_page(conn: Connection, source_id: UUID, uri: str) -> StoredPage | None:
    """The searchable document at an address of a source."""
    async with conn.cursor(row_factory=class_row(StoredPage)) as cur:
        await cur.execute(_SQL["stored_page"], {"source_id": source_id, "uri": uri})
        return await cur.fetchone()


async def was_removed(conn: Connection, page: PageForJob) -> bool:
    """Whether an earlier run of the source found this page gone."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["was_removed"],
            {"source_id": page.source_id, "crawl_id": page.crawl_id, "uri": page.uri},
        )
        return bool(await cur.fetchone())


async def find_by_uri(conn: Connection, crawl_id: UUID, uri: str) -> KnownPage | None:
    """Find the page at this address in a run."""
    async with conn.cursor(row_factory=class_row(KnownPage)) as cur:
        await cur.execute(_SQL["find_by_uri"], {"crawl_id": crawl_id, "uri": uri})
        return await cur.fetchone()


async def find_same_text(conn: Connection, page: PageForJob, text_hash: bytes) -> KnownPage | None:
    """Find a page of this run with the same text at another address."""
    async with conn.cursor(row_factory=class_row(KnownPage)) as cur:
        await cur.execute(
            _SQL["find_same_text"],
            {
                "crawl_id": page.crawl_id,
                "source_id": page.source_id,
                "page_id": page.id,
                "text_hash": text_hash,
            },
        )
        return await cur.fetchone()


async def rename(conn: Connection, id: UUID, uri: str) -> None:
    """Set a page's uri to its redirect target."""
    await conn.execute(_SQL["rename"], {"id": id, "uri": uri})


async def mark_duplicate(conn: Connection, id: UUID, *, duplicate_of: str) -> None:
    """Turn a stored page into a duplicate of another."""
    await conn.execute(_SQL["mark_duplicate"], {"id": id, "duplicate_of": duplicate_of})


async def save_http_status(
    conn: Connection, id: UUID, *, http_status: int, job: jobs.ClaimedJob
) -> None:
    """Store the HTTP status of a response even though the attempt is about to fail."""
    await conn.execute(
        _SQL["save_http_status"],
        {"id": id, "http_status": http_status, "job_id": job.id, "fence": job.fence},
    )


async def finish(conn: Connection, id: UUID, result: PageResult) -> None:
    """Store the result of a page."""
    fields = {name: getattr(result, name) for name in PageResult.__slots__}
    await conn.execute(_SQL["finish"], {"id": id, **fields})


async def record_failures(conn: Connection, crawl_id: UUID) -> None:
    """Copy the errors of failed jobs to their pages."""
    await conn.execute(_SQL["record_failures"], {"crawl_id": crawl_id})


async def fail_without_room(conn: Connection, crawl_id: UUID, *, most: int) -> None:
    """Fail pages of an ended run that a quota kept waiting; `most`: the run's page limit."""
    await conn.execute(_SQL["fail_without_room"], {"crawl_id": crawl_id, "most": most})


async def count_by_state(conn: Connection, crawl_id: UUID) -> list[dict[str, Any]]:
    """Counts `n` of pages by status, error_code and http_status."""
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(_SQL["count_by_state"], {"crawl_id": crawl_id})
        return await cur.fetchall()


async def note_links_followed(conn: Connection, id: UUID, *, job: jobs.ClaimedJob) -> None:
    """Note that the run follows the stored links of a page that fails."""
    await conn.execute(
        _SQL["note_links_followed"], {"id": id, "job_id": job.id, "fence": job.fence}
    )


async def count_unseen_behind_failures(
    conn: Connection, *, crawl_id: UUID, follows_stored: bool, hiding: Sequence[str]
) -> int:
    """Count unread pages, failed or skipped, that may link to pages the run has not seen.

    `follows_stored`: whether the run follows the stored links of a page that fails. `hiding`: codes
    of the skipped pages to count.
    """
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["count_unseen_behind_failures"],
            {
                "crawl_id": crawl_id,
                "follows_stored": follows_stored,
                "hiding": list(hiding),
            },
        )
        return int(await cur.fetchone() or 0)


async def count_skipped(conn: Connection, crawl_id: UUID, pattern: str, *, code: str) -> int:
    """How many pages of a URL pattern the run skipped with this code."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["count_skipped"], {"crawl_id": crawl_id, "pattern": pattern, "code": code}
        )
        return int(await cur.fetchone() or 0)
