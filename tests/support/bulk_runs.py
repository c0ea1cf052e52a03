"""The handler of bulk jobs, run by hand."""

from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

from ingest.handlers.bulk import change_rows
from ingest.handlers.context import Context, Progress
from ingest.model import ChunkSettings
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.queue import job_types
from ingest.store.queue.jobs import ClaimedJob
from ingest.worker.attempt import attempt
from ingest.worker.commit import commit
from tests.support.queue_builders import claim, job_row


def bulk_context(pool: Pool, application_id: UUID) -> Context:
    return cast(
        Context,
        SimpleNamespace(
            pool=pool.of(application_id),
            chunking=ChunkSettings(tokenizer="minilm", size=256, overlap=32),
            model=SimpleNamespace(max_tokens=256),
        ),
    )


async def claim_bulk(conn: Connection) -> ClaimedJob:
    [job] = await claim(conn, types=("bulk",))
    return job


async def run_bulk(pool: Pool, conn: Connection) -> dict[str, Any]:
    """Claim and run the next bulk job to its end; its row."""
    job = await claim_bulk(conn)
    await finish_bulk(pool, job)
    return await job_row(conn, job.id)


async def finish_bulk(pool: Pool, job: ClaimedJob) -> None:
    async with transaction(pool) as own:
        job_type = await job_types.get(own, "bulk")
    assert job_type is not None
    finished = await attempt(
        job,
        job_type,
        handlers={"bulk": change_rows},
        context=bulk_context(pool, job.application_id),
        progress=Progress(job),
    )
    if finished is not None:
        await commit(pool, [finished])
