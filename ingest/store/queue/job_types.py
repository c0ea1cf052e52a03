"""Job types: how each kind of job is run. All applications share them."""

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from psycopg.errors import ForeignKeyViolation
from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from ingest.errors import Conflict
from ingest.postgres.database import Connection, load_queries
from ingest.store.queue.jobs import wake

_SQL = load_queries("queue/job_types.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobType:
    type: str
    handler: str
    """Name of the handler that runs it (handlers/registry.py)."""
    max_attempts: int
    """Of jobs that are enqueued from now on."""
    backoff_base: timedelta
    backoff_cap: timedelta
    timeout: timedelta
    """Of one attempt."""
    stage_timeout: timedelta
    """Longest time in which an attempt may not get on."""
    max_concurrent: int | None = None
    """Of all workers together; None: as many as there are slots."""
    rate_per_minute: int | None = None
    """Attempts that may start, of all workers together; None: any number."""
    payload_schema: dict[str, Any] | None = None
    """JSON Schema; None: people cannot queue such jobs."""
    is_built_in: bool = False
    is_enabled: bool = True
    is_paused: bool = False


async def all_types(conn: Connection) -> list[JobType]:
    """By name."""
    async with conn.cursor(row_factory=class_row(JobType)) as cur:
        await cur.execute(_SQL["all"])
        return await cur.fetchall()


async def get(conn: Connection, type: str) -> JobType | None:
    async with conn.cursor(row_factory=class_row(JobType)) as cur:
        await cur.execute(_SQL["get"], {"type": type})
        return await cur.fetchone()


async def add(conn: Connection, job_type: JobType) -> None:
    """Register a type; its jobs can be queued from the commit on.

    Raises Conflict when there is one of this name.
    """
    added = await conn.execute(_SQL["add"], _row(job_type))
    if added.rowcount == 0:
        raise Conflict(f"there is a job type {job_type.type}", code="job_type_exists")


async def is_reserved(conn: Connection, handler: str) -> bool:
    """Whether a built-in type has this handler, which then trusts the payload."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["is_reserved"], {"handler": handler})
        return bool(await cur.fetchone())


async def delete(conn: Connection, type: str) -> bool:
    """Remove a type that was added; False when there is no such type.

    Raises Conflict while a job of it is kept: the log of that would lose its meaning.
    """
    try:
        async with conn.transaction():
            deleted = await conn.execute(_SQL["delete"], {"type": type})
    except ForeignKeyViolation:
        raise Conflict(f"there are jobs of the type {type}", code="job_type_in_use") from None
    await conn.execute(_SQL["forget_rate"], {"type": type})
    return deleted.rowcount == 1


async def lock(conn: Connection, type: str) -> JobType | None:
    """The type, until the end of the transaction as it is here; None when there is none."""
    async with conn.cursor(row_factory=class_row(JobType)) as cur:
        await cur.execute(_SQL["lock"], {"type": type})
        return await cur.fetchone()


async def write(conn: Connection, job_type: JobType) -> None:
    """Replace what is configured of a type that `lock` returned.

    No claim that ends after the caller's transaction has gone by the old configuration.
    """
    await conn.execute(_SQL["take_switches"])
    await conn.execute(_SQL["write"], _row(job_type))
    await wake(conn)


def _row(job_type: JobType) -> dict[str, Any]:
    schema = job_type.payload_schema
    return {**asdict(job_type), "payload_schema": None if schema is None else Jsonb(schema)}
