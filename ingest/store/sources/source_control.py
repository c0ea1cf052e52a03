"""User actions on knowledge sources and their jobs, with all their consequences.

Every function runs in the caller's transaction. All but `edit` lock the application first, so that
none of them runs in the middle of an upload.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from ingest.model import JobStatus
from ingest.payloads import FilePayload
from ingest.postgres.database import Connection, load_queries, new_id
from ingest.store.crawl import runs
from ingest.store.documents import chunking
from ingest.store.queue import job_control, job_views, jobs
from ingest.store.queue.job_views import JobFilter
from ingest.store.sources import batches, events, job_events, sources
from ingest.store.tenants import applications

_SQL = load_queries("sources/source_control.sql")

_RETRIED_AT_ONCE: Final = 1000


async def edit(
    conn: Connection,
    *,
    application_id: UUID,
    id: UUID,
    name: str | None,
    metadata: dict[str, Any] | None,
) -> bool:
    """Rename a source or replace its metadata (None: keep it); False if it does not exist."""
    cursor = await conn.execute(
        _SQL["edit"],
        {
            "application_id": application_id,
            "id": id,
            "name": name,
            "metadata": None if metadata is None else Jsonb(metadata),
        },
    )
    row = await cursor.fetchone()
    if row is None:
        return False
    if name is not None:
        renamed = await (await conn.execute(_SQL["outdate"], {"id": id})).fetchall()
        if any(is_embedded for (is_embedded,) in renamed):
            await chunking.rechunk_sources(conn, application_id, [id])
    event = events.NewEvent(source_id=id, type="source", data={"status": row[0]})
    await events.emit(conn, [event])
    return True


async def delete(conn: Connection, *, application_id: UUID, ids: Sequence[UUID]) -> list[UUID]:
    """Tombstone sources and queue the removal of their data.

    Returns the sources that existed.
    """
    await applications.lock_sources(conn, application_id)
    ids = await _owned(conn, application_id, ids)
    await job_control.cancel(
        conn,
        application_id=application_id,
        source_ids=ids,
        reason="the knowledge source was deleted",
    )
    await runs.end_open(conn, source_ids=ids)
    deleted = await sources.tombstone(conn, application_id=application_id, ids=ids)
    data = {"status": "cancelled", "errorCode": "source_deleted", "percent": None}
    await events.emit(
        conn, [events.NewEvent(source_id=id, type="done", data=data) for id in deleted]
    )
    await jobs.enqueue(
        conn,
        [jobs.NewJob(application_id=application_id, type="purge", source_id=id) for id in deleted],
    )
    return deleted


async def cancel(
    conn: Connection,
    *,
    application_id: UUID,
    job_ids: Sequence[UUID] = (),
    source_ids: Sequence[UUID] = (),
    batch_id: UUID | None = None,
) -> list[UUID]:
    """Cancel open jobs and their children and settle their sources; returns the cancelled jobs."""
    await applications.lock_sources(conn, application_id)
    cancelled = await job_control.cancel(
        conn,
        application_id=application_id,
        job_ids=job_ids,
        source_ids=source_ids,
        batch_id=batch_id,
    )
    await runs.end_open(conn, job_ids=[job.id for job in cancelled])
    await job_events.jobs_changed(conn, cancelled, job_status="cancelled")
    return [job.id for job in cancelled]


async def retry(
    conn: Connection,
    *,
    application_id: UUID,
    statuses: Sequence[JobStatus],
    job_ids: Sequence[UUID] = (),
    batch_id: UUID | None = None,
) -> list[UUID]:
    """Queue ended jobs again and settle their sources; returns the queued jobs.

    Skips jobs whose run a newer upload has replaced or whose source was deleted.
    """
    await applications.lock_sources(conn, application_id)
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["retryable"],
            {"application_id": application_id, "job_ids": list(job_ids), "batch_id": batch_id},
        )
        current = await cur.fetchall()
    retried = await job_control.retry(
        conn, application_id=application_id, job_ids=current, statuses=statuses
    )
    await job_events.jobs_changed(conn, retried, job_status="pending")
    await batches.reopen(conn, job_ids=[job.id for job in retried])
    return [job.id for job in retried]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Readable:
    id: UUID
    type: str
    blob_key: str | None
    content_hash: bytes | None
    size_bytes: int | None


async def read_again(
    conn: Connection, *, application_id: UUID, ids: Sequence[UUID]
) -> dict[UUID, UUID]:
    """Queue a run that reads unchanged content too, behind other work; returns its job by source.

    Files are read from their stored bytes, pages and sites are fetched again. Left alone are
    sources with an open run, and files of which no content was stored.
    """
    await applications.lock_sources(conn, application_id)
    async with conn.cursor(row_factory=class_row(_Readable)) as cur:
        await cur.execute(_SQL["readable"], {"application_id": application_id, "ids": list(ids)})
        readable = await cur.fetchall()
    await conn.execute(_SQL["mark_documents"], {"ids": [source.id for source in readable]})
    started = await _read_files(
        conn, application_id, [source for source in readable if source.type == "file"]
    )
    for source in readable:
        if source.type != "file":
            run = await runs.rescrape(
                conn,
                application_id=application_id,
                source_id=source.id,
                priority=runs.RESCRAPE_PRIORITY,
            )
            if run is not None:
                started[source.id] = run.job_id
    return started


async def _read_files(
    conn: Connection, application_id: UUID, files: Sequence[_Readable]
) -> dict[UUID, UUID]:
    started = {file.id: new_id() for file in files}
    await conn.execute(_SQL["begin"], {"ids": list(started), "job_ids": list(started.values())})
    await jobs.enqueue(
        conn,
        [
            jobs.NewJob(
                id=started[file.id],
                application_id=application_id,
                type="file",
                source_id=file.id,
                priority=runs.RESCRAPE_PRIORITY,
                payload=FilePayload.model_validate(
                    {
                        "blob_key": file.blob_key,
                        "content_hash": file.content_hash,
                        "size_bytes": file.size_bytes,
                    }
                ),
            )
            for file in files
        ],
    )
    await events.emit(
        conn,
        [
            events.NewEvent(
                source_id=id,
                type="source",
                data={"status": "pending", "jobId": str(job_id), "percent": 0},
            )
            for id, job_id in started.items()
        ],
    )
    return started


async def retry_failed(
    conn: Connection, *, application_id: UUID, where: JobFilter, before: int | None
) -> tuple[int, int | None]:
    """Call `retry` for up to 1,000 failed jobs, newest first, before the position `before`.

    Returns how many were queued, and the position to continue from in the next transaction; None at
    the end. A large retry is split into transactions, since a single one would block the queue.
    """
    await applications.lock_sources(conn, application_id)
    found = await job_views.list_ids(
        conn,
        application_id=application_id,
        where=replace(where, status="failed"),
        limit=_RETRIED_AT_ONCE,
        before=before,
    )
    retried = await retry(
        conn, application_id=application_id, statuses=("failed",), job_ids=[id for id, _ in found]
    )
    return len(retried), found[-1][1] if len(found) == _RETRIED_AT_ONCE else None


async def _owned(conn: Connection, application_id: UUID, ids: Sequence[UUID]) -> list[UUID]:
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["owned"], {"application_id": application_id, "ids": list(ids)})
        return await cur.fetchall()
