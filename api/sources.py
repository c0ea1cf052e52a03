"""Knowledge sources: what was added, what came out of it, and ending it."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import Field

from api import pages, schedules
from api.deps import Editor, PoolDep, Viewer
from api.openapi import problems
from api.pages import Cursor, Limit, Page
from api.schedules import Schedule, ScheduleView
from api.wire import Body, Metadata, Text, UtcTime, View
from ingest.db import Connection, transaction
from ingest.errors import Conflict, NotFound
from ingest.model import SourceStatus
from ingest.store import events, rescrapes, source_control, source_views
from ingest.store.source_views import SourceFilter

router = APIRouter(prefix="/api", tags=["knowledge sources"])

_LAST_SEQ = 2**63 - 1


class CrawlView(View):
    """How far a site is crawled, as it was last asked for."""

    limit: int
    max_depth: int | None
    include_paths: list[str]
    exclude_paths: list[str]
    provider: str


class Source(View):
    id: UUID
    application_id: UUID
    batch_id: UUID | None
    type: str
    name: str
    uri: str
    status: SourceStatus
    error_code: str | None
    error_message: str | None
    metadata: dict[str, Any]
    coverage: dict[str, Any] | None
    chunk_count: int
    token_count: int
    size_bytes: int | None
    content_hash: str | None
    duplicate_of: UUID | None
    job_id: UUID | None
    crawl: CrawlView | None
    rescrape: ScheduleView | None
    next_rescrape_at: UtcTime | None
    event_seq: int
    created_at: UtcTime
    updated_at: UtcTime


class SourcePatch(Body):
    """What is left out stays as it is; `metadata` is replaced as a whole."""

    name: Annotated[Text, Field(min_length=1, max_length=1000)] | None = None
    metadata: Metadata | None = None
    rescrape: Schedule | None = None
    """When a page or site is fetched again; null: with all the others, nightly."""


class Document(View):
    id: UUID
    uri: str
    title: str | None
    media_type: str
    status: str
    error_code: str | None
    chunk_count: int
    token_count: int
    coverage: dict[str, Any]
    encoding: dict[str, Any] | None
    extractor: str
    metadata: dict[str, Any]
    warnings: list[str]
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
    char_start: int
    char_end: int


class Event(View):
    seq: int
    type: str
    data: dict[str, Any]
    created_at: UtcTime


class Cancelled(View):
    knowledge_source_id: UUID
    job_ids: list[UUID]


@router.get("/knowledge-sources")
async def list_sources(
    pool: PoolDep,
    key: Viewer,
    *,
    status: SourceStatus | None = None,
    type: Literal["file", "url", "site"] | None = None,
    batch_id: Annotated[UUID | None, Query(alias="batchId")] = None,
    uri: Annotated[Text | None, Query(description="The exact path or URL")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Source]:
    """Knowledge sources, newest first."""
    async with transaction(pool) as conn:
        rows = await source_views.list_sources(
            conn,
            application_id=key.application_id,
            where=SourceFilter(status=status, type=type, batch_id=batch_id, uri=uri),
            limit=limit + 1,
            before=pages.time_and_id(cursor),
        )
    return pages.page(rows, limit, view=Source, key=lambda row: (row.created_at, row.id))


@router.get("/knowledge-sources/{id}")
async def get_source(id: UUID, pool: PoolDep, key: Viewer) -> Source:
    """One knowledge source."""
    async with transaction(pool) as conn:
        return await _source(conn, key.application_id, id)


@router.patch("/knowledge-sources/{id}", responses=problems(409))
async def edit_source(id: UUID, body: SourcePatch, pool: PoolDep, key: Editor) -> Source:
    """Rename a source, replace its metadata, or say when it is fetched again."""
    schedule = schedules.checked(body.rescrape, loc=("body", "rescrape"))
    async with transaction(pool) as conn:
        # First, because it takes the lock of the application.
        if "rescrape" in body.model_fields_set:
            await rescrapes.set_schedule(
                conn, application_id=key.application_id, source_id=id, schedule=schedule
            )
        edited = await source_control.edit(
            conn,
            application_id=key.application_id,
            id=id,
            name=body.name,
            metadata=body.metadata,
        )
        if not edited:
            raise NotFound("knowledge source")
        return await _source(conn, key.application_id, id)


@router.delete("/knowledge-sources/{id}", status_code=204)
async def delete_source(id: UUID, pool: PoolDep, key: Editor) -> None:
    """Delete a source in any state: invisible and unsearchable at once, and for good."""
    async with transaction(pool) as conn:
        deleted = await source_control.delete(conn, application_id=key.application_id, ids=[id])
    if not deleted:
        raise NotFound("knowledge source")


@router.post("/knowledge-sources/{id}/cancel", responses=problems(409))
async def cancel_source(id: UUID, pool: PoolDep, key: Editor) -> Cancelled:
    """Stop the processing of a source. What was searchable before stays so."""
    async with transaction(pool) as conn:
        await _source(conn, key.application_id, id)
        job_ids = await source_control.cancel(
            conn, application_id=key.application_id, source_ids=[id]
        )
        if not job_ids:
            raise Conflict("the knowledge source has no open job", code="not_cancellable")
    return Cancelled(knowledge_source_id=id, job_ids=job_ids)


@router.get("/knowledge-sources/{id}/documents")
async def list_documents(
    id: UUID, pool: PoolDep, key: Viewer, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[Document]:
    """What was extracted: one document of a file, one per page of a site."""
    async with transaction(pool) as conn:
        await _source(conn, key.application_id, id)
        rows = await source_views.list_documents(
            conn,
            application_id=key.application_id,
            source_id=id,
            limit=limit + 1,
            after=pages.only_id(cursor),
        )
    return pages.page(rows, limit, view=Document, key=lambda row: (row.id,))


@router.get("/knowledge-sources/{id}/chunks")
async def list_chunks(
    id: UUID, pool: PoolDep, key: Viewer, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[Chunk]:
    """What is searched, in reading order."""
    async with transaction(pool) as conn:
        await _source(conn, key.application_id, id)
        rows = await source_views.list_chunks(
            conn,
            application_id=key.application_id,
            source_id=id,
            limit=limit + 1,
            after=pages.id_and_number(cursor),
        )
    return pages.page(rows, limit, view=Chunk, key=lambda row: (row.document_id, row.ordinal))


@router.get("/knowledge-sources/{id}/events")
async def list_events(
    id: UUID,
    pool: PoolDep,
    key: Viewer,
    *,
    after: Annotated[int, Query(ge=0, le=_LAST_SEQ, description="Only later ones")] = 0,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Event]:
    """What happened to a source, in order; `seq` has no gaps."""
    seen = max(after, pages.position(cursor) or 0)
    async with transaction(pool) as conn:
        await _source(conn, key.application_id, id)
        rows = await events.after(conn, {id: seen}, limit=limit + 1)
    return pages.page(rows, limit, view=Event, key=lambda row: (row.seq,))


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


async def _source(conn: Connection, application_id: UUID, id: UUID) -> Source:
    row = await source_views.get(conn, application_id=application_id, id=id)
    if row is None:
        raise NotFound("knowledge source")
    return Source.model_validate(row)
