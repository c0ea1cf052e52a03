"""For handlers: read a source's chunk settings, and queue a rechunk if they are outdated."""

from uuid import UUID

from ingest.handlers.context import Context
from ingest.model import ChunkSettings
from ingest.postgres.database import Connection, transaction
from ingest.store.documents import chunking
from ingest.store.documents.chunking import AppliedChunking, ChunkingDefaults
from ingest.store.sources.sources import SourceForJob


def chunking_defaults(ctx: Context) -> ChunkingDefaults:
    """Installation defaults."""
    return ChunkingDefaults(chunking=ctx.chunking, largest=ctx.model.max_tokens)


async def chunk_settings(source_id: UUID, ctx: Context) -> ChunkSettings:
    """Current chunk settings of a source."""
    async with transaction(ctx.pool) as conn:
        return await chunking.effective(conn, source_id, chunking_defaults(ctx))


def settings_of(source: SourceForJob, ctx: Context) -> ChunkSettings:
    """Chunk settings of a source at the time `source` was read."""
    return chunking.resolve(
        chunking_defaults(ctx), source.application_chunking, source.own_chunking
    )


async def rechunk_if_settings_changed(
    conn: Connection, *, application_id: UUID, source_id: UUID, used: ChunkSettings, ctx: Context
) -> None:
    """Call in the write of a document chunked with `used`. Locks the source.

    If the settings have changed since, queues a rechunk job that applies them.
    """
    applied = AppliedChunking(application_id=application_id, source_id=source_id, used=used)
    await chunking.rechunk_outdated(conn, [applied], defaults=chunking_defaults(ctx))
