"""Upload batches, as the API returns them: consistent counts and one row per file."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from psycopg.rows import class_row, kwargs_row
from pydantic import Field

from ingest.model import SourceStatus
from ingest.postgres.database import Connection, load_queries
from ingest.store.sources import missing_content
from ingest.store.sources.upload_verdicts import Verdict
from ingest.store.view import UtcTime, View

_SQL = load_queries("sources/batch_views.sql")

_MOST_COUNTED: Final = 5000


class Batch(View):
    """total = accepted + unchanged + duplicate + rejected; the states add up to accepted."""

    id: UUID
    application_id: UUID
    created_at: UtcTime
    updated_at: UtcTime
    completed_at: UtcTime | None
    """When the last of its sources ended; null while one is open."""
    total: int
    accepted: int
    unchanged: int
    duplicate: int
    rejected: int
    completed: int
    partial: int
    failed: int
    cancelled: int
    processing: int
    pending: int
    review_needed: int
    deleted: int
    """Of the cancelled: their sources were deleted."""


class ListedBatch(View):
    """Verdicts add up to the total. States are counted up to 5,000 accepted files."""

    id: UUID
    created_at: UtcTime
    updated_at: UtcTime
    completed_at: UtcTime | None
    """When the last of its sources ended; null while one is open."""
    total: int
    accepted: int
    unchanged: int
    duplicate: int
    rejected: int
    states: dict[SourceStatus, int] | None
    """Accepted files by the state of their sources; null for larger batches."""
    deleted: int | None
    """Of the cancelled: their sources were deleted."""


class ReportedFile(View):
    """One file of the report, with the state of its source."""

    ordinal: int = Field(exclude=True)
    """Order of arrival in the batch."""
    path: str
    size_bytes: int
    verdict: Verdict
    knowledge_source_id: UUID | None
    job_id: UUID | None
    status: SourceStatus | None
    """Null for a rejected file."""
    code: str | None
    detail: str | None
    chunk_count: int | None


async def get(conn: Connection, *, application_id: UUID, id: UUID) -> Batch | None:
    async with conn.cursor(row_factory=class_row(Batch)) as cur:
        await cur.execute(_SQL["get"], {"application_id": application_id, "id": id})
        return await cur.fetchone()


async def list_batches(
    conn: Connection, *, application_id: UUID, limit: int, before: tuple[datetime, UUID] | None
) -> list[ListedBatch]:
    """Batches, newest first; `before`: `created_at` and id of the previous page's last batch."""
    before_time, before_id = before or (None, None)
    async with conn.cursor(row_factory=class_row(ListedBatch)) as cur:
        await cur.execute(
            _SQL["list"],
            {
                "application_id": application_id,
                "before_time": before_time,
                "before_id": before_id,
                "limit": limit,
                "most": _MOST_COUNTED,
            },
            prepare=False,
        )
        return await cur.fetchall()


async def report(
    conn: Connection, *, application_id: UUID, id: UUID
) -> tuple[Batch, list[ReportedFile]] | None:
    """The counts and one row per file, in order of arrival, read in one snapshot.

    None if there is no such batch. Must be the first statement of its transaction.
    """
    await conn.execute(_SQL["one_moment"])
    batch = await get(conn, application_id=application_id, id=id)
    if batch is None:
        return None
    return batch, await files(conn, application_id=application_id, id=id)


async def files(
    conn: Connection, *, application_id: UUID, id: UUID, after: int = 0, limit: int | None = None
) -> list[ReportedFile]:
    """Up to `limit` rows of the report (None: all) after the ordinal `after`."""
    async with conn.cursor(row_factory=kwargs_row(_file_row)) as cur:
        await cur.execute(
            _SQL["report"],
            {"application_id": application_id, "id": id, "after": after, "limit": limit},
        )
        return await cur.fetchall()


def _file_row(*, coverage: dict[str, Any] | None, **columns: Any) -> ReportedFile:
    if columns["status"] == "partial" and columns["detail"] is None:
        columns["detail"] = missing_content.in_words(columns["code"], coverage)
    return ReportedFile(**columns)
