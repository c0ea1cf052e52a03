"""User actions on jobs: cancel, retry, start now, delete."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from ingest.model import JobStatus
from ingest.payloads import AWAITS_MEMBERS
from ingest.postgres.database import Connection, load_queries
from ingest.store.documents import held_documents
from ingest.store.limits import provider_lanes
from ingest.store.queue.jobs import wake

_SQL = load_queries("queue/job_control.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedJob:
    """A job that a user action changed, and the source whose state must be derived again."""

    id: UUID
    knowledge_source_id: UUID | None


async def cancel(
    conn: Connection,
    *,
    application_id: UUID,
    job_ids: Sequence[UUID] = (),
    source_ids: Sequence[UUID] = (),
    batch_id: UUID | None = None,
    reason: str = "cancelled by request",
) -> list[ChangedJob]:
    """Cancel open jobs for good; workers running them are notified and can no longer write."""
    async with conn.cursor(row_factory=class_row(ChangedJob)) as cur:
        await cur.execute(
            _SQL["cancel"],
            {
                "application_id": application_id,
                "job_ids": list(job_ids),
                "source_ids": list(source_ids),
                "batch_id": batch_id,
                "reason": reason,
            },
        )
        cancelled = await cur.fetchall()
    await held_documents.drop(conn, [job.id for job in cancelled])
    if cancelled:
        await wake(conn, "cancel")
    return cancelled


async def retry(
    conn: Connection,
    *,
    application_id: UUID,
    job_ids: Sequence[UUID] = (),
    batch_id: UUID | None = None,
    statuses: Sequence[JobStatus] = ("failed",),
) -> list[ChangedJob]:
    """Queue ended jobs again with all their attempts; returns the changed jobs."""
    async with conn.cursor(row_factory=class_row(ChangedJob)) as cur:
        await cur.execute(
            _SQL["retry"],
            {
                "application_id": application_id,
                "job_ids": list(job_ids),
                "batch_id": batch_id,
                "statuses": list(statuses),
                "awaits_members": AWAITS_MEMBERS,
            },
        )
        retried = await cur.fetchall()
    await held_documents.drop(conn, [job.id for job in retried])
    if retried:
        await wake(conn)
    return retried


async def start_now(conn: Connection, *, application_id: UUID, id: UUID) -> None:
    """Make a delayed job ready now, with all its attempts.

    If it waits for the embedding provider, end the pauses of failing providers too. Pauses for rate
    limits stay.
    """
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["start_now"], {"application_id": application_id, "id": id})
        code = await cur.fetchone()
    if code in provider_lanes.PROVIDER_CODES:
        await provider_lanes.end_pauses(conn, reason="provider_unavailable")
    await wake(conn)


async def delete(conn: Connection, *, application_id: UUID, id: UUID) -> bool:
    """Remove an ended job and its log; False if there is no such ended job."""
    done = await conn.execute(_SQL["delete"], {"application_id": application_id, "id": id})
    return done.rowcount == 1


async def blobs_of_jobs(conn: Connection, keys: Sequence[str]) -> set[str]:
    """The subset of `keys` that a job may still need."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["blobs_of_jobs"], {"keys": list(keys)})
        return set(await cur.fetchall())
