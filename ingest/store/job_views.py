"""Jobs and their logs as people read them."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal
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
    result: dict[str, Any] | None
    embedding_config: dict[str, Any] | None
    last_error_code: str | None
    last_error_message: str | None
    review_reason: str | None
    wait_reason: str | None
    """Of a waiting job: `paused`, `max_concurrent`, `rate_limited`, or what its handler said; None:
    it only waits for a free worker."""
    run_at: datetime | None
    """Of a waiting job; None: as soon as a worker is free."""
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    duration_ms: int | None
    """Of the last attempt of a job that has ended."""
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
    parent_id: UUID | None = None
    error_code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLogView:
    id: int
    """Order of writing."""
    attempt: int
    level: str
    stage: str | None
    message: str
    details: dict[str, Any]
    duration_ms: int | None
    created_at: datetime


async def get(conn: Connection, *, application_id: UUID, id: UUID) -> JobView | None:
    parameters = {"application_id": application_id, "id": id, "limit": 1}
    async with conn.cursor(row_factory=class_row(JobView)) as cur:
        await cur.execute(statement("job", ["id"]), parameters)
        return await cur.fetchone()


async def list_jobs(
    conn: Connection, *, application_id: UUID, where: JobFilter, limit: int, before: int | None
) -> list[JobView]:
    """Newest first; `before` is the position of the last one that was seen."""
    given = _given(where, before)
    async with conn.cursor(row_factory=class_row(JobView)) as cur:
        await cur.execute(
            statement("job", given),
            {**given, "application_id": application_id, "limit": limit},
            prepare=False,
        )
        return await cur.fetchall()


async def list_ids(
    conn: Connection, *, application_id: UUID, where: JobFilter, limit: int, before: int | None
) -> list[tuple[UUID, int]]:
    """As `list_jobs`, but only ids and positions."""
    given = _given(where, before)
    cursor = await conn.execute(
        statement("id", given),
        {**given, "application_id": application_id, "limit": limit},
        prepare=False,
    )
    return await cursor.fetchall()


def statement(kind: Literal["job", "id"], conditions: Iterable[str]) -> bytes:
    """A list with these conditions and no others.

    One statement for each combination: a condition such as `x is null or …` would hide from the
    planner which index serves. For the same reason a list is never to be prepared: which index
    serves depends on the values; the plan for any values took a second where another took 10 ms.
    """
    wheres = [_SQL[f"where_{name}"] for name in conditions]
    return b"\n".join([_SQL[f"{kind}_head"], *wheres, _SQL[f"{kind}_tail"]])


def _given(where: JobFilter, before: int | None) -> dict[str, Any]:
    values = {**asdict(where), "before": before}
    return {name: value for name, value in values.items() if value is not None}


async def logs(conn: Connection, job_id: UUID, *, after: int, limit: int) -> list[JobLogView]:
    """The audit trail, oldest first, from behind the line `after`.

    The caller has proved whose job it is.
    """
    async with conn.cursor(row_factory=class_row(JobLogView)) as cur:
        await cur.execute(_SQL["logs"], {"job_id": job_id, "after": after, "limit": limit})
        return await cur.fetchall()


async def newest_logs(conn: Connection, job_id: UUID, *, limit: int) -> list[JobLogView]:
    """The end of the audit trail, oldest first. The caller has proved whose job it is."""
    async with conn.cursor(row_factory=class_row(JobLogView)) as cur:
        await cur.execute(_SQL["newest_logs"], {"job_id": job_id, "limit": limit})
        return await cur.fetchall()
