"""Set the content of uploaded sources, many in one statement."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self
from uuid import UUID

from ingest.errors import LeaseLost
from ingest.postgres.database import Connection
from ingest.store.documents import chunking
from ingest.store.documents.chunking import AppliedChunking, ChunkingDefaults
from ingest.store.sources import sources
from ingest.store.sources.sources import SourceContent


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceContentWrite:
    """The new content of a source with a single document, and the settings it was chunked with."""

    job_id: UUID
    content: SourceContent
    applied: AppliedChunking
    defaults: ChunkingDefaults

    @classmethod
    async def write_all(cls, conn: Connection, writes: Sequence[Self]) -> None:
        """Write all contents and lock the sources' rows. Raises LeaseLost if a source was deleted.

        Queues a rechunk job for each source whose settings changed while its job ran.
        """
        there = await sources.set_content(conn, [write.content for write in writes])
        for write in writes:
            if write.content.source_id not in there:
                raise LeaseLost(write.job_id)
        [defaults] = {write.defaults for write in writes}
        await chunking.rechunk_outdated(
            conn, [write.applied for write in writes], defaults=defaults
        )
