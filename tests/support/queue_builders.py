"""Building blocks of queue tests: applications, sources, jobs, claims."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from psycopg.rows import dict_row

from ingest.postgres.database import Connection, new_id
from ingest.store.queue import claims, jobs
from ingest.store.queue.jobs import ClaimedJob, Ended, NewJob
from ingest.store.sources import uploads
from ingest.store.sources.upload_verdicts import UploadedFile, UploadRequest
from ingest.store.tenants import applications


async def add_application(conn: Connection, name: str = "another") -> UUID:
    cursor = await conn.execute(
        "insert into app.applications (name) values (%s) returning id", [name]
    )
    row = await cursor.fetchone()
    assert row is not None
    return UUID(str(row[0]))


async def add_worker(conn: Connection, *, silent_for: str = "0 seconds") -> UUID:
    worker = uuid4()
    await conn.execute(
        "insert into rag.workers (id, host, pid, heartbeat_at) "
        "values (%s, 'test', 1, now() - %s::interval)",
        [worker, silent_for],
    )
    return worker


async def enqueue(conn: Connection, application_id: UUID, count: int = 1, **job: Any) -> list[UUID]:
    new = [NewJob(application_id=application_id, type="file", **job) for _ in range(count)]
    return await jobs.enqueue(conn, new)


async def claim(
    conn: Connection,
    batch: int = 1,
    *,
    worker: UUID | None = None,
    cursor: int = 0,
    types: Sequence[str] = ("file", "purge"),
    **more: Any,
) -> list[ClaimedJob]:
    return await claims.claim(
        conn,
        types=types,
        batch=batch,
        worker=worker or uuid4(),
        cursor=UUID(int=cursor),
        **more,
    )


async def claimable(conn: Connection, *handlers: str) -> set[str]:
    """Job types that a worker with these handlers may claim."""
    return {row.type for row in await claims.claimable_types(conn, handlers=handlers)}


async def make_due(conn: Connection) -> None:
    """Make all waiting jobs ready."""
    await conn.execute("update rag.processing_jobs set run_at = null where status = 'pending'")


async def complete(conn: Connection, claimed: Sequence[ClaimedJob]) -> set[UUID]:
    return await jobs.finish(conn, [Ended(job=job, status="completed") for job in claimed])


async def upload(
    conn: Connection,
    application_id: UUID,
    *paths: str,
    content: str = "text",
    model_id: int = 1,
    batch_id: UUID | None = None,
) -> list[UUID]:
    """Add sources with their jobs, as an upload request does; returns the ids of the sources."""
    files = [
        UploadedFile(
            path=path,
            size=len(content),
            sha256=content.encode().ljust(32, b"\0"),
            blob_key=f"{application_id}/{new_id()}",
        )
        for path in paths
    ]
    request = UploadRequest(application_id=application_id, batch_id=batch_id, model_id=model_id)
    async with conn.transaction():
        _, verdicts = await uploads.register(conn, request, files)
    return [verdict.source_id for verdict in verdicts if verdict.source_id]


async def job_row(conn: Connection, id: UUID) -> dict[str, Any]:
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute("select * from rag.processing_jobs where id = %s", [id])
        row = await cur.fetchone()
    assert row is not None
    return row


async def source_row(conn: Connection, id: UUID) -> dict[str, Any]:
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute("select * from rag.knowledge_sources where id = %s", [id])
        row = await cur.fetchone()
    assert row is not None
    return row


async def set_quotas(conn: Connection, application_id: UUID, **quotas: int) -> None:
    """Give an application quotas of its own, in camelCase."""
    await applications.edit(conn, application_id, name=None, settings={"quotas": quotas})
