"""Jobs and rows that ended long ago, and what the API shows of their sources."""

from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from ingest.postgres.database import Connection, Pool
from ingest.store.retention.retention_jobs import JobRetention
from ingest.store.sources import batch_views, progress
from ingest.ticks.retention import Retention, apply_retention
from tests.support.queue_builders import enqueue

DAY = timedelta(days=1)
KEEP = Retention(
    jobs=JobRetention(jobs=30 * DAY, failed_jobs=90 * DAY),
    events=7 * DAY,
    answers=7 * DAY,
    deliveries=30 * DAY,
    deleted=30 * DAY,
    runs=90 * DAY,
    activity=90 * DAY,
)


async def add_ended(
    conn: Connection,
    application_id: UUID,
    *,
    days: float,
    status: str = "completed",
    count: int = 1,
    **job: Any,
) -> list[UUID]:
    """Add jobs that ended this many days ago."""
    ids = await enqueue(conn, application_id, count, **job)
    await end_jobs(conn, ids, days=days, status=status)
    return ids


async def end_jobs(
    conn: Connection, ids: list[UUID], *, days: float, status: str = "completed"
) -> None:
    await conn.execute(
        "update rag.processing_jobs set status = %s, completed_at = now() - %s::interval, "
        "last_error_code = case when %s = 'failed' then 'corrupt' end where id = any(%s)",
        [status, timedelta(days=days), status, ids],
    )


async def jobs_left(conn: Connection) -> set[UUID]:
    return {
        id for (id,) in await (await conn.execute("select id from rag.processing_jobs")).fetchall()
    }


async def clean(pool: Pool, **keep: Any) -> dict[str, int]:
    """Remove expired rows without a short time limit; returns the number of rows by kind."""
    return await apply_retention(pool, replace(KEEP, **keep), budget=timedelta(hours=1))


async def seen(conn: Connection, application_id: UUID) -> dict[str, Any]:
    """All that the API shows of an application's sources and batches, except ids of jobs."""
    cursor = await conn.execute(
        "select id from rag.knowledge_sources where application_id = %s", [application_id]
    )
    sources = [id for (id,) in await cursor.fetchall()]
    states = await progress.of_sources(conn, application_id=application_id, ids=sources)
    cursor = await conn.execute(
        "select id from rag.upload_batches where application_id = %s", [application_id]
    )
    reports = {}
    for (batch_id,) in await cursor.fetchall():
        async with conn.transaction():
            reports[batch_id] = await batch_views.report(
                conn, application_id=application_id, id=batch_id
            )
    return {
        "sources": {state.id: asdict(state) for state in states},
        "application": await progress.of_application(conn, application_id=application_id),
        "reports": reports,
    }
