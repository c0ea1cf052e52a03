"""Upload batches: the outcome of every file, in counts that add up."""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import Query
from fastapi.responses import StreamingResponse

from api.authenticated_route import KeyedRouter
from api.dependencies import Editor, PoolDep, Viewer
from api.schema import pagination
from api.schema.csv_lines import CSV, cell, line
from api.schema.pagination import Cursor, Page
from ingest.errors import NotFound
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.sources import batch_views, source_control
from ingest.store.sources.batch_views import Batch, ListedBatch, ReportedFile
from ingest.store.view import View

router = KeyedRouter(prefix="/api/batches", tags=["batches"])

_CSV_COLUMNS: Final = (
    "path",
    "verdict",
    "knowledgeSourceId",
    "jobId",
    "status",
    "code",
    "detail",
    "chunkCount",
)
_CSV_PAGE: Final = 500


class Report(Batch):
    files: list[ReportedFile]


class Changed(View):
    batch_id: UUID
    job_count: int
    job_ids: list[UUID]


@router.get("")
async def list_batches(
    pool: PoolDep,
    key: Viewer,
    *,
    limit: Annotated[int, Query(ge=1, le=50, description="Items per page")] = 25,
    cursor: Cursor = None,
) -> Page[ListedBatch]:
    """Upload batches, newest first."""
    async with transaction(pool) as conn:
        rows = await batch_views.list_batches(
            conn,
            application_id=key.application_id,
            limit=limit + 1,
            before=pagination.time_and_id(cursor),
        )
    return pagination.page(rows, limit, key=lambda row: (row.created_at, row.id))


@router.get("/{id}")
async def get_batch(id: UUID, pool: PoolDep, key: Viewer) -> Batch:
    """The current counts of the batch."""
    async with transaction(pool) as conn:
        return await _batch(conn, key.application_id, id)


@router.get(
    "/{id}/report",
    response_model=Report,
    responses=CSV,
)
async def report_batch(
    id: UUID,
    pool: PoolDep,
    key: Viewer,
    *,
    format: Annotated[Literal["json", "csv"], Query()] = "json",
) -> Report | StreamingResponse:
    """One row per file of the batch, including rejected files.

    CSV is read in parts, each at a later time. If a part cannot be read, the body ends early.
    """
    if format == "csv":
        return await _csv_response(pool, key.application_id, id)
    async with transaction(pool) as conn:
        found = await batch_views.report(conn, application_id=key.application_id, id=id)
    if found is None:
        raise NotFound("batch")
    batch, files = found
    return Report(**dict(batch), files=files)


@router.post("/{id}/retry-failed", status_code=202)
async def retry_batch(id: UUID, pool: PoolDep, key: Editor) -> Changed:
    """Retry every failed job of the batch, unless a newer upload replaced it."""
    async with transaction(pool) as conn:
        await _batch(conn, key.application_id, id)
        retried = await source_control.retry(
            conn, application_id=key.application_id, batch_id=id, statuses=("failed",)
        )
    return Changed(batch_id=id, job_count=len(retried), job_ids=retried)


@router.post("/{id}/cancel")
async def cancel_batch(id: UUID, pool: PoolDep, key: Editor) -> Changed:
    """Cancel every open job of the batch."""
    async with transaction(pool) as conn:
        await _batch(conn, key.application_id, id)
        cancelled = await source_control.cancel(
            conn, application_id=key.application_id, batch_id=id
        )
    return Changed(batch_id=id, job_count=len(cancelled), job_ids=cancelled)


async def _batch(conn: Connection, application_id: UUID, id: UUID) -> Batch:
    batch = await batch_views.get(conn, application_id=application_id, id=id)
    if batch is None:
        raise NotFound("batch")
    return batch


async def _csv_response(pool: Pool, application_id: UUID, id: UUID) -> StreamingResponse:
    # An error before the first byte becomes a normal problem document.
    async with transaction(pool) as conn:
        await _batch(conn, application_id, id)
        first = await batch_views.files(conn, application_id=application_id, id=id, limit=_CSV_PAGE)
    return StreamingResponse(
        _csv(pool, application_id, id, first),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="batch-{id}.csv"'},
    )


async def _csv(
    pool: Pool, application_id: UUID, id: UUID, rows: Sequence[ReportedFile]
) -> AsyncIterator[str]:
    """RFC 4180 lines. No connection is held while the client reads."""
    yield line(_CSV_COLUMNS)
    while rows:
        yield "".join(map(_row, rows))
        if len(rows) < _CSV_PAGE:
            return
        async with transaction(pool) as conn:
            rows = await batch_views.files(
                conn,
                application_id=application_id,
                id=id,
                after=rows[-1].ordinal,
                limit=_CSV_PAGE,
            )


def _row(row: ReportedFile) -> str:
    return line(
        (
            cell(row.path),
            row.verdict,
            row.knowledge_source_id,
            row.job_id,
            row.status,
            row.code,
            cell(row.detail),
            row.chunk_count,
        )
    )
