"""Server-sent events: what all streams share."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Final
from uuid import UUID

import structlog
from fastapi.responses import StreamingResponse

from api.authentication import Key, until_revoked
from api.live.client_queue import Message, QueueClosed
from api.live.hub import Hub
from api.live.subscriptions import Subscriber
from api.middleware.in_use import InUse
from ingest.asynchronous.tasks import cancel_all
from ingest.postgres.database import Pool

log = structlog.get_logger()

HEARTBEAT_SECONDS: Final = 15.0
KEEP_ALIVE: Final = ": still here\n\n"
# Fills the first block of proxies that buffer one, so that they pass it on.
PADDING: Final = ":" + 2048 * " " + "\n\n"

_HEADERS: Final = {
    "Cache-Control": "no-store, no-transform",
    "Connection": "keep-alive",
    "X-Accel-Buffering": "no",
}


def event_stream(frames: AsyncIterator[str]) -> StreamingResponse:
    """A streaming response that caches do not store and proxies do not buffer."""
    return StreamingResponse(frames, media_type="text/event-stream", headers=_HEADERS)


def frame(event: str, data: str, *, id: str | None = None) -> str:
    """One event: `data` is JSON without line ends, a client resumes with `id`."""
    first = "" if id is None else f"id: {id}\n"
    return f"{first}event: {event}\ndata: {data}\n\n"


async def messages(
    hub: Hub, subscriber: Subscriber, source_id: UUID, after: int | None = None
) -> AsyncGenerator[Message | None]:
    """The hub's messages about a source, or None after a quiet interval. Ends with the queue.

    Close it (`aclosing`), so that the hub drops the subscriber.
    """
    positions = {} if after is None else {source_id: after}
    joining = asyncio.create_task(hub.subscribe(subscriber, [source_id], positions))
    joining.add_done_callback(lambda task: _close_if_failed(task, subscriber))
    try:
        while True:
            yield await _next(subscriber)
    except QueueClosed:
        return  # the client resumes with the id of the last event it received
    finally:
        hub.drop(subscriber)
        await cancel_all(joining)


async def until_key_revoked(
    pool: Pool,
    key: Key,
    subscriber: Subscriber,
    frames: AsyncGenerator[str],
    *,
    in_use: InUse,
    source_id: UUID | None = None,
) -> AsyncIterator[str]:
    """Pass the frames on, counted as a socket; stop early when the key is revoked, or limited and
    may see the source no more. `pool`: of the key's application."""
    watching = asyncio.create_task(
        until_revoked(pool, key, check_seconds=HEARTBEAT_SECONDS, source_id=source_id)
    )
    watching.add_done_callback(lambda _: subscriber.queue.close())
    try:
        with in_use.counted("sockets", key):
            async with aclosing(frames):
                async for item in frames:
                    yield item
    finally:
        await cancel_all(watching)


async def _next(subscriber: Subscriber) -> Message | None:
    try:
        async with asyncio.timeout(HEARTBEAT_SECONDS):
            return await subscriber.queue.take()
    except TimeoutError:
        return None


def _close_if_failed(task: asyncio.Task[None], subscriber: Subscriber) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.warning("stream.failed", error=type(task.exception()).__name__)
        subscriber.queue.close()
