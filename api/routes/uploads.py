"""Upload files: any number in one request, one verdict for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BeforeValidator, Field

from api.authenticated_route import AuthenticatedRoute
from api.dependencies import Editor, Key, PoolDep, RuntimeDep
from api.idempotency import IdempotencyKey, IdempotentAnswer, IdempotentRequest, digest
from api.problems import problem
from api.schema import chunking, json_body
from api.schema.chunking import Chunking
from api.schema.json_model import Body, Metadata
from api.schema.openapi import InvalidRequest, problems
from api.upload import multipart
from api.upload.form_fields import field_names, parse_fields
from api.upload.intake import Intake
from ingest.errors import Rejected
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.documents.chunking import ChunkingDefaults
from ingest.store.sources import uploads
from ingest.store.sources.upload_verdicts import (
    FileVerdict,
    OnConflict,
    UploadedFile,
    UploadRequest,
    Verdict,
)
from ingest.store.view import View

router = APIRouter(route_class=AuthenticatedRoute, prefix="/upload", tags=["upload"])


def _parse_json(text: Any) -> Any:
    return json_body.parse_field(text) if isinstance(text, str) else text


class UploadFields(Body):
    """The fields beside the files."""

    metadata: Annotated[Metadata, BeforeValidator(_parse_json)] | None = None
    priority: Annotated[int, Field(ge=-100, le=100)] = 0
    batch_id: UUID | None = None
    on_conflict: OnConflict = "update"
    chunking: Annotated[Chunking, BeforeValidator(_parse_json)] | None = None
    """Chunk settings of the files, including unchanged files that are already stored."""


class UploadedFileAnswer(View):
    path: str
    verdict: Verdict
    knowledge_source_id: UUID | None = None
    job_id: UUID | None = None
    duplicate_of: UUID | None = None
    code: str | None = None
    detail: str | None = None


class UploadAnswer(View):
    batch_id: UUID
    job_count: int
    knowledge_source_ids: list[UUID]
    files: list[UploadedFileAnswer]


class RefusedUpload(InvalidRequest):
    files: list[UploadedFileAnswer] | None = None
    """With the code `nothing_accepted`: why each file was refused."""


_REFUSED: Final = {
    "description": "Fields are invalid, or no file was accepted",
    "model": RefusedUpload,
}
_REQUEST_BODY: Final = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["files"],
                "additionalProperties": False,
                "properties": {
                    "files": {
                        "type": "array",
                        "minItems": 1,
                        "description": "Any number; a file name may contain a relative path",
                        "items": {"type": "string", "format": "binary"},
                    },
                    "metadata": {"type": "object", "description": "As JSON"},
                    "priority": {"type": "integer", "minimum": -100, "maximum": 100},
                    "batchId": {"type": "string", "format": "uuid"},
                    "onConflict": {"type": "string", "enum": ["update", "skip"]},
                    "chunking": {"$ref": "#/components/schemas/Chunking"},
                },
            }
        }
    },
}


@router.post(
    "/documents",
    status_code=202,
    response_model=UploadAnswer,
    responses={**problems(415), 422: _REFUSED},
    openapi_extra={"requestBody": _REQUEST_BODY},
)
async def upload_documents(
    request: Request,
    runtime: RuntimeDep,
    pool: PoolDep,
    key: Editor,
    idempotency_key: IdempotencyKey = None,
) -> JSONResponse:
    """Store files and queue a job for each new file; 202 once all accepted files are durable."""
    async with Intake(
        runtime.blobs,
        application_id=key.application_id,
        field_names=field_names(UploadFields),
        max_file_bytes=runtime.settings.max_file_bytes,
    ) as intake:
        content_type = request.headers.get("content-type", "")
        await intake.receive(multipart.read(content_type, request.stream()))
        fields = parse_fields(UploadFields, intake.fields)
        if not intake.files:
            raise Rejected("the request has no part named `files`", code="no_files")
        if all(file.code for file in intake.files):
            return _nothing_accepted(intake.files)
        upload = _upload(fields, key, runtime.model_id)
        idempotent = IdempotentRequest(
            idempotency_key, digest(_digest_fields(upload, fields.chunking, intake.files))
        )
        cut = (
            None if fields.chunking is None else _ChunkingChange(fields.chunking, runtime.chunking)
        )
        return (await _register(pool, intake, upload, idempotent, cut)).response()


def _upload(fields: UploadFields, key: Key, model_id: int) -> UploadRequest:
    return UploadRequest(
        application_id=key.application_id,
        batch_id=fields.batch_id,
        model_id=model_id,
        metadata=fields.metadata,
        priority=fields.priority,
        on_conflict=fields.on_conflict,
    )


def _nothing_accepted(files: Sequence[UploadedFile]) -> JSONResponse:
    return problem(
        422,
        code="nothing_accepted",
        detail="all files were rejected",
        files=[
            _file_answer(file.path, "rejected", code=file.code, detail=file.detail)
            for file in files
        ],
    )


def _digest_fields(
    upload: UploadRequest, cut_by: Chunking | None, files: Sequence[UploadedFile]
) -> list[Any]:
    """Fields covered by the idempotency digest."""
    return [
        *([] if cut_by is None else [cut_by.model_dump()]),
        upload.metadata,
        upload.priority,
        str(upload.batch_id),
        upload.on_conflict,
        [[file.path, file.sha256.hex(), file.code] for file in files],
    ]


@dataclass(frozen=True, slots=True)
class _ChunkingChange:
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


async def _register(
    pool: Pool,
    intake: Intake,
    upload: UploadRequest,
    idempotent: IdempotentRequest,
    cut: _ChunkingChange | None,
) -> IdempotentAnswer:
    """Make the bytes of accepted files durable, then write the rows that refer to them.

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
    cut: _ChunkingChange | None,
) -> IdempotentAnswer | None:
    """Register the files; writes nothing and returns None if an accepted file is not durable."""
    try:
        async with transaction(pool) as conn:
            earlier = await idempotent.stored_answer(conn, upload.application_id)
            if earlier is not None:
                return earlier
            batch_id, verdicts = await uploads.register(conn, upload, intake.files)
            if intake.lacks(_accepted_blobs(verdicts)):
                raise _BlobMissing
            if cut is not None:
                await cut.set(conn, upload, verdicts)
            answer = IdempotentAnswer(202, _upload_answer(batch_id, verdicts))
            await idempotent.store_answer(conn, upload.application_id, answer)
            intake.keep(_accepted_blobs(verdicts))
            return answer
    except _BlobMissing:
        return None


def _accepted_blobs(verdicts: Sequence[FileVerdict]) -> list[str]:
    return [verdict.file.blob_key for verdict in verdicts if verdict.verdict == "accepted"]


def _upload_answer(batch_id: UUID, verdicts: Sequence[FileVerdict]) -> dict[str, Any]:
    sources = dict.fromkeys(str(verdict.source_id) for verdict in verdicts if verdict.source_id)
    return {
        "batchId": str(batch_id),
        "jobCount": len(_accepted_blobs(verdicts)),
        "knowledgeSourceIds": list(sources),
        "files": [
            _file_answer(
                verdict.file.path,
                verdict.verdict,
                knowledgeSourceId=verdict.source_id,
                jobId=verdict.job_id,
                duplicateOf=verdict.duplicate_of,
                code=verdict.code,
                detail=verdict.detail,
            )
            for verdict in verdicts
        ],
    }


def _file_answer(path: str, verdict: Verdict, **facts: UUID | str | None) -> dict[str, Any]:
    """One file of the response; fields that do not apply are absent."""
    known = {name: str(fact) for name, fact in facts.items() if fact is not None}
    return {"path": path, "verdict": verdict, **known}
