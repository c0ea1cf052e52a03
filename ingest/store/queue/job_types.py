"""Job types: the settings by which jobs run. All applications share them."""

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from psycopg.errors import ForeignKeyViolation
from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from ingest.errors import Conflict
from ingest.postgres.database import Connection, load_queries
from ingest.store.queue.config_lock import lock_config_exclusive
from ingest.store.queue.jobs import wake

_SQL = load_queries("queue/job_types.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobType:
    type: str
    handler: str
    """Name of the handler that runs it (handlers/registry.py)."""
    max_attempts: int
    """For jobs enqueued from now on."""
    backoff_base: timedelta
    backoff_cap: timedelta
    timeout: timedelta
    """Limit for one attempt."""
    stage_timeout: timedelta
    """Longest time an attempt may run without progress."""
    max_concurrent: int | None = None
    """Over all workers; None: limited only by their slots."""
    rate_per_minute: int | None = None
    """Attempts that may start, over all workers; None: no limit."""
    payload_schema: dict[str, Any] | None = None
    """JSON Schema; None: jobs of this type cannot be queued through the API."""
    is_built_in: bool = False
    is_enabled: bool = True
    is_paused: bool = False


async def all_types(conn: Connection) -> list[JobType]:
    """Sorted by name."""
    async with conn.cursor(row_factory=class_row(JobType)) as cur:
        await cur.execute(_SQL["all"])
        return await cur.fetchall()


async def get(conn: Connection, type: str) -> JobType | None:
    async with conn.cursor(row_factory=class_row(JobType)) as cur:
        await cur.execute(_SQL["get"], {"type": type})
        return await cur.fetchone()


async def add(conn: Connection, job_type: JobType) -> None:
    """Register a type; its jobs can be queued after commit.

    Raises Conflict if a type of this name exists.
    """
    added = await conn.execute(_SQL["add"], _row(job_type))
    if added.rowcount == 0:
        raise Conflict(f"the job type {job_type.type} already exists", code="job_type_exists")


async def is_reserved(conn: Connection, handler: str) -> bool:
    """Whether a built-in type uses this handler; such handlers trust their payloads."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["is_reserved"], {"handler": handler})
        return bool(await cur.fetchone())


async def delete(conn: Connection, type: str) -> bool:
    """Remove a type that is not built in; False if there is no such type.

    Raises Conflict while jobs of the type exist, since their logs refer to it.
    """
    try:
        async with conn.transaction():
            deleted = await conn.execute(_SQL["delete"], {"type": type})
    except ForeignKeyViolation:
        raise Conflict(f"the job type {type} still has jobs", code="job_type_in_use") from None
    await conn.execute(_SQL["forget_rate"], {"type": type})
    return deleted.rowcount == 1


async def lock(conn: Connection, type: str) -> JobType | None:
    """Read a type and lock it until the transaction ends; None if there is none."""
    async with conn.cursor(row_factory=class_row(JobType)) as cur:
        await cur.execute(_SQL["lock"], {"type": type})
        return await cur.fetchone()


async def write(conn: Connection, job_type: JobType) -> None:
    """Replace the settings of a type that `lock` returned.

    Blocks claims until the caller's transaction ends; later claims use the new settings.
    """
    await lock_config_exclusive(conn)
    await conn.execute(_SQL["write"], _row(job_type))
    await wake(conn)


def _row(job_type: JobType) -> dict[str, Any]:
    schema = job_type.payload_schema
    return {**asdict(job_type), "payload_schema": None if schema is None else Jsonb(schema)}
