"""A job that waits for an embedding provider."""

from datetime import timedelta
from uuid import UUID

from ingest.postgres.database import Connection
from ingest.providers.embedders.base import ProviderFault
from ingest.store.queue import jobs
from tests.support.queue_builders import job_row

UNAUTHORIZED = ProviderFault("HTTP 401 (bad_key)", code="embedding_unauthorized", status=401)


async def waiting_job(
    conn: Connection, application_id: UUID, *, code: str = "embedding_unauthorized"
) -> UUID:
    """One that waits for ten minutes because of its provider."""
    [id] = await jobs.enqueue(
        conn, [jobs.NewJob(application_id=application_id, type="file", delay=timedelta(minutes=10))]
    )
    await conn.execute(
        "update rag.processing_jobs set wait_reason = 'provider_unavailable',"
        " last_error_code = %s where id = %s",
        [code, id],
    )
    return id


async def is_ready(conn: Connection, id: UUID) -> bool:
    return (await job_row(conn, id))["run_at"] is None
