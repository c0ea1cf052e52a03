"""Remove what hangs on a deleted source: chunks in bounded steps, files, then the row."""

from ingest.errors import Permanent
from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.registry import handler
from ingest.postgres.database import Connection, transaction
from ingest.store.queue.jobs import ClaimedJob
from ingest.store.sources import sources

_STEP = 2000


@handler("purge")
async def purge_source(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Delete a tombstoned source for good. It was invisible from the moment of the tombstone."""
    source_id = job.knowledge_source_id
    if source_id is None:
        raise Permanent("a purge job needs a knowledge source", code="internal")
    progress.stage = "store"
    removed = 0
    while True:
        async with transaction(ctx.pool) as conn:
            step = await sources.purge_chunks(conn, source_id, limit=_STEP)
            keys = await sources.blob_keys(conn, source_id)
        removed += step
        if step < _STEP:
            break
    # Files go before the row that names them: a stop in between is finished by the retry.
    await ctx.blobs.delete(keys)

    async def write(conn: Connection) -> None:
        await sources.purge(conn, source_id)

    return Outcome(write=write, result={"chunks": removed, "files": len(keys)})
