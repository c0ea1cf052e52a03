"""The chunk settings of a source, as handlers need them: before they cut, and when they store."""

from uuid import UUID

from ingest.handlers.context import Context
from ingest.model import ChunkSettings
from ingest.postgres.database import Connection
from ingest.store.documents import chunking
from ingest.store.documents.chunking import Cut, Installation
from ingest.store.sources.sources import SourceForJob


def installation(ctx: Context) -> Installation:
    """What holds where nobody has set anything else."""
    return Installation(chunking=ctx.chunking, largest=ctx.model.max_tokens)


async def chunk_settings(source_id: UUID, ctx: Context) -> ChunkSettings:
    """How documents of a source are to be cut now."""
    async with ctx.pool.connection() as conn:
        return await chunking.effective(conn, source_id, installation(ctx))


def settings_of(source: SourceForJob, ctx: Context) -> ChunkSettings:
    """How documents of a source were to be cut when it was read."""
    return chunking.of_layers(installation(ctx), source.application_chunking, source.own_chunking)


async def rechunk_if_moved(
    conn: Connection, *, application_id: UUID, source_id: UUID, used: ChunkSettings, ctx: Context
) -> None:
    """For the write of what was cut by `used`. Locks the source.

    Settings that were changed while the job was under way are applied by a job of their own.
    """
    cut = Cut(application_id=application_id, source_id=source_id, used=used)
    await chunking.must_rechunk(conn, [cut], usual=installation(ctx))
