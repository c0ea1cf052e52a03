"""Lists of knowledge sources: pages, counts by state, CSV."""

from typing import Annotated
from uuid import UUID

from fastapi import Query
from fastapi.responses import StreamingResponse

from api.authenticated_route import KeyedRouter
from api.dependencies import PoolDep, Reader, RuntimeDep
from api.routes.sources.sources import Source, complete, require_source
from api.schema import pagination
from api.schema.csv_lines import CSV, Rows, stream
from api.schema.filters import SourceListQuery, SourceQuery, metadata_of
from api.schema.pagination import Page
from ingest.postgres.database import transaction
from ingest.store.lists import source_lists
from ingest.store.lists.counts import StatusCount
from ingest.store.lists.source_lists import Position
from ingest.store.view import View

router = KeyedRouter(prefix="/api/knowledge-sources", tags=["knowledge sources"])

_COLUMNS = (
    *("id", "type", "name", "uri", "status", "errorCode", "errorMessage", "chunkCount"),
    *("tokenCount", "sizeBytes", "createdAt", "updatedAt"),
)


class StatusCounts(View):
    items: list[StatusCount]
    """One for each state, also if there is none."""


@router.get("")
async def list_sources(
    query: Annotated[SourceListQuery, Query()], runtime: RuntimeDep, pool: PoolDep, key: Reader
) -> Page[Source]:
    """Knowledge sources, newest first, or as `sort` says."""
    parse = pagination.time_and_id if query.sort in source_lists.TIMES else pagination.number_and_id
    async with transaction(pool) as conn:
        found = await source_lists.page(
            conn,
            application_id=key.application_id,
            where=query.where(metadata_of(query.metadata)),
            limit=query.limit,
            before=parse(query.cursor),
            sort=query.sort,
        )
    return Page(
        items=[complete(row, runtime.chunking) for row in found.rows],
        next_cursor=None if found.next is None else pagination.encode_cursor(found.next),
    )


@router.get("/counts")
async def count_sources(
    query: Annotated[SourceQuery, Query()], pool: PoolDep, key: Reader
) -> StatusCounts:
    """Sources of each state that fulfil the other conditions, counted up to 10,000.

    With `q` or `metadata`, the newest 20,000 sources of each state are read.
    """
    async with transaction(pool) as conn:
        items = await source_lists.counts(
            conn,
            application_id=key.application_id,
            where=query.where(metadata_of(query.metadata)),
        )
    return StatusCounts(items=items)


@router.get("/export", response_class=StreamingResponse, responses=CSV)
async def export_sources(
    query: Annotated[SourceQuery, Query()], pool: PoolDep, key: Reader
) -> StreamingResponse:
    """The sources of a filter as CSV, newest first, at most 100,000.

    They are read in parts, each at a later time. If one cannot be read, the body ends early.
    """
    where = query.where(metadata_of(query.metadata))

    async def rows(after: Position | None, limit: int) -> tuple[Rows, Position | None]:
        async with transaction(pool) as conn:
            found = await source_lists.page(
                conn,
                application_id=key.application_id,
                where=where,
                limit=limit,
                before=after,
            )
        lines = [
            (
                *(row.id, row.type, row.name, row.uri, row.status, row.error_code),
                *(row.error_message, row.chunk_count, row.token_count, row.size_bytes),
                *(row.created_at.isoformat(), row.updated_at.isoformat()),
            )
            for row in found.rows
        ]
        return lines, found.next

    return await stream(_COLUMNS, rows, name="knowledge-sources")


@router.get("/{id}/children")
async def count_children(id: UUID, pool: PoolDep, key: Reader) -> StatusCounts:
    """Jobs of the current run by state: of the files in a file, or the pages of a site.

    Counted up to 10,000. `GET /api/jobs?parentJobId=` with the source's `jobId` lists them; jobs
    that retention has removed are not counted.
    """
    async with transaction(pool) as conn:
        await require_source(conn, key.application_id, id)
        items = await source_lists.children(conn, application_id=key.application_id, id=id)
    return StatusCounts(items=items)
