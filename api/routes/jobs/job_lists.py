"""Lists of jobs: pages, CSV."""

from typing import Annotated

from fastapi import Query
from fastapi.responses import StreamingResponse

from api.authenticated_route import KeyedRouter
from api.dependencies import PoolDep, Reader
from api.schema import pagination
from api.schema.csv_lines import CSV, Rows, stream
from api.schema.filters import JobListQuery, JobQuery, metadata_of
from api.schema.pagination import Page
from ingest.postgres.database import transaction
from ingest.store.lists import job_lists
from ingest.store.queue.job_views import Job

router = KeyedRouter(prefix="/api/jobs", tags=["jobs"])

_COLUMNS = (
    *("id", "type", "status", "knowledgeSourceId", "sourceName", "uri", "attempts"),
    *("errorCode", "errorMessage", "createdAt", "completedAt", "durationMs"),
)


@router.get("")
async def list_jobs(
    query: Annotated[JobListQuery, Query()], pool: PoolDep, key: Reader
) -> Page[Job]:
    """Jobs, newest first."""
    async with transaction(pool) as conn:
        found = await job_lists.page(
            conn,
            application_id=key.application_id,
            where=query.where(metadata_of(query.metadata)),
            limit=query.limit,
            before=pagination.position(query.cursor),
        )
    cursor = None if found.next is None else pagination.encode_cursor((found.next,))
    return Page(items=found.rows, next_cursor=cursor)


@router.get("/export", response_class=StreamingResponse, responses=CSV)
async def export_jobs(
    query: Annotated[JobQuery, Query()], pool: PoolDep, key: Reader
) -> StreamingResponse:
    """The jobs of a filter as CSV, newest first, at most 100,000.

    They are read in parts, each at a later time. If one cannot be read, the body ends early.
    """
    where = query.where(metadata_of(query.metadata))

    async def rows(after: int | None, limit: int) -> tuple[Rows, int | None]:
        async with transaction(pool) as conn:
            found = await job_lists.page(
                conn, application_id=key.application_id, where=where, limit=limit, before=after
            )
        lines = [
            (
                *(row.id, row.type, row.status, row.knowledge_source_id, row.source_name, row.uri),
                *(row.attempts, row.last_error_code, row.last_error_message),
                row.created_at.isoformat(),
                row.completed_at and row.completed_at.isoformat(),
                row.duration_ms,
            )
            for row in found.rows
        ]
        return lines, found.next

    return await stream(_COLUMNS, rows, name="jobs")
