"""Delete ended jobs: find candidates, detach sources from their current runs, delete.

A source's status and counts and its batch's report stay unchanged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("retention/retention_jobs.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedJob:
    id: UUID
    completed_at: datetime
    position: int
    root_id: UUID
    """The root job of its run: its parent, else the job itself."""
    source_id: UUID | None
    """The source that has this run as its current one, if any."""
    application_id: UUID | None
    """The application of that source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRetention:
    """How long jobs are kept after their end. Jobs awaiting review are always kept."""

    jobs: timedelta
    """For completed and cancelled jobs."""
    failed_jobs: timedelta
    """For failed jobs, and current runs of failed or partial sources, so they can be retried."""


async def list_ended(
    conn: Connection, periods: JobRetention, *, after: EndedJob | None, limit: int
) -> list[EndedJob]:
    """Up to `limit` jobs that may have expired, in order of their end, starting after `after`."""
    async with conn.cursor(row_factory=class_row(EndedJob)) as cur:
        await cur.execute(
            _SQL["list_ended"],
            {
                **_intervals(periods),
                "after_time": after.completed_at if after else None,
                "after_position": after.position if after else None,
                "limit": limit,
            },
        )
        return await cur.fetchall()


async def expired_runs(
    conn: Connection, periods: JobRetention, root_ids: Sequence[UUID]
) -> set[UUID]:
    """The runs of which all jobs have expired."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["expired_runs"], {**_intervals(periods), "root_ids": list(root_ids)})
        return set(await cur.fetchall())


async def detach_sources(
    conn: Connection,
    periods: JobRetention,
    *,
    application_id: UUID,
    source_ids: Sequence[UUID],
    root_ids: Sequence[UUID],
) -> set[UUID]:
    """Detach sources from expired current runs and save the counts; return the detached sources.

    The caller holds the application's lock (applications.lock_sources).
    """
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["detach_sources"],
            {
                **_intervals(periods),
                "application_id": application_id,
                "source_ids": list(source_ids),
                "root_ids": list(root_ids),
            },
        )
        return set(await cur.fetchall())


async def forget(conn: Connection, periods: JobRetention, jobs: Sequence[EndedJob]) -> int:
    """Delete the jobs of expired runs, with their logs; return how many.

    No job may belong to a source's current run. A root job stays while it has other children.
    """
    # Checked again: a run without a source may have been requeued meanwhile.
    still_expired = await expired_runs(conn, periods, list({job.root_id for job in jobs}))
    ids = [job.id for job in jobs if job.root_id in still_expired]
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["hold"], {**_intervals(periods), "ids": ids})
        held = await cur.fetchall()
    for statement in ("note_pages", "end_runs", "forget"):
        await conn.execute(_SQL[statement], {"ids": held})
    return len(held)


def _intervals(periods: JobRetention) -> dict[str, timedelta]:
    return {"jobs": periods.jobs, "failed_jobs": periods.failed_jobs}
