"""Jobs queued through the API: registered types only, without duplicates."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from ingest.errors import Conflict, NotFound
from ingest.postgres.database import Connection, load_queries
from ingest.quotas import DEFAULTS, Quotas
from ingest.store.limits import usage
from ingest.store.queue import jobs
from ingest.store.queue.jobs import NewJob
from ingest.store.tenants import applications

_SQL = load_queries("queue/job_requests.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """A job to queue. The caller has validated the payload against the job type."""

    application_id: UUID
    type: str
    payload: dict[str, Any]
    source_id: UUID | None = None
    priority: int = 0
    delay: timedelta | None = None
    """Not before now + delay; None: ready at once."""
    idempotency_key: str | None = None
    quotas: Quotas = DEFAULTS
    """The installation's, which the application's settings override."""


async def enqueue(conn: Connection, request: JobRequest) -> UUID:
    """Queue a job, or find an existing one that does the same work; returns its id.

    An existing job matches by idempotency key, or if it waits for its first attempt with the same
    type, payload and source. Raises Conflict if the job with the key does different work, NotFound
    if the application has no such source, QuotaExceeded if it has too many jobs.
    """
    await applications.lock_sources(conn, request.application_id)
    if request.idempotency_key is not None:
        earlier = await _by_key(conn, request)
        if earlier is not None:
            return earlier
    if request.source_id is not None:
        waiting = await _waiting_duplicate(conn, request)
        if waiting is not None:
            return waiting
    await usage.require(conn, request.application_id, request.quotas, jobs=1)
    new = NewJob(
        application_id=request.application_id,
        type=request.type,
        source_id=request.source_id,
        payload=request.payload,
        priority=request.priority,
        idempotency_key=request.idempotency_key,
        delay=request.delay,
    )
    [id] = await jobs.enqueue(conn, [new])
    return id


async def time_until(conn: Connection, time: datetime) -> timedelta | None:
    """Time left until `time`, by the database's clock; None if it has passed."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["time_until"], {"time": time})
        delay: timedelta | None = await cur.fetchone()
    return delay or None


async def _by_key(conn: Connection, request: JobRequest) -> UUID | None:
    cursor = await conn.execute(_SQL["by_key"], _parameters(request))
    row = await cursor.fetchone()
    if row is None:
        return None
    id, is_same = row
    if not is_same:
        raise Conflict(
            "this idempotencyKey belongs to a different job",
            code="idempotency_conflict",
        )
    return UUID(str(id))


async def _waiting_duplicate(conn: Connection, request: JobRequest) -> UUID | None:
    parameters = _parameters(request)
    if await (await conn.execute(_SQL["source"], parameters)).fetchone() is None:
        raise NotFound("knowledge source")
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["waiting_duplicate"], parameters)
        return await cur.fetchone()


def _parameters(request: JobRequest) -> dict[str, Any]:
    return {**asdict(request), "payload": Jsonb(request.payload)}
