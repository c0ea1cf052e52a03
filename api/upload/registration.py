"""Register the files of an upload: durable bytes first, then the rows that refer to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from api.idempotency import IdempotentAnswer, IdempotentRequest
from api.schema import chunking
from api.schema.chunking import Chunking
from api.upload.intake import Intake
from ingest.observability import metrics
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.documents.chunking import ChunkingDefaults
from ingest.store.sources import uploads
from ingest.store.sources.upload_verdicts import FileVerdict, UploadedFile, UploadRequest, Verdict


class NothingAccepted(Exception):
    """Every file was rejected; nothing was written."""

    def __init__(self, files: Sequence[Mapping[str, Any]]) -> None:
        super().__init__("all files were rejected")
        self.files = files


@dataclass(frozen=True, slots=True)
class ChunkingChange:
    """The chunk settings for the files of an upload."""

    wanted: Chunking
    defaults: ChunkingDefaults

    async def set(
        self, conn: Connection, upload: UploadRequest, verdicts: Sequence[FileVerdict]
    ) -> None:
        taken = [
            verdict.source_id
            for verdict in verdicts
            if verdict.source_id and verdict.verdict in ("accepted", "unchanged")
        ]
        await chunking.set_of_sources(
            conn, upload.application_id, taken, self.wanted, self.defaults
        )


async def register(
    pool: Pool,
    intake: Intake,
    upload: UploadRequest,
    idempotent: IdempotentRequest,
    cut: ChunkingChange | None,
) -> IdempotentAnswer:
    """Make the bytes of accepted files durable, then write the rows that refer to them.

    Raises NothingAccepted.

    The bytes come first, outside any transaction, because that may take long. So `preview` predicts
    which files are accepted. If another request changes that meanwhile, all bytes are made durable,
    and the second try cannot miss any.
    """
    async with transaction(pool) as conn:
        earlier = await idempotent.stored_answer(conn, upload.application_id)
        if earlier is not None:
            return earlier
        expected = await uploads.preview(conn, upload, intake.files)
    await intake.commit(_accepted_blobs(expected))
    answer = await _try_to_register(pool, intake, upload, idempotent, cut)
    if answer is None:
        await intake.commit([file.blob_key for file in intake.files if file.code is None])
        answer = await _try_to_register(pool, intake, upload, idempotent, cut)
    if answer is None:
        raise RuntimeError("all bytes are durable, so nothing can be missing")
    return answer


class _BlobMissing(Exception):
    """A file was accepted whose bytes are not durable."""


async def _try_to_register(
    pool: Pool,
    intake: Intake,
    upload: UploadRequest,
    idempotent: IdempotentRequest,
    cut: ChunkingChange | None,
) -> IdempotentAnswer | None:
    """Register the files; writes nothing and returns None if an accepted file is not durable."""
    try:
        async with transaction(pool) as conn:
            earlier = await idempotent.stored_answer(conn, upload.application_id)
            if earlier is not None:
                return earlier
            batch_id, verdicts = await uploads.register(conn, upload, intake.files)
            if all(verdict.verdict == "rejected" for verdict in verdicts):
                _count_refusals(verdicts)
                raise NothingAccepted([_of_verdict(verdict) for verdict in verdicts])
            if intake.lacks(_accepted_blobs(verdicts)):
                raise _BlobMissing
            if cut is not None:
                await cut.set(conn, upload, verdicts)
            answer = IdempotentAnswer(202, _upload_answer(batch_id, verdicts))
            await idempotent.store_answer(conn, upload.application_id, answer)
            intake.keep(_accepted_blobs(verdicts))
            _count_refusals(verdicts)
            return answer
    except _BlobMissing:
        return None


def _count_refusals(verdicts: Sequence[FileVerdict]) -> None:
    for verdict in verdicts:
        if verdict.code == "quota_exceeded":
            # Files that were refused while their bytes arrived exceeded the staged bytes.
            metrics.quota_refused(verdict.excess.quota if verdict.excess else "stagedBytes")


def _accepted_blobs(verdicts: Sequence[FileVerdict]) -> list[str]:
    return [verdict.file.blob_key for verdict in verdicts if verdict.verdict == "accepted"]


def _upload_answer(batch_id: UUID, verdicts: Sequence[FileVerdict]) -> dict[str, Any]:
    sources = dict.fromkeys(str(verdict.source_id) for verdict in verdicts if verdict.source_id)
    return {
        "batchId": str(batch_id),
        "jobCount": len(_accepted_blobs(verdicts)),
        "knowledgeSourceIds": list(sources),
        "files": [_of_verdict(verdict) for verdict in verdicts],
    }


def _of_verdict(verdict: FileVerdict) -> dict[str, Any]:
    return _file_answer(
        verdict.file.path,
        verdict.verdict,
        knowledgeSourceId=verdict.source_id,
        jobId=verdict.job_id,
        duplicateOf=verdict.duplicate_of,
        code=verdict.code,
        detail=verdict.detail,
    )


def refused_answer(file: UploadedFile) -> dict[str, Any]:
    """The response for a file that was refused while it arrived."""
    return _file_answer(file.path, "rejected", code=file.code, detail=file.detail)


def _file_answer(path: str, verdict: Verdict, **facts: UUID | str | None) -> dict[str, Any]:
    """One file of the response; fields that do not apply are absent."""
    known = {name: str(fact) for name, fact in facts.items() if fact is not None}
    return {"path": path, "verdict": verdict, **known}
