"""Approve or reject jobs that wait for a review.

A review holds back a new version of a file (held_documents.py) or the removal of many pages of a
site. Both functions run in the caller's transaction and lock the application first.
"""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row, dict_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.crawl import crawls, site_documents
from ingest.store.documents import held_documents
from ingest.store.queue import job_logs
from ingest.store.queue.job_control import ChangedJob
from ingest.store.sources import job_events, sources
from ingest.store.tenants import applications

_SQL = load_queries("queue/reviews.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class _DecidedReview:
    id: UUID
    knowledge_source_id: UUID | None
    attempts: int
    reason: str | None


async def approve(conn: Connection, *, application_id: UUID, job_id: UUID) -> bool:
    """Complete a job and apply the changes it held back; False if it waits for no review."""
    job = await _decide(conn, "approve", application_id=application_id, job_id=job_id)
    if job is None:
        return False
    run = await _lock_run(conn, job_id)
    if job.knowledge_source_id is not None:
        await sources.lock(conn, [job.knowledge_source_id])
    await held_documents.publish(conn, job_id)
    if run is not None:
        crawl_id, source_id = run
        locked = await crawls.lock(conn, crawl_id, source_id=source_id, job_id=job_id)
        # Read again: a retry may have found a page in the meantime.
        unseen = await site_documents.unseen(
            conn, source_id=source_id, crawl_id=crawl_id, variants=locked.settings.variants
        )
        removed = await site_documents.remove(conn, unseen)
        await site_documents.list_unseen(conn, unseen, crawl_id=crawl_id, status="removed")
        await site_documents.recount(conn, source_id=source_id, crawl_id=crawl_id)
        await crawls.write_digest(conn, crawl_id, removed=removed, held=0)
    await job_events.jobs_changed(conn, [job], job_status="completed")
    return True


async def reject(conn: Connection, *, application_id: UUID, job_id: UUID) -> bool:
    """Cancel a job and discard the changes it held back; False if it waits for no review."""
    job = await _decide(conn, "reject", application_id=application_id, job_id=job_id)
    if job is None:
        return False
    run = await _lock_run(conn, job_id)
    await held_documents.drop(conn, [job_id])
    if run is not None:
        await site_documents.decide_held(conn, run[0], status="kept")
        await crawls.write_digest(conn, run[0], held=0)
    await job_events.jobs_changed(conn, [job], job_status="cancelled")
    return True


async def _decide(
    conn: Connection,
    decision: Literal["approve", "reject"],
    *,
    application_id: UUID,
    job_id: UUID,
) -> ChangedJob | None:
    await applications.lock_sources(conn, application_id)
    async with conn.cursor(row_factory=class_row(_DecidedReview)) as cur:
        await cur.execute(_SQL[decision], {"application_id": application_id, "id": job_id})
        job = await cur.fetchone()
    if job is None:
        return None
    line = job_logs.LogLine(
        job_id=job.id,
        attempt=job.attempts,
        message="approved" if decision == "approve" else "rejected",
        details={"reason": job.reason},
    )
    await job_logs.add_logs(conn, [line])
    return ChangedJob(id=job.id, knowledge_source_id=job.knowledge_source_id)


async def _lock_run(conn: Connection, job_id: UUID) -> tuple[UUID, UUID] | None:
    """The ids of the crawl and its source."""
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(_SQL["lock_run"], {"job_id": job_id})
        row = await cur.fetchone()
    return None if row is None else (row["id"], row["source_id"])
