"""The job queue: enqueue, hold, finish, recover. Claiming is in claims.py."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeVar
from uuid import UUID

from psycopg.rows import class_row, dict_row, scalar_row
from psycopg.types.json import Jsonb

from ingest.model import JobStatus, ReviewReason
from ingest.observability import tracing
from ingest.payloads import Payload
from ingest.postgres.database import Connection, Pool, load_queries, new_id

_SQL = load_queries("queue/jobs.sql")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job to enqueue."""

    application_id: UUID
    type: str
    source_id: UUID | None = None
    batch_id: UUID | None = None
    parent_job_id: UUID | None = None
    payload: Payload | Mapping[str, Any] = field(default_factory=dict)
    """The model of a built-in type (payloads.py), JSON of any other. It holds identifiers, never
    content or secrets."""
    priority: int = 0
    idempotency_key: str | None = None
    user_id: str | None = None
    delay: timedelta | None = None
    """Not before now + delay; None: ready at once."""
    traceparent: str | None = None
    """W3C trace context of the request; None: use the current span."""
    id: UUID = field(default_factory=new_id)


class ClaimedJob(NamedTuple):
    """A job that we own until its fence moves. NamedTuple: cheap to construct."""

    id: UUID
    application_id: UUID
    knowledge_source_id: UUID | None
    batch_id: UUID | None
    parent_job_id: UUID | None
    type: str
    payload: dict[str, Any]
    """JSON, as stored. Handlers of built-in types read it through its model: `FilePayload.of(job)`
    (payloads.py)."""
    priority: int
    attempts: int
    max_attempts: int
    fence: int
    position: int
    traceparent: str | None = None


@dataclass(slots=True, kw_only=True)
class Ended:
    """How an attempt ended. Not frozen: that would take three times as long to construct."""

    job: ClaimedJob
    status: JobStatus
    delay: timedelta | None = None
    """With status `pending`: delay before the job is ready; None: ready at once."""
    wait_reason: str | None = None
    refund: bool = False
    """Do not count the attempt, because the job did not cause its end."""
    error_code: str | None = None
    error_message: str | None = None
    stage: str | None = None
    """The stage that the attempt reached."""
    embedding_config: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    review_reason: ReviewReason | None = None

    @property
    def updates_job_only(self) -> bool:
        """Completed with nothing to update but the job: no source, no parent, no results."""
        return (
            self.status == "completed"
            and self.job.knowledge_source_id is None
            and self.job.parent_job_id is None
            and self.stage is None
            and self.result is None
            and self.embedding_config is None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    id: UUID
    knowledge_source_id: UUID | None
    status: JobStatus
    attempts: int
    type: str


async def enqueue(conn: Connection, jobs: Sequence[NewJob]) -> list[UUID]:
    """Insert jobs in the caller's transaction and wake a worker when it commits.

    Returns job ids in order; for a known idempotency key, the id of the existing job.
    Raises LookupError for a job type that is not registered.
    """
    if not jobs:
        return []
    values = _columns(jobs)
    [(inserted, ids, _)] = await (await conn.execute(_SQL["enqueue"], values)).fetchall()
    if inserted == len(jobs):
        return [job.id for job in jobs]
    if not values["keys"]:
        raise LookupError("jobs of a type that is not registered")
    new = set(ids or [])
    earlier = await _by_idempotency_key(conn, jobs)
    return [job.id if job.id in new else earlier[job.idempotency_key] for job in jobs]


def _columns(jobs: Sequence[NewJob]) -> dict[str, Any]:
    asked_in = tracing.traceparent()
    return {
        "ids": [job.id for job in jobs],
        "application_ids": [job.application_id for job in jobs],
        "source_ids": _column_or_empty([job.source_id for job in jobs]),
        "batch_ids": _column_or_empty([job.batch_id for job in jobs]),
        "parent_ids": _column_or_empty([job.parent_job_id for job in jobs]),
        "types": [job.type for job in jobs],
        "priorities": [job.priority for job in jobs],
        "payloads": [_json(job.payload) for job in jobs],
        "keys": _column_or_empty([job.idempotency_key for job in jobs]),
        "user_ids": _column_or_empty([job.user_id for job in jobs]),
        "delays": _column_or_empty([job.delay for job in jobs]),
        "traceparents": _column_or_empty([job.traceparent or asked_in for job in jobs]),
    }


def _json(payload: Payload | Mapping[str, Any]) -> str:
    if isinstance(payload, Payload):
        return payload.to_json()
    return json.dumps(payload) if payload else "{}"


def _column_or_empty(values: list[T | None]) -> list[T | None]:
    """A column for `unnest`; empty if all values are None, since `unnest` pads with nulls."""
    return values if any(value is not None for value in values) else []


async def _by_idempotency_key(conn: Connection, jobs: Sequence[NewJob]) -> dict[str | None, UUID]:
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(
            _SQL["by_idempotency_key"],
            {
                "application_ids": list({job.application_id for job in jobs}),
                "keys": [job.idempotency_key for job in jobs if job.idempotency_key],
            },
        )
        return {row["key"]: row["id"] for row in await cur.fetchall()}


async def wake(conn: Connection, payload: Literal["", "cancel"] = "") -> None:
    """Notify workers at commit to look for work, or for cancelled jobs."""
    await conn.execute(_SQL["wake"], {"payload": payload})


async def complete(pool: Pool, jobs: Sequence[ClaimedJob]) -> set[int]:
    """Complete jobs that changed nothing else; returns the positions of those we still owned."""
    ordered = sorted(jobs, key=attrgetter("id.int"))
    completed: list[int] = await pool.run_alone(
        _SQL["complete"],
        {"ids": [job.id for job in ordered], "fences": [job.fence for job in ordered]},
        row_factory=scalar_row,
        options=_SQL["plan_complete"],
    )
    return set(completed)


async def hold(conn: Connection, jobs: Sequence[ClaimedJob]) -> set[UUID]:
    """Lock the jobs we still own until the transaction ends; returns their ids."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["hold"], {"ids": [job.id for job in jobs], "fences": [job.fence for job in jobs]}
        )
        return set(await cur.fetchall())


async def finish(conn: Connection, ended: Sequence[Ended]) -> set[UUID]:
    """End attempts of jobs we still own; returns their ids. Other jobs are left unchanged."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["finish"],
            {
                "ids": [end.job.id for end in ended],
                "fences": [end.job.fence for end in ended],
                "statuses": [end.status for end in ended],
                "delays": [end.delay for end in ended],
                "wait_reasons": [end.wait_reason for end in ended],
                "refunds": [int(end.refund) for end in ended],
                "codes": [end.error_code for end in ended],
                "messages": [end.error_message for end in ended],
                "stages": [end.stage for end in ended],
                "configs": [_jsonb(end.embedding_config) for end in ended],
                "results": [_jsonb(end.result) for end in ended],
                "review_reasons": [end.review_reason for end in ended],
            },
        )
        return set(await cur.fetchall())


def _jsonb(value: dict[str, Any] | None) -> Jsonb | None:
    return None if value is None else Jsonb(value)


async def report_progress(
    conn: Connection, seen: Sequence[tuple[ClaimedJob, str | None, int]]
) -> set[UUID]:
    """Write stage and percent of running jobs; returns the ids of those we still own."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["report_progress"],
            {
                "ids": [job.id for job, _, _ in seen],
                "fences": [job.fence for job, _, _ in seen],
                "stages": [stage for _, stage, _ in seen],
                "progress": [percent for _, _, percent in seen],
            },
        )
        return set(await cur.fetchall())


async def recover(conn: Connection, *, stale_after: timedelta) -> list[Recovered]:
    """Recover up to 1,000 jobs of workers without a heartbeat for `stale_after`."""
    async with conn.cursor(row_factory=class_row(Recovered)) as cur:
        await cur.execute(_SQL["recover"], {"stale_after": stale_after})
        return await cur.fetchall()


async def release_abandoned(
    conn: Connection, *, worker: UUID, running: Sequence[UUID]
) -> list[Recovered]:
    """Release jobs that are locked by this worker but that it does not run."""
    async with conn.cursor(row_factory=class_row(Recovered)) as cur:
        await cur.execute(_SQL["release_abandoned"], {"worker": worker, "running": list(running)})
        return await cur.fetchall()


async def resume_parents(conn: Connection, ended: Sequence[Ended]) -> None:
    """Resume parents (wait reason `pages` or `members`) that have no open children left."""
    parents = {
        end.job.parent_job_id for end in ended if end.job.parent_job_id and end.status != "pending"
    }
    if not parents:
        return
    resumed = await conn.execute(_SQL["resume_parents"], {"ids": list(parents)})
    if resumed.rowcount:
        await wake(conn)


async def resume(conn: Connection, id: UUID) -> None:
    """Make a delayed job ready now."""
    resumed = await conn.execute(_SQL["resume"], {"id": id})
    if resumed.rowcount:
        await wake(conn)


async def open_children(conn: Connection, id: UUID) -> int:
    """Number of child jobs that have not ended."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["open_children"], {"id": id})
        return int(await cur.fetchone() or 0)
