"""Parse a file in the sandbox, and prepare the jobs for the files inside it."""

from ingest.errors import BlobMissing, Permanent
from ingest.handlers.context import Context, Progress
from ingest.handlers.documents.fan_out import FanOut, fan_out, refused_job
from ingest.handlers.documents.file_location import FileLocation
from ingest.handlers.documents.new_document import partial_code
from ingest.handlers.documents.parser_retry import retry_crashed_parser_once
from ingest.model import ChunkSettings
from ingest.observability import metrics
from ingest.payloads import StoredFile
from ingest.sandbox.messages import Parsed, ParseRequest
from ingest.store.queue.jobs import ClaimedJob
from ingest.temporary_folders import unmade_scratch_folder


async def read_file(
    job: ClaimedJob,
    file: StoredFile,
    location: FileLocation,
    settings: ChunkSettings,
    ctx: Context,
    progress: Progress,
) -> tuple[Parsed, FanOut]:
    """Without chunks if only the files inside it hold text; pages that were lost are a failed job.

    Raises Permanent with parser codes, `no_text` or `blob_missing`, and IsArchive.
    """
    progress.stage = "extract"
    try:
        async with (
            ctx.blobs.open_local(file.blob_key) as path,
            unmade_scratch_folder() as folder,
        ):
            request = ParseRequest(
                name=location.name,
                declared=None,
                max_pages=ctx.max_pages,
                chunk=settings,
                members=str(folder),
                ocr=ctx.ocr,
                max_inflated=ctx.archives.member_bytes,
            )
            parsed = await retry_crashed_parser_once(
                lambda: ctx.parser.parse(
                    path, request, owner=job.application_id, on_page=progress.touch
                )
            )
            metrics.document_read(parsed.document.warnings)
            inside = await fan_out(job, location, parsed.members, folder, ctx)
    except BlobMissing as error:
        raise Permanent(f"{error}; upload the file again", code="blob_missing") from error
    progress.log_parsed(parsed)
    if not parsed.chunks:
        if not inside:
            raise Permanent("the file has no text", code="no_text")
        if (code := partial_code(None, parsed.document.coverage)) is not None:
            message = "No text was found in the file itself; only the files in it are searchable."
            inside.jobs.append(refused_job(job, location, location.uri, code, message))
    return parsed, inside
