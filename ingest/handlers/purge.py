"""Remove a deleted source: its chunks in bounded steps, its files, then its row."""

from ingest.errors import Permanent
from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.registry import handler
from ingest.postgres.database import Connection, transaction
from ingest.store.queue.jobs import ClaimedJob
from ingest.store.sources import sources

_STEP = 2000


@handler("purge")
async def purge_source(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Delete a tombstoned source for good. The tombstone has already hidden it."""
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
    # Files before the row that names them: after an interruption, the retry finds the rest.
    await ctx.blobs.delete(keys)

    async def write(conn: Connection) -> None:
        await sources.purge(conn, source_id)

    return Outcome(write=write, result={"chunks": removed, "files": len(keys)})
