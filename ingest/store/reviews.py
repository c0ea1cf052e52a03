"""What people decide on jobs that wait for a review: do the rest, or leave it.

Both work in the caller's transaction and take the application's lock first.
"""

from uuid import UUID

from psycopg.rows import class_row, dict_row

from ingest.db import Connection, load_queries
from ingest.store import announce, applications, crawls, site_documents
from ingest.store.job_control import Touched

_SQL = load_queries("reviews.sql")


async def approve(conn: Connection, *, application_id: UUID, job_id: UUID) -> bool:
    """Complete a job and remove what its run has held back; False when it waits for no review."""
    job = await _decide(conn, "approve", application_id=application_id, job_id=job_id)
    if job is None:
        return False
    run = await _lock_run(conn, job_id)
    if run is not None:
        crawl_id, source_id = run
        locked = await crawls.lock(conn, crawl_id, source_id=source_id, job_id=job_id)
        # Asked again: a page that was retried meanwhile may have been found after all.
        unseen = await site_documents.unseen(
            conn, source_id=source_id, crawl_id=crawl_id, variants=locked.settings.variants
        )
        removed = await site_documents.remove(conn, unseen)
        await site_documents.list_unseen(conn, unseen, crawl_id=crawl_id, status="removed")
        await site_documents.recount(conn, source_id=source_id, crawl_id=crawl_id)
        await crawls.write_digest(conn, crawl_id, removed=removed, held=0)
    await announce.touched(conn, [job], job_status="completed")
    return True


async def reject(conn: Connection, *, application_id: UUID, job_id: UUID) -> bool:
    """Cancel a job and keep what its run has held back; False when it waits for no review."""
    job = await _decide(conn, "reject", application_id=application_id, job_id=job_id)
    if job is None:
        return False
    run = await _lock_run(conn, job_id)
    if run is not None:
        await site_documents.decide_held(conn, run[0], status="kept")
        await crawls.write_digest(conn, run[0], held=0)
    await announce.touched(conn, [job], job_status="cancelled")
    return True


async def _decide(
    conn: Connection, decision: str, *, application_id: UUID, job_id: UUID
) -> Touched | None:
    await applications.lock_sources(conn, application_id)
    async with conn.cursor(row_factory=class_row(Touched)) as cur:
        await cur.execute(_SQL[decision], {"application_id": application_id, "id": job_id})
        return await cur.fetchone()


async def _lock_run(conn: Connection, job_id: UUID) -> tuple[UUID, UUID] | None:
    """Run and source."""
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(_SQL["lock_run"], {"job_id": job_id})
        row = await cur.fetchone()
    return None if row is None else (row["id"], row["source_id"])
