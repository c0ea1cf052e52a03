"""Jobs and their logs, as the API returns them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row
from pydantic import Field

from ingest.model import JobStatus
from ingest.postgres.database import Connection, fill_in, load_queries
from ingest.store.view import UtcTime, View

_SQL = load_queries("queue/job_views.sql")


class Job(View):
    id: UUID
    type: str
    status: JobStatus
    stage: str | None
    progress: int
    """Percentage of the current attempt, 0 to 100."""
    attempts: int
    max_attempts: int
    priority: int
    knowledge_source_id: UUID | None
    batch_id: UUID | None
    parent_job_id: UUID | None
    result: dict[str, Any] | None
    embedding_config: dict[str, Any] | None
    last_error_code: str | None
    last_error_message: str | None
    review_reason: str | None
    wait_reason: str | None
    """For a pending job: `paused`, `max_concurrent`, `rate_limited`, or a reason from the handler;
    null: it waits for a free worker."""
    run_at: UtcTime | None
    """For a pending job: not before this time; null: as soon as a worker is free."""
    created_at: UtcTime
    started_at: UtcTime | None
    completed_at: UtcTime | None
    duration_ms: int | None
    """Duration of the last attempt, if the job completed or failed."""
    heartbeat_at: UtcTime | None
    """Last heartbeat of the worker that holds the job."""
    source_name: str | None
    uri: str | None
    """Of the file inside a file, or the page of a site, that the job is for; else of its source."""
    position: int = Field(exclude=True)
    """Order in which jobs were queued."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Which jobs to list; None: any."""

    status: JobStatus | None = None
    type: str | None = None
    source_id: UUID | None = None
    batch_id: UUID | None = None
    parent_id: UUID | None = None
    error_code: str | None = None
    since: datetime | None = None
    """Created then or later; only `job_lists.page` and bulk actions heed this and what follows."""
    text: str | None = None
    """In the name or path of the source, or of the file inside it, in any case."""
    metadata: Mapping[str, Any] | None = None
    """Contained in the metadata of the source."""
    collection_id: UUID | None = None
    """A collection that the source is in."""

    @property
    def needs_scan(self) -> bool:
        return (self.text, self.metadata, self.collection_id) != (None, None, None)


class JobLog(View):
    id: int = Field(exclude=True)
    """Increases in write order."""
    attempt: int
    level: str
    stage: str | None
    message: str
    details: dict[str, Any]
    duration_ms: int | None
    created_at: UtcTime


class OpenJobs(View):
    """Open jobs of a type that run in the same stage or wait for the same reason."""

    status: JobStatus
    type: str
    stage: str | None
    wait_reason: str | None
    """Null: they run, or wait for a free worker."""
    last_error_code: str | None
    last_error_message: str | None
    """The message of one of these jobs."""
    count: int
    until: UtcTime | None
    """When the first of these jobs may continue."""


async def get(conn: Connection, *, application_id: UUID, id: UUID) -> Job | None:
    async with conn.cursor(row_factory=class_row(Job)) as cur:
        await cur.execute(_SQL["get"], {"application_id": application_id, "id": id})
        return await cur.fetchone()


async def list_jobs(
    conn: Connection, *, application_id: UUID, where: JobFilter, limit: int, before: int | None
) -> list[Job]:
    """Jobs, newest first; `before` is the position of the last job of the previous page."""
    page = {"application_id": application_id, "most": limit, "before": before}
    async with conn.cursor(row_factory=class_row(Job)) as cur:
        await cur.execute(list_statement(where), {**asdict(where), **page}, prepare=False)
        return await cur.fetchall()


async def list_ids(
    conn: Connection, *, application_id: UUID, where: JobFilter, limit: int, before: int | None
) -> list[tuple[UUID, int]]:
    """Like `list_jobs`, but returns only ids and positions."""
    page = {"application_id": application_id, "most": limit, "before": before}
    statement = fill_in(_SQL["list_ids"], jobs=jobs_fragment(where))
    cursor = await conn.execute(statement, {**asdict(where), **page}, prepare=False)
    return await cursor.fetchall()


def list_statement(where: JobFilter) -> bytes:
    return fill_in(_SQL["list"], jobs=jobs_fragment(where))


def jobs_fragment(where: JobFilter) -> bytes:
    """The SQL function that has an index for these conditions, and its arguments."""
    others = (where.source_id, where.batch_id, where.parent_id, where.error_code)
    return _SQL["newest" if others == (None,) * 4 else "matching"]


async def open_counts(
    conn: Connection, *, application_id: UUID, where: JobFilter
) -> list[OpenJobs]:
    """Count open jobs by stage or wait reason, largest count first."""
    async with conn.cursor(row_factory=class_row(OpenJobs)) as cur:
        await cur.execute(
            _SQL["open_counts"], {**asdict(where), "application_id": application_id}, prepare=False
        )
        return await cur.fetchall()


async def logs(conn: Connection, job_id: UUID, *, after: int, limit: int) -> list[JobLog]:
    """The job's log after line `after`, oldest first.

    The caller has checked which application owns the job.
    """
    async with conn.cursor(row_factory=class_row(JobLog)) as cur:
        await cur.execute(_SQL["logs"], {"job_id": job_id, "after": after, "limit": limit})
        return await cur.fetchall()


async def newest_logs(conn: Connection, job_id: UUID, *, limit: int) -> list[JobLog]:
    """The last log lines, oldest first. The caller has checked which application owns the job."""
    async with conn.cursor(row_factory=class_row(JobLog)) as cur:
        await cur.execute(_SQL["newest_logs"], {"job_id": job_id, "limit": limit})
        return await cur.fetchall()
