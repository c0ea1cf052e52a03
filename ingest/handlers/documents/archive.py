"""Unpack an archive: every file in it gets its own job and becomes a document."""

from typing import Any

from ingest.errors import BlobMissing, Permanent
from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.documents.fan_out import fan_out, over_limit
from ingest.handlers.documents.file_location import FileLocation, locate_file
from ingest.handlers.documents.parser_retry import retry_crashed_parser_once
from ingest.handlers.registry import handler
from ingest.payloads import ArchivePayload, StoredFile
from ingest.postgres.database import Connection, transaction
from ingest.sandbox.messages import UnpackRequest
from ingest.store.queue.job_logs import LogLine
from ingest.store.queue.jobs import ClaimedJob, NewJob
from ingest.store.sources import members
from ingest.temporary_folders import scratch_folder


def archive_job(job: ClaimedJob, file: StoredFile, location: FileLocation, ctx: Context) -> NewJob:
    """Build the job that unpacks `file`, an archive, in place of `job`.

    Raises Permanent `archive_unsafe` if archives are nested too deep.
    """
    if location.depth >= ctx.archives.depth:
        raise Permanent(
            f"This is level {location.depth + 1} of nested archives; at most"
            f" {ctx.archives.depth} are opened.",
            code="archive_unsafe",
        )
    return NewJob(
        application_id=job.application_id,
        type="archive",
        source_id=location.source.id,
        batch_id=job.batch_id,
        parent_job_id=location.root_job_id,
        priority=job.priority,
        payload=ArchivePayload(
            blob_key=file.blob_key,
            content_hash=file.content_hash,
            size_bytes=file.size_bytes,
            uri=location.uri,
            depth=location.depth,
        ),
    )


@handler("archive")
async def unpack_archive(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Queue a job for each file that is new or has changed."""
    file = ArchivePayload.of(job)
    location = await locate_file(job, ctx, file)
    progress.stage = "extract"
    try:
        async with ctx.blobs.open_local(file.blob_key) as path, scratch_folder() as folder:
            request = await _request(location, str(folder), ctx)
            unpacked = await retry_crashed_parser_once(
                lambda: ctx.parser.unpack(path, request, owner=job.application_id)
            )
            out = await fan_out(job, location, unpacked.members, folder, ctx)
    except BlobMissing as error:
        raise Permanent(f"{error}; upload the file again", code="blob_missing") from error
    if unpacked.skipped:
        progress.lines.append(_skipped(job, unpacked.skipped))

    async def write(conn: Connection) -> None:
        await out.write(conn, location, ctx)
        await members.reopen(conn, location.root_job_id)

    return Outcome(
        write=write,
        result={
            "members": len(unpacked.members),
            "unchanged": len(out.kept),
            "skipped": unpacked.skipped,
        },
    )


async def _request(location: FileLocation, folder: str, ctx: Context) -> UnpackRequest:
    """The request, limited to what the uploaded file as a whole may still unpack."""
    async with transaction(ctx.pool) as conn:
        taken = await members.children(conn, location.root_job_id)
    limits = ctx.archives
    left = limits.members - taken.members
    bytes_left = limits.total_bytes - taken.bytes
    if left <= 0 or bytes_left <= 0:
        raise over_limit(limits)
    return UnpackRequest(
        name=location.name,
        folder=folder,
        max_members=left,
        max_bytes=bytes_left,
        max_member_bytes=limits.member_bytes,
    )


def _skipped(job: ClaimedJob, skipped: dict[str, Any]) -> LogLine:
    return LogLine(
        job_id=job.id,
        attempt=job.attempts,
        level="warning",
        stage="extract",
        message="entries that are not user files were left out",
        details=skipped,
    )
