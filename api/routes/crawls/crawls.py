"""Runs of pages and sites: their results, the outcome of every page, and starting a new run."""

from typing import Annotated
from uuid import UUID

from fastapi import Query
from fastapi.responses import JSONResponse

from api.authenticated_route import KeyedRouter
from api.dependencies import Editor, PoolDep, Reader
from api.idempotency import IdempotentDep
from api.routes.sources.sources import require_source
from api.schema import pagination
from api.schema.json_model import Body
from api.schema.pagination import Cursor, Limit, Page
from ingest.errors import NotFound
from ingest.postgres.database import Connection, transaction
from ingest.store.crawl import crawl_views, runs
from ingest.store.crawl.crawl_pages import PageStatus
from ingest.store.crawl.crawl_views import Crawl, CrawlPage
from ingest.store.view import View

router = KeyedRouter(prefix="/api/knowledge-sources", tags=["crawls"])


class RescrapeRequest(Body):
    accept_losses: bool = False
    """Accept the current content, even of pages that lost most of their text."""


class RescrapeAccepted(View):
    knowledge_source_id: UUID
    job_id: UUID
    crawl_id: UUID


@router.post("/{id}/rescrape", status_code=202, response_model=RescrapeAccepted)
async def rescrape_source(
    id: UUID,
    pool: PoolDep,
    key: Editor,
    idempotent: IdempotentDep,
    body: RescrapeRequest | None = None,
) -> JSONResponse:
    """Fetch a page or site again now. If a run is open, that run continues."""

    async def work(conn: Connection) -> RescrapeAccepted:
        run = await runs.rescrape(
            conn,
            application_id=key.application_id,
            source_id=id,
            accept_losses=body is not None and body.accept_losses,
        )
        if run is None:
            raise NotFound("knowledge source")
        return RescrapeAccepted(
            knowledge_source_id=run.source_id, job_id=run.job_id, crawl_id=run.crawl_id
        )

    return await idempotent.run_once(pool, work, application_id=key.application_id, status=202)


@router.get("/{id}/crawls")
async def list_crawls(
    id: UUID, pool: PoolDep, key: Reader, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[Crawl]:
    """Runs of a page or site, newest first."""
    async with transaction(pool) as conn:
        await require_source(conn, key.application_id, id)
        rows = await crawl_views.list_crawls(
            conn,
            application_id=key.application_id,
            source_id=id,
            limit=limit + 1,
            before=pagination.time_and_id(cursor),
        )
    return pagination.page(rows, limit, key=lambda row: (row.created_at, row.id))


@router.get("/{id}/pages")
async def list_pages(
    id: UUID,
    pool: PoolDep,
    key: Reader,
    *,
    crawl_id: Annotated[
        UUID | None, Query(alias="crawlId", description="Default: the latest run")
    ] = None,
    status: PageStatus | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[CrawlPage]:
    """The outcome of each page in a run."""
    async with transaction(pool) as conn:
        await require_source(conn, key.application_id, id)
        rows = await crawl_views.list_pages(
            conn,
            application_id=key.application_id,
            source_id=id,
            crawl_id=crawl_id,
            status=status,
            limit=limit + 1,
            after=pagination.only_id(cursor),
        )
    return pagination.page(rows, limit, key=lambda row: (row.id,))
