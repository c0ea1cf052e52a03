"""Read sources again although they have not changed, so that they profit from better readers.

Files are read from their stored bytes, pages and sites are fetched again. Chunks whose text is the
same keep their vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from ingest.payloads import FilePayload
from ingest.postgres.database import Connection, load_queries, new_id
from ingest.store.crawl import runs
from ingest.store.queue import jobs
from ingest.store.sources import events
from ingest.store.tenants import applications

_SQL = load_queries("sources/read_again.sql")


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
    """Queue a run of each source that can be read, behind other work; returns its job by source.

    Left alone are sources with an open run, and files of which no content was stored. Takes the
    application's lock.
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
