"""Add a page or a site by URL; a single page can be followed until it is done."""

from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Header, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import ConfigDict

from api.authenticated_route import KeyedRouter
from api.authentication import Key
from api.dependencies import Editor, EditorOrTicket, PoolDep, RuntimeDep
from api.idempotency import IdempotentDep, to_json
from api.live.page_stream import FollowedPage, parse_event_id, stream_page
from api.live.websocket import hub_of
from api.middleware.in_use import in_use_of
from api.schema import chunking, schedules
from api.schema.chunking import Chunking
from api.schema.crawl_request import CrawlRequest, new_run
from api.schema.json_model import Metadata
from api.schema.openapi import problems
from api.schema.schedules import Schedule
from api.upload.incoming import Incoming, incoming_of
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.crawl import rescrapes, runs
from ingest.store.crawl.runs import NewRun, StartedRun
from ingest.store.limits import usage
from ingest.store.queue import job_views
from ingest.store.sources import collections
from ingest.store.view import View

router = KeyedRouter(prefix="/upload", tags=["upload"])


class UrlRequest(CrawlRequest):
    rescrape: Schedule | None = None
    """When to fetch it again; null: nightly, like all other sources. Left out: unchanged."""
    metadata: Metadata | None = None
    collection_id: UUID | None = None
    """The collection that the source joins."""
    chunking: Chunking | None = None
    """Chunk settings. null: use the application's; omitted: keep the current ones."""


class UrlQuery(CrawlRequest):
    # api/schema/query.py has already rejected unknown parameters; `ticket` is not a field here.
    model_config = ConfigDict(extra="ignore")


class UrlAccepted(View):
    knowledge_source_id: UUID
    job_id: UUID
    crawl_id: UUID


_STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The progress of a single page",
        "content": {"text/event-stream": {}},
    },
    202: {"description": "A crawl was queued", "model": UrlAccepted},
    204: {"description": "The page is already done: an EventSource does not reconnect"},
}


@router.post("/url", status_code=202, response_model=UrlAccepted, responses=problems(403, 507))
async def add_url(
    body: UrlRequest,
    request: Request,
    runtime: RuntimeDep,
    pool: PoolDep,
    key: Editor,
    idempotent: IdempotentDep,
) -> JSONResponse:
    """Fetch a page or, with `crawlLinks`, crawl a site.

    A source with the same address is fetched again. Its open run continues, or is replaced if the
    request differs.
    """
    await incoming_of(request).require_disk()
    new = new_run(
        body,
        application_id=key.application_id,
        settings=runtime.settings,
        metadata=body.metadata,
        place="body",
    )
    schedule = schedules.checked(body.rescrape, loc=("body", "rescrape"))

    async def work(conn: Connection) -> UrlAccepted:
        collection = [] if body.collection_id is None else [body.collection_id]
        await collections.hold(conn, application_id=key.application_id, ids=collection)
        run = await runs.start(conn, new)
        for id in collection:
            await collections.add_sources(
                conn, application_id=key.application_id, id=id, source_ids=[run.source_id]
            )
        if "rescrape" in body.model_fields_set:
            await rescrapes.set_schedule(
                conn,
                application_id=key.application_id,
                source_id=run.source_id,
                schedule=schedule,
            )
        if "chunking" in body.model_fields_set:
            await chunking.set_of_sources(
                conn, key.application_id, [run.source_id], body.chunking, runtime.chunking
            )
        return _answer(run)

    return await idempotent.run_once(pool, work, application_id=key.application_id, status=202)


@router.get("/url", response_class=Response, responses={**problems(403, 507), **_STREAM})
async def follow_url(
    query: Annotated[UrlQuery, Query()],
    request: Request,
    runtime: RuntimeDep,
    pool: PoolDep,
    key: EditorOrTicket,
    last_event_id: Annotated[str | None, Header(max_length=100)] = None,
) -> Response:
    """Fetch a page and follow it as server-sent events, until it is done.

    `progress` comes with every change, then one `done` or `error`. The fetch continues without a
    listener; the same request joins it. With `crawlLinks` the response is that of POST.
    """
    new = new_run(
        query,
        application_id=key.application_id,
        settings=runtime.settings,
        metadata=None,
        place="query",
    )
    incoming = incoming_of(request)
    if query.crawl_links:
        return JSONResponse(
            to_json(_answer(await _start_run(pool, new, incoming))), status_code=202
        )
    resumed = None if last_event_id is None else parse_event_id(last_event_id)
    if resumed is not None and resumed.is_done:
        return Response(status_code=204)
    async with transaction(pool) as conn:
        room = await usage.room(conn, key.application_id, runtime.settings.quotas)
    in_use = in_use_of(request)
    in_use.check("sockets", key, room.quotas)
    followed = None
    if resumed is not None:
        async with transaction(pool) as conn:
            followed = await _resumed_page(conn, key, resumed.job_id)
    if followed is None:
        run = await _start_run(pool, new, incoming)
        followed = FollowedPage(source_id=run.source_id, job_id=run.job_id)
    return stream_page(hub_of(request), pool, key, followed, in_use=in_use)


async def _start_run(pool: Pool, new: NewRun, incoming: Incoming) -> StartedRun:
    await incoming.require_disk()
    async with transaction(pool) as conn:
        return await runs.start(conn, new)


async def _resumed_page(conn: Connection, key: Key, job_id: UUID) -> FollowedPage | None:
    """The page that a reconnecting client was following."""
    job = await job_views.get(conn, application_id=key.application_id, id=job_id)
    if job is None or job.knowledge_source_id is None:
        return None
    return FollowedPage(source_id=job.knowledge_source_id, job_id=job_id)


def _answer(run: StartedRun) -> UrlAccepted:
    return UrlAccepted(knowledge_source_id=run.source_id, job_id=run.job_id, crawl_id=run.crawl_id)
