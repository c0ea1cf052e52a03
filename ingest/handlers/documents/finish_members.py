"""End an uploaded file after the jobs of all its inner files have ended."""

from ingest.errors import LeaseLost
from ingest.handlers.context import Context, Outcome
from ingest.handlers.documents.file_location import FileLocation
from ingest.payloads import StoredFile
from ingest.postgres.database import Connection
from ingest.store.queue.jobs import ClaimedJob
from ingest.store.sources import members


def finish_members(
    job: ClaimedJob, file: StoredFile, location: FileLocation, ctx: Context
) -> Outcome:
    """Remove documents that are no longer in the file, and set the source's content.

    The source's status follows from the jobs. Inner files that failed keep their stored version.
    """

    async def write(conn: Connection) -> None:
        still_there = await members.finish_run(
            conn,
            location.source.id,
            root_job_id=job.id,
            file=file,
            model_id=ctx.model_id,
        )
        if not still_there:
            raise LeaseLost(job.id)

    return Outcome(write=write)
