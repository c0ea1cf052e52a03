"""Preview a file: extracted and chunked as an upload would be, without storing anything."""

import asyncio
from collections.abc import Coroutine, Iterator, Mapping
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Request
from pydantic import BeforeValidator
from starlette.requests import ClientDisconnect

from api.authenticated_route import KeyedRouter
from api.dependencies import Editor, PoolDep, RuntimeDep
from api.schema import chunking, json_body
from api.schema.chunking import Chunking
from api.schema.json_model import Body
from api.schema.openapi import problems
from api.upload import multipart
from api.upload.form_fields import field_names, parse_fields
from api.upload.one_file import SingleFileForm
from ingest.asynchronous.tasks import cancel_all
from ingest.errors import IsArchive, Permanent, Rejected
from ingest.model import Chunk, ChunkSettings, section_paths
from ingest.postgres.database import Pool, transaction
from ingest.preview import Preview
from ingest.runtime import Runtime
from ingest.store.documents.documents import coverage_json
from ingest.store.documents.extraction_views import Coverage, Encoding
from ingest.store.tenants import applications
from ingest.store.view import View
from ingest.temporary_folders import scratch_folder

router = KeyedRouter(prefix="/api", tags=["upload"])

PATH: Final = "/api/preview"

_MAX_FILE_BYTES: Final = 100 * 1024 * 1024
_MAX_CHARACTERS: Final = 200_000
_MAX_CHUNKS: Final = 200


class PreviewFields(Body):
    """The fields beside the file."""

    chunking: Annotated[Chunking, BeforeValidator(json_body.parse_field)] | None = None
    ocr: bool = True


class PreviewChunk(View):
    ordinal: int
    content: str
    token_count: int
    headings: list[str]
    """Above the start of the chunk, outermost first."""
    sections: list[list[str]]
    """The same for every section that the chunk contains, in reading order."""
    page: int | None
    page_end: int | None
    start: int
    """Offset in the text, in characters, like `end`."""
    end: int


class Attachment(View):
    """A file inside the file."""

    name: str
    size_bytes: int | None = None
    media_type: str | None = None


class PreviewAnswer(View):
    media_type: str
    title: str | None
    extractor: str
    encoding: Encoding | None
    coverage: Coverage
    warnings: list[str]
    metadata: dict[str, Any]
    text: str
    """Markdown, the first 200,000 characters."""
    text_length: int
    chunk_count: int
    token_count: int
    chunks: list[PreviewChunk]
    """The first 200."""
    is_truncated: bool
    """Whether `text` or `chunks` is only the beginning."""
    attachments: list[Attachment]


_REQUEST_BODY: Final = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "additionalProperties": False,
                "properties": {
                    "file": {"type": "string", "format": "binary"},
                    "chunking": {"$ref": "#/components/schemas/Chunking"},
                    "ocr": {
                        "type": "boolean",
                        "description": "Recognise text in pictures, as an upload would",
                    },
                },
            }
        }
    },
}


@router.post(
    "/preview",
    responses=problems(413, 415),
    openapi_extra={"requestBody": _REQUEST_BODY},
)
async def preview_file(
    request: Request, runtime: RuntimeDep, pool: PoolDep, key: Editor
) -> PreviewAnswer:
    """Extract and chunk a file as an upload would, without storing anything.

    A file that cannot be read is a 422 with the code that its upload would end with.
    """
    async with scratch_folder() as folder:
        form = SingleFileForm(
            folder / "file",
            field_names=field_names(PreviewFields),
            limit=min(runtime.settings.max_file_bytes, _MAX_FILE_BYTES),
        )
        content_type = request.headers.get("content-type", "")
        await form.receive(multipart.read(content_type, request.stream()))
        fields = parse_fields(PreviewFields, form.fields)
        if form.name is None:
            raise Rejected("the request has no part named `file`", code="no_files")
        cut_by = await _chunk_settings(runtime, pool, key.application_id, fields)
        making = runtime.previews.make(
            form.path, owner=key.application_id, name=form.name, cut_by=cut_by, ocr=fields.ocr
        )
        try:
            made = await _cancel_on_disconnect(request, making)
        except IsArchive as error:
            raise Rejected(
                f"{error} Upload it: each file in it becomes a document.", code=error.code
            ) from None
        except Permanent as error:
            raise Rejected(str(error), code=error.code) from None
    return _answer(made)


async def _cancel_on_disconnect(request: Request, making: Coroutine[Any, Any, Preview]) -> Preview:
    """The preview; cancelled if the client disconnects, since other requests need the slot."""
    made, left = asyncio.create_task(making), asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait((made, left), return_when=asyncio.FIRST_COMPLETED)
        if not made.done():
            raise ClientDisconnect
        return made.result()
    finally:
        await cancel_all(made, left)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _chunk_settings(
    runtime: Runtime, pool: Pool, application_id: UUID, fields: PreviewFields
) -> ChunkSettings:
    async with transaction(pool) as conn:
        outer = (await applications.settings_of(conn, application_id)).chunking
    own = chunking.checked(fields.chunking, runtime.chunking, outer, loc=("body", "chunking"))
    return runtime.chunking.effective(outer, own)


def _answer(made: Preview) -> PreviewAnswer:
    document, chunks = made.document, made.chunks
    return PreviewAnswer(
        media_type=document.media_type,
        title=document.title,
        extractor=document.extractor,
        encoding=None if document.encoding is None else Encoding.model_validate(document.encoding),
        coverage=Coverage.model_validate(coverage_json(document.coverage)),
        warnings=list(document.warnings),
        metadata=document.metadata,
        text=document.text[:_MAX_CHARACTERS],
        text_length=len(document.text),
        chunk_count=len(chunks),
        token_count=sum(chunk.token_count for chunk in chunks),
        chunks=[_chunk(chunk) for chunk in chunks[:_MAX_CHUNKS]],
        is_truncated=len(document.text) > _MAX_CHARACTERS or len(chunks) > _MAX_CHUNKS,
        attachments=list(_attachments(document.metadata)),
    )


def _chunk(chunk: Chunk) -> PreviewChunk:
    return PreviewChunk(
        ordinal=chunk.ordinal,
        content=chunk.text,
        token_count=chunk.token_count,
        headings=list(chunk.headings),
        sections=section_paths(chunk.headings, chunk.sections),
        page=chunk.page,
        page_end=chunk.page_end,
        start=chunk.start,
        end=chunk.end,
    )


def _attachments(metadata: Mapping[str, Any]) -> Iterator[Attachment]:
    """The attachments that the parser lists, validated: the file is untrusted."""
    listed = metadata.get("attachments")
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict) and isinstance(item.get("name"), str):
            size, media_type = item.get("sizeBytes"), item.get("mediaType")
            yield Attachment(
                name=item["name"],
                size_bytes=size if isinstance(size, int) else None,
                media_type=media_type if isinstance(media_type, str) else None,
            )
