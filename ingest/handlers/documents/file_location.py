"""The location of a job's file: uploaded directly, or inside another file."""

from dataclasses import dataclass
from pathlib import PurePosixPath
from uuid import UUID

from ingest.errors import Permanent
from ingest.handlers.context import Context
from ingest.payloads import ArchivePayload, MemberPayload
from ingest.store.queue.jobs import ClaimedJob
from ingest.store.sources.sources import SourceForJob


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLocation:
    """The location of a job's file within its source."""

    source: SourceForJob
    uri: str
    """URI of its document: the uploaded path, then the path inside that file, if any."""
    root_job_id: UUID
    depth: int
    """Number of enclosing files."""

    @property
    def name(self) -> str:
        return self.source.name if self.depth == 0 else PurePosixPath(self.uri).name

    @property
    def given_name(self) -> str | None:
        """The name that users see and change; None for a file inside another."""
        return self.source.name if self.is_root else None

    @property
    def is_root(self) -> bool:
        """Whether it was uploaded directly."""
        return self.depth == 0


async def locate_file(
    job: ClaimedJob, ctx: Context, inside: MemberPayload | ArchivePayload | None = None
) -> FileLocation:
    """Find the location of a job's file; raises Permanent `source_deleted`.

    `inside`: the job's payload, unless the file was uploaded directly.
    """
    source_id = job.knowledge_source_id
    if source_id is None:
        raise Permanent("a file job needs a knowledge source", code="internal")
    source = (await ctx.lookups.sources.get([source_id])).get(source_id)
    if source is None:
        raise Permanent("the knowledge source was deleted", code="source_deleted")
    return FileLocation(
        source=source,
        uri=source.uri if inside is None else inside.uri,
        root_job_id=job.parent_job_id or job.id,
        depth=0 if inside is None else inside.depth,
    )
