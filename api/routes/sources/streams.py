"""The progress of a source or an application: read once, or followed as server-sent events."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, Final
from uuid import UUID

import orjson
from fastapi import Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from api.authenticated_route import KeyedRouter
from api.authentication import Key, visible_sources
from api.dependencies import Reader, ReaderOrTicket, RuntimeDep
from api.live import sse
from api.live.hub import Hub
from api.live.subscriptions import Subscriber
from api.live.websocket import hub_of
from api.middleware.in_use import in_use_of
from api.schema.openapi import problems
from ingest.errors import NotFound
from ingest.model import SourceStatus
from ingest.postgres.database import transaction
from ingest.runtime import Runtime
from ingest.store.limits import usage
from ingest.store.sources import progress
from ingest.store.sources.sources import TERMINAL
from ingest.store.view import View

router = KeyedRouter(tags=["progress"])

_LAST_SEQ: Final = 2**63 - 1


class ProgressView(View):
    total: int
    completed: int
    failed: int
    processing: int
    pending: int
    cancelled: int
    review_needed: int
    percent: int | None
    eta_seconds: int | None
    status: SourceStatus
    seq: int | None


@router.get("/api/knowledge-source/{id}/progress")
async def get_progress(
    id: UUID, request: Request, runtime: RuntimeDep, key: Reader
) -> ProgressView:
    """Progress of a source, counted in jobs.

    If `id` is the application's own id: progress of all its sources, counted in sources.
    `percent` is null while the total is unknown; `seq` is null for an application.
    """
    if id == key.application_id and key.collection_ids is None:
        whole = await hub_of(request).snapshots.of_application(id)
        return ProgressView.model_validate({**_fields(whole), "seq": None})
    source = await _source(request, runtime, key, id)
    return ProgressView.model_validate({**_fields(source), "seq": source.event_seq})


@router.get(
    "/api/knowledge-sources/{id}/stream",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/event-stream": {}}},
        204: {"description": "No more events: an EventSource does not reconnect"},
        **problems(403),
    },
)
async def stream_source(
    id: UUID,
    request: Request,
    runtime: RuntimeDep,
    key: ReaderOrTicket,
    last_event_id: Annotated[int | None, Header(ge=0, le=_LAST_SEQ)] = None,
    after: Annotated[int | None, Query(ge=0, le=_LAST_SEQ)] = None,
) -> Response:
    """Server-sent events of a source, until the source is done.

    First `snapshot`, then `progress`, `job`, `source` and `done`, with the messages of /api/ws as
    data and their `seq` as id. `Last-Event-ID`, or `?after=`, resumes after that event. If the key
    is revoked, the stream ends within 15 seconds.
    """
    position = last_event_id if last_event_id is not None else after
    source = await _source(request, runtime, key, id)
    if source.status in TERMINAL and position is not None and position >= source.event_seq:
        return Response(status_code=204)
    pool = runtime.pool.of(key.application_id)
    async with transaction(pool) as conn:
        room = await usage.room(conn, key.application_id, runtime.settings.quotas)
    in_use = in_use_of(request)
    in_use.check("sockets", key, room.quotas)
    subscriber = Subscriber(application_id=key.application_id, subscribed_ids={id})
    frames = _frames(hub_of(request), subscriber, id, position)
    return sse.event_stream(
        sse.until_key_revoked(pool, key, subscriber, frames, in_use=in_use, source_id=id)
    )


async def _frames(
    hub: Hub, subscriber: Subscriber, source_id: UUID, after: int | None
) -> AsyncGenerator[str]:
    latest, has_ended = 0, False
    async with aclosing(sse.messages(hub, subscriber, source_id, after)) as messages:
        async for message in messages:
            if message is None:
                yield sse.KEEP_ALIVE
                continue
            id = None if message.seq is None else str(message.seq)
            yield sse.frame(message.type, message.text, id=id)
            if message.type == "snapshot":
                state = orjson.loads(message.text)
                latest, has_ended = state["latestSeq"], state["status"] in TERMINAL
            if message.seq is None:
                return
            # A replayed `done` of an earlier run does not end the stream. The last event of a
            # finished source need not be `done`: the source may have been renamed since.
            if message.seq >= latest and (has_ended or message.type == "done"):
                return


async def _source(
    request: Request, runtime: Runtime, key: Key, id: UUID
) -> progress.SourceProgress:
    ids = await visible_sources(runtime.pool, key, [id])
    states = await hub_of(request).snapshots.of_sources(key.application_id, ids)
    if id not in states:
        raise NotFound("knowledge source")
    return states[id].source


def _fields(of: progress.ApplicationProgress) -> dict[str, Any]:
    return {name: getattr(of, name) for name in ProgressView.model_fields if name != "seq"}
