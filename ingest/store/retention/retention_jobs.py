"""Forgetting ended jobs: which may go, how a source lets go of its run, and the removal itself.

The state of a source, its counts and the report of its batch stay what they were.
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
    """The run that it is of: its parent, else itself."""
    source_id: UUID | None
    """The source whose current run that is, if any."""
    application_id: UUID | None
    """Of that source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepJobs:
    """How long jobs are kept after their end. Those that wait for a review are kept in any case."""

    jobs: timedelta
    """Completed and cancelled ones."""
    failed_jobs: timedelta
    """Failed ones, and the current runs of sources that failed or are partial: for a retry."""


async def ended(
    conn: Connection, keep: KeepJobs, *, after: EndedJob | None, limit: int
) -> list[EndedJob]:
    """Up to `limit` jobs that may have been kept long enough, by their end, later than `after`."""
    async with conn.cursor(row_factory=class_row(EndedJob)) as cur:
        await cur.execute(
            _SQL["ended"],
            {
                **_intervals(keep),
                "after_time": after.completed_at if after else None,
                "after_position": after.position if after else None,
                "limit": limit,
            },
        )
        return await cur.fetchall()


async def over(conn: Connection, keep: KeepJobs, root_ids: Sequence[UUID]) -> set[UUID]:
    """Those of the runs all of whose jobs have been kept long enough."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["over"], {**_intervals(keep), "root_ids": list(root_ids)})
        return set(await cur.fetchall())


async def let_go(
    conn: Connection,
    keep: KeepJobs,
    *,
    application_id: UUID,
    source_ids: Sequence[UUID],
    root_ids: Sequence[UUID],
) -> set[UUID]:
    """Cut sources from current runs that are over, with their counts; the ids of those sources.

    The caller holds the application's lock (applications.lock_sources).
    """
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["let_go"],
            {
                **_intervals(keep),
                "application_id": application_id,
                "source_ids": list(source_ids),
                "root_ids": list(root_ids),
            },
        )
        return set(await cur.fetchall())


async def forget(conn: Connection, keep: KeepJobs, jobs: Sequence[EndedJob]) -> int:
    """Remove those of `jobs` whose runs are over, with their logs; how many.

    None is of a source's current run. A root is left while it has children other than these.
    """
    # Asked again: a run without a source may have been queued again meanwhile.
    still_over = await over(conn, keep, list({job.root_id for job in jobs}))
    ids = [job.id for job in jobs if job.root_id in still_over]
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["hold"], {**_intervals(keep), "ids": ids})
        held = await cur.fetchall()
    for statement in ("note_pages", "end_runs", "forget"):
        await conn.execute(_SQL[statement], {"ids": held})
    return len(held)


def _intervals(keep: KeepJobs) -> dict[str, timedelta]:
    return {"jobs": keep.jobs, "failed_jobs": keep.failed_jobs}
