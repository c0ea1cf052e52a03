"""Jobs and their logs, as the API returns them."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, NamedTuple, get_args
from uuid import UUID

from psycopg.rows import class_row
from pydantic import Field

from ingest.model import JobStatus
from ingest.postgres.database import Connection, load_queries
from ingest.store.view import UtcTime, View

_SQL = load_queries("queue/job_views.sql")

_NEWEST: Final = 2**63 - 1


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
    parameters = {"application_id": application_id, "id": id, "limit": 1}
    async with conn.cursor(row_factory=class_row(Job)) as cur:
        await cur.execute(_statement("job", ["id"]), parameters)
        return await cur.fetchone()


async def list_jobs(
    conn: Connection, *, application_id: UUID, where: JobFilter, limit: int, before: int | None
) -> list[Job]:
    """Newest first; `before` is the position of the last job of the previous page."""
    query = listing("job", where, application_id=application_id, limit=limit, before=before)
    async with conn.cursor(row_factory=class_row(Job)) as cur:
        await cur.execute(query.statement, query.parameters, prepare=False)
        return await cur.fetchall()


async def list_ids(
    conn: Connection, *, application_id: UUID, where: JobFilter, limit: int, before: int | None
) -> list[tuple[UUID, int]]:
    """Like `list_jobs`, but returns only ids and positions."""
    query = listing("id", where, application_id=application_id, limit=limit, before=before)
    cursor = await conn.execute(query.statement, query.parameters, prepare=False)
    return await cursor.fetchall()


class Query(NamedTuple):
    statement: bytes
    parameters: Mapping[str, Any]


def listing(
    kind: Literal["job", "id"],
    where: JobFilter,
    *,
    application_id: UUID,
    limit: int,
    before: int | None,
) -> Query:
    """Build a list query that contains only the given conditions.

    Each combination gets its own statement: `x is null or …` would hide from the planner which
    index fits. Never prepare a list for the same reason: the best index depends on the values. The
    generic plan took a second where a custom plan took 10 ms.
    """
    given = {name: value for name, value in asdict(where).items() if value is not None}
    parameters = {**given, "application_id": application_id, "limit": limit}
    if given.keys() <= {"status", "type"}:
        parameters |= {
            "statuses": [where.status] if where.status else list(get_args(JobStatus)),
            "type": where.type,
            "before": _NEWEST if before is None else before,
        }
        return Query(_statement(kind, [], jobs=_SQL["newest"]), parameters)
    if before is not None:
        given["before"] = parameters["before"] = before
    return Query(_statement(kind, given), parameters)


def _statement(
    kind: Literal["job", "id"], conditions: Iterable[str], *, jobs: bytes = b"rag.processing_jobs"
) -> bytes:
    wheres = [_SQL[f"where_{name}"] for name in conditions]
    head = _SQL[f"{kind}_head"].replace(b"{jobs}", jobs)
    held = [_SQL["held"]] if kind == "job" else []
    return b"\n".join([*held, head, *wheres, _SQL[f"{kind}_tail"]])


async def open_counts(
    conn: Connection, *, application_id: UUID, where: JobFilter
) -> list[OpenJobs]:
    """Count open jobs by stage or wait reason, largest count first."""
    given = {name: value for name, value in asdict(where).items() if value is not None}
    wheres = b"\n".join(_SQL[f"where_{name}"] for name in given)
    statement = b"\n".join([_SQL["held"], _SQL["open_counts"].replace(b"{where}", wheres)])
    async with conn.cursor(row_factory=class_row(OpenJobs)) as cur:
        await cur.execute(statement, {**given, "application_id": application_id}, prepare=False)
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
