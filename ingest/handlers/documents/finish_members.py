"""The end of an uploaded file that had files in it, once all of those have ended."""

from ingest.errors import LeaseLost
from ingest.handlers.context import Context, Outcome
from ingest.handlers.documents.file_location import Place
from ingest.postgres.database import Connection
from ingest.store.queue.jobs import ClaimedJob
from ingest.store.sources import members


def end_of_members(job: ClaimedJob, place: Place, ctx: Context) -> Outcome:
    """Forget what is no longer in the file, and say which bytes the source has.

    What it came to follows from the jobs: some files may have failed, and keep what was known.
    """

    async def write(conn: Connection) -> None:
        still_there = await members.end(
            conn,
            place.source.id,
            root_job_id=job.id,
            payload=job.payload,
            model_id=ctx.model_id,
        )
        if not still_there:
            raise LeaseLost(job.id)

    return Outcome(write=write)
