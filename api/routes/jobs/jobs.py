"""Processing jobs: queued, running and ended ones, with their reasons."""

from collections.abc import Sequence
from typing import Annotated, Final
from uuid import UUID

from fastapi import Query
from pydantic import Field

from api.authenticated_route import KeyedRouter
from api.dependencies import Editor, Operator, PoolDep, Reader
from api.schema import pagination
from api.schema.openapi import problems
from api.schema.pagination import Cursor, Limit, Page
from ingest.errors import Conflict, NotFound
from ingest.model import JobStatus
from ingest.postgres.database import Connection, transaction
from ingest.store.queue import job_control, job_views, jobs, reviews
from ingest.store.queue.job_views import Job, JobFilter, JobLog, OpenJobs
from ingest.store.sources import source_control
from ingest.store.view import View

router = KeyedRouter(prefix="/api/jobs", tags=["jobs"])

_MAX_LOGS: Final = 200
_RETRYABLE: Final[Sequence[JobStatus]] = ("failed", "cancelled", "review_needed")


class JobWithLogs(Job):
    logs: list[JobLog] = Field(default_factory=list)


class JobCounts(View):
    items: list[OpenJobs]


class Triggered(View):
    triggered: bool


@router.get("/counts")
async def count_open_jobs(
    pool: PoolDep,
    key: Reader,
    *,
    knowledge_source_id: Annotated[UUID | None, Query(alias="knowledgeSourceId")] = None,
    batch_id: Annotated[UUID | None, Query(alias="batchId")] = None,
) -> JobCounts:
    """Count open jobs by stage or wait reason.

    Jobs that wait for their pages, or for the files in their file, are not counted. A `waitReason`
    of null means a free worker. `until` is when the first of the waiting jobs may continue.
    """
    where = JobFilter(source_id=knowledge_source_id, batch_id=batch_id)
    async with transaction(pool) as conn:
        rows = await job_views.open_counts(conn, application_id=key.application_id, where=where)
    return JobCounts(items=rows)


@router.post("/trigger", status_code=202)
async def trigger_jobs(pool: PoolDep, key: Operator) -> Triggered:
    """Wake the workers now, not at their next tick."""
    async with transaction(pool) as conn:
        await jobs.wake(conn)
    return Triggered(triggered=True)


@router.get("/{id}")
async def get_job(id: UUID, pool: PoolDep, key: Reader) -> JobWithLogs:
    """One job with the last 200 lines of its log."""
    async with transaction(pool) as conn:
        row = await find_job(conn, key.application_id, id)
        logs = await job_views.newest_logs(conn, id, limit=_MAX_LOGS)
    return JobWithLogs(**dict(row), logs=logs)


@router.get("/{id}/logs")
async def list_job_logs(
    id: UUID, pool: PoolDep, key: Reader, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[JobLog]:
    """The whole log of a job, oldest line first."""
    async with transaction(pool) as conn:
        await find_job(conn, key.application_id, id)
        rows = await job_views.logs(
            conn, id, after=pagination.position(cursor) or 0, limit=limit + 1
        )
    return pagination.page(rows, limit, key=lambda row: (row.id,))


@router.post("/{id}/retry", status_code=202, responses=problems(409))
async def retry_job(id: UUID, pool: PoolDep, key: Editor) -> Job:
    """Retry a job that failed, was cancelled or needs a review; its attempts start at zero.

    A job that waits for a time, such as the end of a provider's pause, starts at once.
    """
    async with transaction(pool) as conn:
        before = await find_job(conn, key.application_id, id)
        if before.status == "pending" and before.run_at is not None:
            await job_control.start_now(conn, application_id=key.application_id, id=id)
            return await find_job(conn, key.application_id, id)
        retried = await source_control.retry(
            conn,
            application_id=key.application_id,
            job_ids=[id],
            statuses=_RETRYABLE,
        )
        if not retried:
            raise _not_retryable(before)
        return await find_job(conn, key.application_id, id)


def _not_retryable(job: Job) -> Conflict:
    if job.status in _RETRYABLE:
        return Conflict("a newer run of the knowledge source replaced this job", code="superseded")
    return Conflict(f"a job with the status {job.status} cannot be retried", code="not_retryable")


@router.post("/{id}/cancel", responses=problems(409))
async def cancel_job(id: UUID, pool: PoolDep, key: Editor) -> Job:
    """Cancel a waiting or running job permanently. A running job writes nothing more."""
    async with transaction(pool) as conn:
        before = await find_job(conn, key.application_id, id)
        cancelled = await source_control.cancel(
            conn, application_id=key.application_id, job_ids=[id]
        )
        if not cancelled:
            raise Conflict(
                f"a {before.type} job with the status {before.status} cannot be cancelled",
                code="not_cancellable",
            )
        return await find_job(conn, key.application_id, id)


@router.post("/{id}/approve", responses=problems(409))
async def approve_job(id: UUID, pool: PoolDep, key: Editor) -> Job:
    """Approve the step that needs a review, such as the removal of pages."""
    async with transaction(pool) as conn:
        before = await find_job(conn, key.application_id, id)
        if not await reviews.approve(conn, application_id=key.application_id, job_id=id):
            raise _not_reviewable(before)
        return await find_job(conn, key.application_id, id)


@router.post("/{id}/reject", responses=problems(409))
async def reject_job(id: UUID, pool: PoolDep, key: Editor) -> Job:
    """End a job without the step that needs a review. Everything before that step stays."""
    async with transaction(pool) as conn:
        before = await find_job(conn, key.application_id, id)
        if not await reviews.reject(conn, application_id=key.application_id, job_id=id):
            raise _not_reviewable(before)
        return await find_job(conn, key.application_id, id)


def _not_reviewable(job: Job) -> Conflict:
    why = f" ({job.last_error_message})" if job.status == "cancelled" else ""
    return Conflict(f"the job is {job.status}{why} and needs no review", code="not_reviewable")


@router.delete("/{id}", status_code=204, responses=problems(409))
async def delete_job(id: UUID, pool: PoolDep, key: Editor) -> None:
    """Delete a finished job and its log. Its knowledge source stays."""
    async with transaction(pool) as conn:
        job = await find_job(conn, key.application_id, id)
        if not await job_control.delete(conn, application_id=key.application_id, id=id):
            raise Conflict(f"the job is {job.status} and has not ended", code="not_ended")


async def find_job(conn: Connection, application_id: UUID, id: UUID) -> Job:
    """Find the job; raises NotFound if it does not exist or belongs to another application."""
    row = await job_views.get(conn, application_id=application_id, id=id)
    if row is None:
        raise NotFound("job")
    return row
