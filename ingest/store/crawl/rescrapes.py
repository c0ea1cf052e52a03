"""Schedule rescrapes of `url` and `site` sources, and start those that are due."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from psycopg.rows import class_row, dict_row, scalar_row

from ingest.errors import Conflict
from ingest.postgres.database import Connection, load_queries
from ingest.scheduling import recurrence
from ingest.scheduling.recurrence import Recurrence
from ingest.store.crawl import runs
from ingest.store.tenants import applications

_SQL = load_queries("crawl/rescrapes.sql")

# Jitter: sources due at the same time start spread over half an hour.
_SPREAD: Final = timedelta(minutes=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueSource:
    id: UUID
    application_id: UUID


async def set_schedule(
    conn: Connection, *, application_id: UUID, source_id: UUID, schedule: Recurrence | None
) -> bool:
    """Set a source's schedule, or None for the nightly default; False if the source is missing.

    Raises Conflict for a file, which has no address.
    """
    await applications.lock_sources(conn, application_id)
    row = await _one(conn, "source", application_id=application_id, id=source_id)
    if row is None:
        return False
    if row["type"] == "file":
        raise Conflict("a file cannot be fetched again: it has no URL", code="not_rescrapable")
    await conn.execute(
        _SQL["set_schedule"],
        {
            "id": source_id,
            "cron": schedule.cron if schedule else None,
            "timezone": schedule.timezone if schedule else None,
            "next_rescrape_at": _next_run(source_id, schedule, after=row["now"]),
        },
    )
    return True


async def make_nightly_due(
    conn: Connection, *, after: UUID | None, limit: int = 1000
) -> UUID | None:
    """Set the next rescrape for up to `limit` sources without a schedule.

    Takes sources by id, starting after `after`; returns the last id, or None if none was left.
    """
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["nightly"], {"after": after, "limit": limit})
        ids: Sequence[UUID] = await cur.fetchall()
    if not ids:
        return None
    delays = [recurrence.jitter(id, within=_SPREAD) for id in ids]
    await conn.execute(_SQL["make_due"], {"ids": list(ids), "delays": delays})
    return ids[-1]


async def due(conn: Connection, *, limit: int) -> list[DueSource]:
    """Up to `limit` due sources, the longest overdue first."""
    async with conn.cursor(row_factory=class_row(DueSource)) as cur:
        await cur.execute(_SQL["due"], {"limit": limit})
        return await cur.fetchall()


async def start_if_due(conn: Connection, source: DueSource) -> bool:
    """Start a run if the source is still due, and set its next time; False if none was started.

    Missed times are not made up for: at most one run starts, and none while one is open.
    """
    await applications.lock_sources(conn, source.application_id)
    row = await _one(conn, "still_due", application_id=source.application_id, id=source.id)
    if row is None:
        return False
    schedule = None
    if row["cron"] is not None:
        schedule = Recurrence(cron=row["cron"], timezone=row["timezone"])
    run = await runs.rescrape(
        conn,
        application_id=source.application_id,
        source_id=source.id,
        priority=runs.RESCRAPE_PRIORITY,
    )
    next_run = _next_run(source.id, schedule, after=row["now"])
    await conn.execute(_SQL["set_next"], {"id": source.id, "next_rescrape_at": next_run})
    return run is not None and run.is_new


def _next_run(id: UUID, schedule: Recurrence | None, *, after: datetime) -> datetime | None:
    if schedule is None:
        return None
    jitter = recurrence.jitter(id, within=_SPREAD)
    return recurrence.next_run(schedule, after=after, jitter=jitter)


async def _one(conn: Connection, query: str, **values: Any) -> dict[str, Any] | None:
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(_SQL[query], values)
        return await cur.fetchone()
