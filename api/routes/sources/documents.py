"""The results of files and pages: documents, their chunks, their text."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Header, Query
from fastapi.responses import Response, StreamingResponse

from api.authenticated_route import KeyedRouter
from api.dependencies import PoolDep, Reader, RuntimeDep
from api.downloads import RESPONSES, download
from api.routes.sources.sources import require_source
from api.schema import pagination
from api.schema.pagination import Cursor, Limit, Page
from ingest.errors import NotFound
from ingest.postgres.database import transaction
from ingest.store.documents import originals
from ingest.store.sources import source_views
from ingest.store.sources.source_views import Chunk, Document, LeftOut
from ingest.store.view import View

MOST_CHARACTERS: Final = 1_000_000_000
"""More than any text has."""
_MOST_LEFT_OUT: Final = 200

router = KeyedRouter(prefix="/api", tags=["knowledge sources"])


class LeftOutBlocks(View):
    items: list[LeftOut]


@router.get("/knowledge-sources/{id}/documents")
async def list_documents(
    id: UUID, pool: PoolDep, key: Reader, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[Document]:
    """The documents of a source: one for a file, one per page of a site."""
    async with transaction(pool) as conn:
        await require_source(conn, key.application_id, id)
        rows = await source_views.list_documents(
            conn,
            application_id=key.application_id,
            source_id=id,
            limit=limit + 1,
            after=pagination.only_id(cursor),
        )
    return pagination.page(rows, limit, key=lambda row: (row.id,))


@router.get("/knowledge-sources/{id}/chunks")
async def list_chunks(
    id: UUID, pool: PoolDep, key: Reader, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[Chunk]:
    """The searchable chunks of a source, in reading order."""
    async with transaction(pool) as conn:
        await require_source(conn, key.application_id, id)
        rows = await source_views.list_chunks(
            conn,
            application_id=key.application_id,
            source_id=id,
            limit=limit + 1,
            after=pagination.id_and_number(cursor),
        )
    return pagination.page(rows, limit, key=lambda row: (row.document_id, row.ordinal))


@router.get("/documents/{id}")
async def get_document(id: UUID, pool: PoolDep, key: Reader) -> Document:
    """One document: its type, its extractor and its coverage."""
    async with transaction(pool) as conn:
        found = await source_views.document(conn, application_id=key.application_id, document_id=id)
    if found is None:
        raise NotFound("document")
    return found


@router.get(
    "/documents/{id}/text",
    response_class=Response,
    responses={200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}},
)
async def get_document_text(
    id: UUID,
    pool: PoolDep,
    key: Reader,
    *,
    start: Annotated[int | None, Query(ge=0, le=MOST_CHARACTERS)] = None,
    end: Annotated[int | None, Query(ge=0, le=MOST_CHARACTERS)] = None,
) -> Response:
    """The extracted text of a document, as Markdown.

    `start`, `end`: only the characters from the first offset to before the second, as those of a
    page or a chunk.
    """
    part = None if start is None and end is None else (start or 0, end or MOST_CHARACTERS)
    async with transaction(pool) as conn:
        text = await source_views.document_text(
            conn, application_id=key.application_id, document_id=id, part=part
        )
    if text is None:
        raise NotFound("document")
    # The text comes from an untrusted file: no browser may render it as a page of ours.
    return Response(
        text,
        media_type="text/markdown; charset=utf-8",
        headers={"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox"},
    )


@router.get("/documents/{id}/left-out")
async def get_left_out(id: UUID, pool: PoolDep, key: Reader) -> LeftOutBlocks:
    """Menus, footers and other blocks that repeat on a site's pages and were left out of this one.

    The first 200, in the order of the page; none if `leaveOutFurniture` is off.
    """
    async with transaction(pool) as conn:
        found = await source_views.document(conn, application_id=key.application_id, document_id=id)
        if found is None:
            raise NotFound("document")
        blocks = await source_views.left_out(
            conn, application_id=key.application_id, document_id=id, limit=_MOST_LEFT_OUT
        )
    return LeftOutBlocks(items=blocks)


@router.get("/documents/{id}/original", response_class=StreamingResponse, responses=RESPONSES)
async def get_original(
    id: UUID,
    pool: PoolDep,
    runtime: RuntimeDep,
    key: Reader,
    *,
    requested: Annotated[str | None, Header(alias="Range")] = None,
    if_range: Annotated[str | None, Header()] = None,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """The stored bytes of the file, as a download; `Range` asks for a part of them.

    Web pages have none (404, code `original_not_stored`), nor have files inside archives and
    messages whose jobs were deleted by retention.
    """
    async with transaction(pool) as conn:
        original = await originals.find(conn, application_id=key.application_id, document_id=id)
    if original is None:
        raise NotFound("document")
    return await download(
        runtime.blobs,
        original,
        requested=requested,
        if_range=if_range,
        if_none_match=if_none_match,
    )
