"""What came out of files and pages: documents, their chunks, their text."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import Response

from api.dependencies import PoolDep, Viewer
from api.keyed_route import KeyedRoute
from api.schema import pagination
from api.schema.coverage import Coverage
from api.schema.json_model import UtcTime, View
from api.schema.pagination import Cursor, Limit, Page
from ingest.errors import NotFound
from ingest.postgres.database import Connection, transaction
from ingest.store.sources import source_views

router = APIRouter(route_class=KeyedRoute, prefix="/api", tags=["knowledge sources"])


class Encoding(View):
    """How bytes became text; null for formats that say it themselves."""

    name: str
    confidence: float
    """1: declared by a byte order mark, or proved."""
    replaced: int = 0
    """Characters that could not be decoded, and became U+FFFD."""


class Document(View):
    id: UUID
    knowledge_source_id: UUID
    uri: str
    title: str | None
    media_type: str
    status: str
    error_code: str | None
    error_message: str | None
    """What is missing of a `partial` one."""
    chunk_count: int
    token_count: int
    coverage: Coverage
    encoding: Encoding | None
    extractor: str
    metadata: dict[str, Any]
    warnings: list[str]
    """Stable codes of what was odd, but no error."""
    created_at: UtcTime
    updated_at: UtcTime
    deleted_at: UtcTime | None


class Chunk(View):
    id: UUID
    document_id: UUID
    ordinal: int
    content: str
    token_count: int
    headings: list[str]
    page: int | None
    page_end: int | None
    char_start: int
    char_end: int


@router.get("/knowledge-sources/{id}/documents")
async def list_documents(
    id: UUID, pool: PoolDep, key: Viewer, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[Document]:
    """What was extracted: one document of a file, one per page of a site."""
    async with transaction(pool) as conn:
        await _prove(conn, key.application_id, id)
        rows = await source_views.list_documents(
            conn,
            application_id=key.application_id,
            source_id=id,
            limit=limit + 1,
            after=pagination.only_id(cursor),
        )
    return pagination.page(rows, limit, view=Document, key=lambda row: (row.id,))


@router.get("/knowledge-sources/{id}/chunks")
async def list_chunks(
    id: UUID, pool: PoolDep, key: Viewer, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[Chunk]:
    """What is searched, in reading order."""
    async with transaction(pool) as conn:
        await _prove(conn, key.application_id, id)
        rows = await source_views.list_chunks(
            conn,
            application_id=key.application_id,
            source_id=id,
            limit=limit + 1,
            after=pagination.id_and_number(cursor),
        )
    return pagination.page(rows, limit, view=Chunk, key=lambda row: (row.document_id, row.ordinal))


@router.get("/documents/{id}")
async def get_document(id: UUID, pool: PoolDep, key: Viewer) -> Document:
    """One document: what it is, how it was read, and how much of it."""
    async with transaction(pool) as conn:
        found = await source_views.document(conn, application_id=key.application_id, document_id=id)
    if found is None:
        raise NotFound("document")
    return Document.model_validate(found)


@router.get(
    "/documents/{id}/text",
    response_class=Response,
    responses={200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}},
)
async def get_document_text(id: UUID, pool: PoolDep, key: Viewer) -> Response:
    """The extracted text of a document, as Markdown."""
    async with transaction(pool) as conn:
        text = await source_views.document_text(
            conn, application_id=key.application_id, document_id=id
        )
    if text is None:
        raise NotFound("document")
    # The text came from a file of unknown origin: no browser may take it for a page of ours.
    return Response(
        text,
        media_type="text/markdown; charset=utf-8",
        headers={"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox"},
    )


async def _prove(conn: Connection, application_id: UUID, source_id: UUID) -> None:
    """NotFound unless the source lives, and in this application."""
    known = await source_views.event_seq(conn, application_id=application_id, id=source_id)
    if known is None:
        raise NotFound("knowledge source")
