"""Switches of the whole installation: the global pause, the configuration of job types."""

from dataclasses import asdict, dataclass
from datetime import timedelta

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from ingest.db import Connection, load_queries
from ingest.store.job_control import JobType
from ingest.store.jobs import wake

_SQL = load_queries("worker_config.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTypeChange:
    """New values; None: leave as it is."""

    is_enabled: bool | None = None
    is_paused: bool | None = None
    max_attempts: int | None = None
    """Of jobs that are enqueued from now on."""
    backoff_base: timedelta | None = None
    backoff_cap: timedelta | None = None
    timeout: timedelta | None = None


async def is_paused(conn: Connection) -> bool:
    """Whether the workers claim nothing at all."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["get"], {"key": "paused"})
        return bool(await cur.fetchone())


async def set_paused(conn: Connection, paused: bool) -> None:
    await conn.execute(_SQL["put"], {"key": "paused", "value": Jsonb(paused)})
    await wake(conn)


async def edit_job_type(conn: Connection, type: str, change: JobTypeChange) -> JobType | None:
    """Change a job type's configuration; None when there is no such type."""
    async with conn.cursor(row_factory=class_row(JobType)) as cur:
        await cur.execute(_SQL["edit_job_type"], {"type": type, **asdict(change)})
        changed = await cur.fetchone()
    await wake(conn)
    return changed


async def applied_migrations(conn: Connection) -> set[int]:
    """Versions that the database has."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["applied_migrations"])
        return set(await cur.fetchall())
