"""Pages of a document: their pictures, their text, and where chunks stand on them."""

from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import Header, Path, Query
from fastapi.responses import Response

from api.authenticated_route import KeyedRouter
from api.authentication import Key
from api.dependencies import PoolDep, Reader, RuntimeDep
from api.routes.sources.documents import MOST_CHARACTERS
from api.schema import pagination
from api.schema.openapi import problems
from api.schema.pagination import Cursor, Limit, Page
from ingest import page_views
from ingest.errors import NoPage, NotFound, NotStored, Permanent, Rejected
from ingest.page_views import PageFile
from ingest.postgres.database import Connection, transaction
from ingest.store.documents import originals
from ingest.store.documents.originals import Original
from ingest.store.pages import page_views as stored
from ingest.store.pages.page_views import DocumentPages, PageView
from ingest.store.sources import source_views
from ingest.store.sources.source_views import Chunk
from ingest.store.view import View

router = KeyedRouter(prefix="/api/documents", tags=["pages"])

Number = Annotated[int, Path(ge=1, le=1_000_000)]
Offset = Annotated[int | None, Query(ge=0, le=MOST_CHARACTERS)]
Box = tuple[float, float, float, float]

_MOST_CHUNKS: Final = 500
"""Whose places on a page are sought at once."""
_LONGEST_TEXT: Final = 200_000
"""Characters of a page; chunks after them are not found."""
_NO_IMAGES: Final = "there are pictures of pages of PDFs and image files only"
# A browser may keep the picture, but asks each time whether its user may still see it.
_CACHING: Final = {
    "Cache-Control": "private, no-cache",
    "Vary": "Authorization, Cookie, X-Application-Id",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
}


class Pages(View):
    """The pages of a document, and what can be shown of them."""

    count: int
    """Pages of the file; 1 if its format has none."""
    items: list[PageView]
    """None for a format without pages, such as a text or a single picture."""
    characters: int
    """Of the document's text."""
    images: Literal["available", "original_not_stored", "no_page_images"]
    """Whether there are pictures of the pages; else the code of what is missing."""
    is_ocr: bool
    """Whether all of its text was recognised in pictures."""


class Place(View):
    chunk_id: UUID
    ordinal: int
    boxes: list[Box]
    """Left, top, right, bottom as shares of the page, from its upper left corner; about one for
    each line. None if the chunk was not found on the page."""


class Places(View):
    """Where chunks stand on a page."""

    page: int
    width: float
    """Points of a PDF, pixels of an image, like `height`; of the page as it is shown."""
    height: float
    source: Literal["text_layer", "ocr", "none"]
    """What tells the places. `none`: the page has no text layer and its words were not kept; upload
    the file again to have them recognised with their places."""
    places: list[Place]
    is_truncated: bool
    """Whether the page has more chunks."""


@router.get("/{id}/pages")
async def list_document_pages(id: UUID, pool: PoolDep, key: Reader) -> Pages:
    """The pages of a document: their ranges of its text, and how each was read."""
    async with transaction(pool) as conn:
        pages, original = await _pages(conn, key, id)
    images: Literal["available", "original_not_stored", "no_page_images"] = "available"
    if not page_views.has_images(pages.media_type):
        images = "no_page_images"
    elif original.blob_key is None:
        images = "original_not_stored"
    return Pages(
        count=pages.count,
        items=pages.views(),
        characters=pages.characters,
        images=images,
        is_ocr=pages.is_ocr,
    )


@router.get("/{id}/chunks")
async def list_document_chunks(
    id: UUID,
    pool: PoolDep,
    key: Reader,
    *,
    start: Offset = None,
    end: Offset = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Chunk]:
    """The chunks of a document in reading order.

    `start`, `end`: only those that have characters of this part of the text, such as a page's.
    """
    async with transaction(pool) as conn:
        await _pages(conn, key, id)
        rows = await stored.chunks(
            conn,
            application_id=key.application_id,
            document_id=id,
            limit=limit + 1,
            after=pagination.position(cursor),
            start=start,
            end=end,
        )
    return pagination.page(rows, limit, key=lambda row: (row.ordinal,))


@router.get(
    "/{id}/pages/{page}.png",
    response_class=Response,
    responses={
        200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}},
        304: {"description": "Unchanged"},
        **problems(410, 503),
    },
)
async def get_page_image(
    id: UUID,
    page: Number,
    pool: PoolDep,
    runtime: RuntimeDep,
    key: Reader,
    *,
    width: Annotated[int, Query(ge=16, le=page_views.WIDTHS[-1])] = 1280,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """A picture of a page of a PDF or an image file.

    `width`: at least so many pixels, if the page is not too large for that. Codes of 404:
    `no_page_images` (of other formats), `no_such_page`, `original_not_stored`; 422 if the page
    cannot be drawn.
    """
    async with transaction(pool) as conn:
        file, _ = await _file(conn, key, id, page)
    width = page_views.rounded(width)
    etag = f'"{file.content_hash.hex()[:32]}-{page}-{width}"'
    headers = {**_CACHING, "ETag": etag}
    if if_none_match is not None and etag in if_none_match:
        return Response(status_code=304, headers=headers)
    try:
        png = await runtime.page_views.image(file, page, width)
    except Permanent as error:
        raise Rejected(str(error), code=error.code) from None
    return Response(png, media_type="image/png", headers=headers)


@router.get("/{id}/pages/{page}/places", responses=problems(410, 503))
async def get_page_places(
    id: UUID,
    page: Number,
    pool: PoolDep,
    runtime: RuntimeDep,
    key: Reader,
    *,
    chunk_id: Annotated[UUID | None, Query(alias="chunkId")] = None,
) -> Places:
    """Where the chunks of a page stand on it, or only the chunk `chunkId`.

    A chunk that continues on the next page has places on both. Codes as for the page's picture.
    """
    async with transaction(pool) as conn:
        file, pages = await _file(conn, key, id, page)
        start, end = _range(pages, page)
        text = await source_views.document_text(
            conn,
            application_id=key.application_id,
            document_id=id,
            part=(start, min(end, start + _LONGEST_TEXT)),
        )
        words = await stored.words(conn, document_id=id, page=page)
        found = await stored.chunks(
            conn,
            application_id=key.application_id,
            document_id=id,
            limit=_MOST_CHUNKS + 1,
            start=start,
            end=end,
        )
    shown = [chunk for chunk in found[:_MOST_CHUNKS] if chunk_id in (None, chunk.id)]
    if chunk_id is not None and not shown:
        raise NotFound("chunk on this page")
    try:
        located = await runtime.page_views.locate(
            file,
            page,
            text=text or "",
            ranges=[(max(0, chunk.char_start - start), chunk.char_end - start) for chunk in shown],
            words=words,
        )
    except Permanent as error:
        raise Rejected(str(error), code=error.code) from None
    source: Literal["text_layer", "ocr"] = "text_layer" if words is None else "ocr"
    return Places(
        page=page,
        width=located.width,
        height=located.height,
        source=source if located.has_words else "none",
        places=[
            Place(chunk_id=chunk.id, ordinal=chunk.ordinal, boxes=list(boxes))
            for chunk, boxes in zip(shown, located.places, strict=True)
        ],
        is_truncated=len(found) > _MOST_CHUNKS,
    )


async def _pages(conn: Connection, key: Key, id: UUID) -> tuple[DocumentPages, Original]:
    pages = await stored.pages(conn, application_id=key.application_id, document_id=id)
    original = await originals.find(conn, application_id=key.application_id, document_id=id)
    if pages is None or original is None:
        raise NotFound("document")
    return pages, original


async def _file(conn: Connection, key: Key, id: UUID, page: int) -> tuple[PageFile, DocumentPages]:
    """What is needed to show a page. Raises NotFound, NoPage and NotStored."""
    pages, original = await _pages(conn, key, id)
    if not page_views.has_images(pages.media_type):
        raise NoPage(_NO_IMAGES, code="no_page_images")
    if original.blob_key is None:
        raise NotStored("the bytes of this document")
    _range(pages, page)
    file = PageFile(
        application_id=key.application_id,
        document_id=id,
        media_type=pages.media_type,
        content_hash=original.content_hash,
        blob_key=original.blob_key,
    )
    return file, pages


def _range(pages: DocumentPages, page: int) -> tuple[int, int]:
    if page > pages.count:
        raise NoPage(f"the document has {pages.count} pages", code="no_such_page")
    return pages.range_of(page)
