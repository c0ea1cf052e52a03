"""Sources with events, and a subscriber that collects its messages."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson

from api.live.client_queue import Message
from api.live.subscriptions import Subscriber
from harness.patience import PATIENCE
from ingest.postgres.database import Connection, new_id
from ingest.store.sources import events
from ingest.store.sources.events import EventType, NewEvent


async def add_source(
    conn: Connection,
    application_id: UUID,
    *,
    status: str = "processing",
    type: str = "file",
    metadata: str = "{}",
) -> UUID:
    """Add a source without a job and without events."""
    id = new_id()
    await conn.execute(
        "insert into rag.knowledge_sources "
        "(id, application_id, type, name, uri, status, metadata, chunk_count) "
        "values (%(id)s, %(application)s, %(type)s, 'a name', %(uri)s, %(status)s, "
        "%(metadata)s, 1)",
        {
            "id": id,
            "application": application_id,
            "type": type,
            "uri": f"{id}.txt",
            "status": status,
            "metadata": metadata,
        },
    )
    return id


async def emit(
    conn: Connection, source_id: UUID, count: int = 1, *, type: EventType = "progress"
) -> None:
    """Append events in their own transaction."""
    async with conn.transaction():
        await events.emit(
            conn,
            [NewEvent(source_id=source_id, type=type, data={"nth": n}) for n in range(count)],
        )


async def eventually(condition: Callable[[], Awaitable[bool]]) -> None:
    """Poll until the condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not await condition():  # noqa: ASYNC110 there is nothing to wait for
            await asyncio.sleep(0.01)


async def is_waiting_for_a_lock(conn: Connection) -> bool:
    """Whether any session waits for a lock."""
    cursor = await conn.execute("select from pg_stat_activity where wait_event_type = 'Lock'")
    return cursor.rowcount > 0


async def set_status(conn: Connection, source_id: UUID, status: str) -> None:
    await conn.execute(
        "update rag.knowledge_sources set status = %s where id = %s", [status, source_id]
    )


def seqs(messages: Sequence[Mapping[str, Any]]) -> dict[UUID, list[int]]:
    """Event numbers per source in order of arrival, without snapshots."""
    found: defaultdict[UUID, list[int]] = defaultdict(list)
    for message in messages:
        if message["type"] not in ("snapshot", "error", "ping"):
            found[UUID(message["knowledgeSourceId"])].append(message["seq"])
    return dict(found)


class Inbox:
    """Collects the hub's messages to a subscriber, without a socket."""

    def __init__(self, subscriber: Subscriber) -> None:
        self.subscriber = subscriber
        self.messages: list[dict[str, Any]] = []
        self._seen: set[tuple[UUID | None, int | None]] = set()

    async def until(self, source_id: UUID, seq: int) -> list[dict[str, Any]]:
        """All messages so far, after the event or snapshot with this number has arrived."""
        async with asyncio.timeout(PATIENCE):
            while (source_id, seq) not in self._seen:
                message = await self.subscriber.queue.take()
                self._seen.add((message.source_id, message.seq))
                self.messages.append(content(message))
        return self.messages


def content(message: Message) -> dict[str, Any]:
    loaded: dict[str, Any] = orjson.loads(message.text)
    return loaded
