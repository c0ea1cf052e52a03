"""The events of one page that is being fetched: `progress` until `done` or `error`."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson
from fastapi.responses import StreamingResponse

from api.authentication import Key
from api.live import sse
from api.live.hub import Hub
from api.live.messages import counts
from api.live.subscriptions import Subscriber
from api.middleware.in_use import InUse
from api.problems import FieldRejected
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.queue import job_views
from ingest.store.sources import progress, source_views
from ingest.store.sources.source_views import StoredSource
from ingest.store.sources.sources import TERMINAL

# Appended to the job id in the id of the last event: a client that reconnects starts no new run.
_DONE: Final = ":done"


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedPage:
    source_id: UUID
    job_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePoint:
    job_id: UUID
    is_done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _PageFrame:
    text: str
    is_last: bool


def parse_event_id(last_event_id: str) -> ResumePoint:
    """Parse an event id into its job and whether that is done; raises FieldRejected if invalid."""
    id, done, rest = last_event_id.partition(_DONE)
    try:
        if rest:
            raise ValueError("more behind the end")
        return ResumePoint(job_id=UUID(id), is_done=bool(done))
    except ValueError:
        raise FieldRejected(
            "not the id of an event of this stream", loc=("header", "Last-Event-ID")
        ) from None


def stream_page(
    hub: Hub, pool: Pool, key: Key, followed: FollowedPage, *, in_use: InUse
) -> StreamingResponse:
    """Stream the events of a page. A revoked key ends the stream, but not the page's job."""
    subscriber = Subscriber(application_id=key.application_id, subscribed_ids={followed.source_id})
    frames = _frames(hub, pool, subscriber, followed)
    return sse.event_stream(sse.until_key_revoked(pool, key, subscriber, frames, in_use=in_use))


async def _frames(
    hub: Hub, pool: Pool, subscriber: Subscriber, followed: FollowedPage
) -> AsyncGenerator[str]:
    yield sse.PADDING
    async with aclosing(sse.messages(hub, subscriber, followed.source_id)) as messages:
        async for message in messages:
            if message is None:
                yield sse.KEEP_ALIVE
                continue
            async with transaction(pool) as conn:
                frame = await _state(conn, subscriber.application_id, followed)
            yield frame.text
            if frame.is_last:
                return


async def _state(conn: Connection, application_id: UUID, followed: FollowedPage) -> _PageFrame:
    id = followed.source_id
    counted = await progress.of_sources(conn, application_id=application_id, ids=[id])
    source = await source_views.get(conn, application_id=application_id, id=id)
    if source is None or not counted:
        gone = {"code": "source_deleted", "message": "the knowledge source was deleted"}
        return _last("error", followed, gone)
    # A newer run of the source has its own job.
    current = FollowedPage(source_id=source.id, job_id=source.job_id or followed.job_id)
    if source.status in ("failed", "cancelled"):
        reason = {"code": source.error_code or "internal", "message": source.error_message}
        return _last("error", current, reason)
    if source.status in TERMINAL or source.status == "review_needed":
        return _last("done", current, await _result(conn, source))
    job = await job_views.get(conn, application_id=application_id, id=current.job_id)
    stage = None if job is None else job.stage
    data = {**counts(counted[0]), "seq": counted[0].event_seq, "stage": stage}
    return _PageFrame(text=_frame("progress", current, data), is_last=False)


async def _result(conn: Connection, source: StoredSource) -> dict[str, Any]:
    documents = await source_views.list_documents(
        conn, application_id=source.application_id, source_id=source.id, limit=200, after=None
    )
    live = [document for document in documents if document.deleted_at is None]
    return {
        "status": source.status,
        "title": live[0].title if live else None,
        "uri": source.uri,
        "chunkCount": source.chunk_count,
        "tokenCount": source.token_count,
    }


def _last(event: str, followed: FollowedPage, data: dict[str, Any]) -> _PageFrame:
    return _PageFrame(text=_frame(event, followed, data, end=_DONE), is_last=True)


def _frame(event: str, followed: FollowedPage, data: dict[str, Any], *, end: str = "") -> str:
    content = {"knowledgeSourceId": followed.source_id, "jobId": followed.job_id, **data}
    text = orjson.dumps(content).decode()
    return sse.frame(event, text, id=f"{followed.job_id}{end}")
