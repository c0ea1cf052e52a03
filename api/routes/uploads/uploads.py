"""Upload files: any number in one request, one verdict for each."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import BeforeValidator, Field

from api.authenticated_route import KeyedRouter
from api.authentication import Key
from api.dependencies import Editor, PoolDep, RuntimeDep
from api.idempotency import IdempotencyKey, IdempotentRequest, digest
from api.middleware.in_use import in_use_of
from api.problems import problem
from api.schema import json_body
from api.schema.chunking import Chunking
from api.schema.json_model import Body, Metadata
from api.schema.openapi import InvalidRequest, problems
from api.upload import multipart
from api.upload.form_fields import field_names, parse_fields
from api.upload.incoming import incoming_of
from api.upload.intake import Intake
from api.upload.registration import ChunkingChange, NothingAccepted, refused_answer, register
from ingest.errors import Rejected
from ingest.postgres.database import transaction
from ingest.runtime import Runtime
from ingest.store.limits import usage
from ingest.store.sources.upload_verdicts import (
    OnConflict,
    UploadedFile,
    UploadRequest,
    Verdict,
)
from ingest.store.view import View

router = KeyedRouter(prefix="/upload", tags=["upload"])


def _parse_json(text: Any) -> Any:
    return json_body.parse_field(text) if isinstance(text, str) else text


class UploadFields(Body):
    """The fields beside the files."""

    metadata: Annotated[Metadata, BeforeValidator(_parse_json)] | None = None
    priority: Annotated[int, Field(ge=-100, le=100)] = 0
    batch_id: UUID | None = None
    on_conflict: OnConflict = "update"
    collection_id: UUID | None = None
    """The collection that the files join, also unchanged files that are already stored."""
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
                        "description": "Up to 50,000; a file name may contain a relative path",
                        "items": {"type": "string", "format": "binary"},
                    },
                    "metadata": {"type": "object", "description": "As JSON"},
                    "priority": {"type": "integer", "minimum": -100, "maximum": 100},
                    "batchId": {"type": "string", "format": "uuid"},
                    "onConflict": {"type": "string", "enum": ["update", "skip"]},
                    "collectionId": {"type": "string", "format": "uuid"},
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
    responses={**problems(403, 413, 415, 507), 422: _REFUSED},
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
    in_use, incoming = in_use_of(request), incoming_of(request)
    async with transaction(pool) as conn:
        room = await usage.room(conn, key.application_id, runtime.settings.quotas)
    with (
        in_use.limited("uploads", key, room.quotas),
        incoming.upload(key.application_id, room) as bytes_in,
    ):
        await incoming.require_disk()
        async with Intake(
            runtime.blobs,
            application_id=key.application_id,
            field_names=field_names(UploadFields),
            max_file_bytes=runtime.settings.max_file_bytes,
            incoming=bytes_in,
        ) as intake:
            content_type = request.headers.get("content-type", "")
            await intake.receive(multipart.read(content_type, request.stream()))
            fields = parse_fields(UploadFields, intake.fields)
            if not intake.files:
                raise Rejected("the request has no part named `files`", code="no_files")
            if all(_lasting(file.code) for file in intake.files):
                return _nothing_accepted([refused_answer(file) for file in intake.files])
            upload = _upload(fields, key, runtime)
            idempotent = IdempotentRequest(
                idempotency_key, digest(_digest_fields(upload, fields.chunking, intake.files))
            )
            cut = None
            if fields.chunking is not None:
                cut = ChunkingChange(fields.chunking, runtime.chunking)
            try:
                return (await register(pool, intake, upload, idempotent, cut)).response()
            except NothingAccepted as error:
                return _nothing_accepted(error.files)


def _upload(fields: UploadFields, key: Key, runtime: Runtime) -> UploadRequest:
    return UploadRequest(
        application_id=key.application_id,
        batch_id=fields.batch_id,
        model_id=runtime.model_id,
        metadata=fields.metadata,
        priority=fields.priority,
        on_conflict=fields.on_conflict,
        collection_id=fields.collection_id,
        quotas=runtime.settings.quotas,
    )


def _nothing_accepted(files: Sequence[Mapping[str, Any]]) -> JSONResponse:
    return problem(422, code="nothing_accepted", detail="all files were rejected", files=files)


def _digest_fields(
    upload: UploadRequest, cut_by: Chunking | None, files: Sequence[UploadedFile]
) -> list[Any]:
    """Fields covered by the idempotency digest."""
    return [
        *([] if cut_by is None else [cut_by.model_dump()]),
        *([] if upload.collection_id is None else [{"collection": str(upload.collection_id)}]),
        upload.metadata,
        upload.priority,
        str(upload.batch_id),
        upload.on_conflict,
        [[file.path, file.sha256.hex(), _lasting(file.code)] for file in files],
    ]


def _lasting(code: str | None) -> str | None:
    """A refusal that a repeated request meets again; room in a quota may have changed."""
    return None if code == "quota_exceeded" else code
