"""Knowledge sources: show, edit, retry, cancel and delete them, and read their events."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Query
from pydantic import Field

from api.authenticated_route import KeyedRouter
from api.dependencies import Editor, PoolDep, Reader, RuntimeDep
from api.schema import chunking, pagination, schedules
from api.schema.chunking import Chunking, EffectiveChunking
from api.schema.json_model import Body, Metadata, Text
from api.schema.openapi import problems
from api.schema.pagination import Cursor, Limit, Page
from api.schema.schedules import Schedule
from ingest.errors import Conflict, NotFound
from ingest.postgres.database import Connection, transaction
from ingest.store.bulk import bulk_sources
from ingest.store.crawl import rescrapes
from ingest.store.documents.chunking import ChunkingDefaults
from ingest.store.sources import events, source_control, source_views
from ingest.store.sources.source_views import StoredSource
from ingest.store.view import UtcTime, View

router = KeyedRouter(prefix="/api", tags=["knowledge sources"])

_LAST_SEQ = 2**63 - 1


class Source(StoredSource):
    effective_chunking: EffectiveChunking
    """The settings in use: where `chunking` is null, the application's, or the service's."""


class SourcePatch(Body):
    """Fields that are left out stay unchanged; `metadata` is replaced as a whole."""

    name: Annotated[Text, Field(min_length=1, max_length=1000)] | None = None
    metadata: Metadata | None = None
    rescrape: Schedule | None = None
    """When a page or site is fetched again; null: nightly, like all other sources."""
    chunking: Chunking | None = None
    """Replaced as a whole; stored text is chunked again, without reading files or pages."""


class Event(View):
    seq: int
    type: str
    data: dict[str, Any]
    created_at: UtcTime


class RetriedSource(View):
    knowledge_source_id: UUID
    job_ids: list[UUID]


class ReadAgain(View):
    knowledge_source_id: UUID
    job_id: UUID


class Cancelled(View):
    knowledge_source_id: UUID
    job_ids: list[UUID]


@router.get("/knowledge-sources/{id}")
async def get_source(id: UUID, runtime: RuntimeDep, pool: PoolDep, key: Reader) -> Source:
    """One knowledge source."""
    async with transaction(pool) as conn:
        return complete(await _source(conn, key.application_id, id), runtime.chunking)


@router.patch("/knowledge-sources/{id}", responses=problems(409))
async def edit_source(
    id: UUID, body: SourcePatch, runtime: RuntimeDep, pool: PoolDep, key: Editor
) -> Source:
    """Rename a source, replace its metadata, or change its chunk settings or fetch schedule."""
    schedule = schedules.checked(body.rescrape, loc=("body", "rescrape"))
    async with transaction(pool) as conn:
        # First, because it locks the application.
        if "rescrape" in body.model_fields_set:
            await rescrapes.set_schedule(
                conn, application_id=key.application_id, source_id=id, schedule=schedule
            )
        if "chunking" in body.model_fields_set:
            await chunking.set_of_sources(
                conn, key.application_id, [id], body.chunking, runtime.chunking
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
        return complete(await _source(conn, key.application_id, id), runtime.chunking)


@router.delete("/knowledge-sources/{id}", status_code=204)
async def delete_source(id: UUID, pool: PoolDep, key: Editor) -> None:
    """Delete a source in any state, permanently. Lists and searches omit it at once."""
    async with transaction(pool) as conn:
        deleted = await source_control.delete(conn, application_id=key.application_id, ids=[id])
    if not deleted:
        raise NotFound("knowledge source")


@router.post("/knowledge-sources/{id}/cancel", responses=problems(409))
async def cancel_source(id: UUID, pool: PoolDep, key: Editor) -> Cancelled:
    """Cancel the processing of a source. Content that is searchable stays searchable."""
    async with transaction(pool) as conn:
        await require_source(conn, key.application_id, id)
        job_ids = await source_control.cancel(
            conn, application_id=key.application_id, source_ids=[id]
        )
        if not job_ids:
            raise Conflict("the knowledge source has no open job", code="not_cancellable")
    return Cancelled(knowledge_source_id=id, job_ids=job_ids)


@router.post("/knowledge-sources/{id}/retry", status_code=202, responses=problems(409))
async def retry_source(id: UUID, pool: PoolDep, key: Editor) -> RetriedSource:
    """Queue the failed or cancelled jobs of the current run again; their attempts start at zero.

    That is the run itself or, if it completed, the files in the file that failed. Pages that
    failed in a completed crawl are fetched again by `rescrape`.
    """
    async with transaction(pool) as conn:
        source = await _source(conn, key.application_id, id)
        job_ids = await bulk_sources.retry(conn, application_id=key.application_id, ids=[id])
        if not job_ids:
            raise Conflict(
                f"the knowledge source is {source.status} and has no job to retry",
                code="not_retryable",
            )
    return RetriedSource(knowledge_source_id=id, job_ids=job_ids)


@router.post("/knowledge-sources/{id}/read-again", status_code=202, responses=problems(409))
async def read_source_again(id: UUID, pool: PoolDep, key: Editor) -> ReadAgain:
    """Read a source again although it has not changed: a file from its stored bytes, pages anew.

    For sources that a newer version of the service reads better, and for scans once text
    recognition is on. What is stored stays searchable until then.
    """
    async with transaction(pool) as conn:
        source = await _source(conn, key.application_id, id)
        started = await source_control.read_again(conn, application_id=key.application_id, ids=[id])
        if not started:
            raise Conflict(
                f"the knowledge source is {source.status} and has no content to read again",
                code="not_readable",
            )
    return ReadAgain(knowledge_source_id=id, job_id=started[id])


@router.get("/knowledge-sources/{id}/events")
async def list_events(
    id: UUID,
    pool: PoolDep,
    key: Reader,
    *,
    after: Annotated[
        int, Query(ge=0, le=_LAST_SEQ, description="Only events with a larger `seq`")
    ] = 0,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Event]:
    """The events of a source, in order; `seq` has no gaps."""
    seen = max(after, pagination.position(cursor) or 0)
    async with transaction(pool) as conn:
        await require_source(conn, key.application_id, id)
        rows = await events.after(conn, {id: seen}, limit=limit + 1)
    views = [Event.model_validate(row) for row in rows]
    return pagination.page(views, limit, key=lambda row: (row.seq,))


async def require_source(conn: Connection, application_id: UUID, id: UUID) -> None:
    """Raise NotFound unless the source exists in this application and is not deleted."""
    if await source_views.event_seq(conn, application_id=application_id, id=id) is None:
        raise NotFound("knowledge source")


async def _source(conn: Connection, application_id: UUID, id: UUID) -> StoredSource:
    row = await source_views.get(conn, application_id=application_id, id=id)
    if row is None:
        raise NotFound("knowledge source")
    return row


def complete(row: StoredSource, defaults: ChunkingDefaults) -> Source:
    """The source with what depends on the settings of the installation."""
    effective = EffectiveChunking.model_validate(defaults.effective(*row.chunking_choices))
    return Source(**dict(row), effective_chunking=effective)
