"""Jobs and their logs as people read them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from ingest.db import Connection, load_queries
from ingest.model import JobStatus

_SQL = load_queries("job_views.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    id: UUID
    type: str
    status: JobStatus
    stage: str | None
    progress: int
    """Percent of the current attempt, 0 to 100."""
    attempts: int
    max_attempts: int
    priority: int
    knowledge_source_id: UUID | None
    batch_id: UUID | None
    parent_job_id: UUID | None
    payload: dict[str, Any]
    result: dict[str, Any] | None
    embedding_config: dict[str, Any] | None
    last_error_code: str | None
    last_error_message: str | None
    wait_reason: str | None
    run_at: datetime | None
    """Of a waiting job; None: as soon as a worker is free."""
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    heartbeat_at: datetime | None
    """When the worker that holds the job was last heard of."""
    position: int
    """Order of arrival."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Which jobs to list; None: any."""

    status: JobStatus | None = None
    type: str | None = None
    source_id: UUID | None = None
    batch_id: UUID | None = None
    error_code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLogView:
    attempt: int
    level: str
    stage: str | None
    message: str
    details: dict[str, Any]
    duration_ms: int | None
    created_at: datetime


async def get(conn: Connection, *, application_id: UUID, id: UUID) -> JobView | None:
    async with conn.cursor(row_factory=class_row(JobView)) as cur:
        await cur.execute(_SQL["get"], {"application_id": application_id, "id": id})
        return await cur.fetchone()


async def list_jobs(
    conn: Connection, *, application_id: UUID, where: JobFilter, limit: int, before: int | None
) -> list[JobView]:
    """Newest first; `before` is the position of the last one that was seen."""
    async with conn.cursor(row_factory=class_row(JobView)) as cur:
        await cur.execute(
            _SQL["list"],
            {
                "application_id": application_id,
                "status": where.status,
                "type": where.type,
                "source_id": where.source_id,
                "batch_id": where.batch_id,
                "error_code": where.error_code,
                "before": before,
                "limit": limit,
            },
        )
        return await cur.fetchall()


async def logs(conn: Connection, job_id: UUID) -> list[JobLogView]:
    """The job's audit trail, oldest first. The caller has proved whose job it is."""
    async with conn.cursor(row_factory=class_row(JobLogView)) as cur:
        await cur.execute(_SQL["logs"], {"job_id": job_id})
        return await cur.fetchall()
