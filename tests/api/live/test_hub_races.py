"""Every event once and in order, whatever happens at the same time or goes wrong."""

import asyncio
import random
from typing import Any
from uuid import UUID

import psycopg
import pytest

from api.live.client_queue import ClientQueue, Message
from api.live.hub import Hub
from api.live.subscriptions import Subscriber
from harness.patience import PATIENCE
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.sources import events, sources
from ingest.store.sources.events import NewEvent
from tests.api.hubs import SOON, running
from tests.support.live_sources import (
    Inbox,
    add_source,
    content,
    emit,
    seqs,
)


async def test_joining_during_writes_has_no_gaps_or_duplicates(
    pool: Pool, dsn: str, conn: Connection, application_id: UUID
) -> None:
    watched = [await add_source(conn, application_id) for _ in range(3)]
    each = 60

    async def write(source: UUID) -> None:
        for _ in range(each):
            async with transaction(pool) as own:
                await events.emit(own, [NewEvent(source_id=source, type="progress", data={})])

    async def follow(hub: Hub, nth: int) -> list[dict[str, Any]]:
        await asyncio.sleep(0.02 * nth)
        inbox = Inbox(Subscriber(application_id=application_id))
        if nth % 4 == 3:
            await hub.follow(inbox.subscriber, {})
        else:
            after: dict[UUID, int] = (
                {} if nth % 2 else dict.fromkeys(watched, random.randint(0, each))
            )
            await hub.subscribe(inbox.subscriber, watched, after)
        for source in watched:
            await inbox.until(source, each)
        return inbox.messages

    async with running(pool, dsn) as one, running(pool, dsn) as another:
        replicas = [one, another]
        writing = [asyncio.create_task(write(source)) for source in watched]
        received = await asyncio.gather(*[follow(replicas[nth % 2], nth) for nth in range(12)])
        await asyncio.gather(*writing)

    for messages in received:
        for source in watched:
            mine = [m for m in messages if m["knowledgeSourceId"] == str(source)]
            assert mine[0]["type"] == "snapshot"
            first = mine[0]["seq"]
            assert [m["seq"] for m in mine] == list(range(first, each + 1))


class GuardedQueue(ClientQueue):
    """A queue whose replay waits at a gate."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = asyncio.Event()
        self.gate = asyncio.Event()

    async def put(self, message: Message) -> None:
        self.reached.set()
        await self.gate.wait()
        await super().put(message)


@pytest.mark.parametrize("is_watched", [False, True])
async def test_an_event_between_the_snapshot_and_the_join_is_not_lost(
    hub: Hub, conn: Connection, application_id: UUID, is_watched: bool
) -> None:
    source, marker = [await add_source(conn, application_id) for _ in range(2)]
    other = Inbox(Subscriber(application_id=application_id))
    await hub.subscribe(other.subscriber, [source, marker] if is_watched else [marker], {})
    queue = GuardedQueue()
    inbox = Inbox(Subscriber(application_id=application_id, queue=queue))
    joining = asyncio.create_task(hub.subscribe(inbox.subscriber, [source], {}))
    await queue.reached.wait()

    await emit(conn, source)
    await emit(conn, marker)
    await other.until(marker, 1)  # so the notification of the first has been heard too
    queue.gate.set()
    messages = await inbox.until(source, 1)
    await joining

    assert [(message["type"], message["seq"]) for message in messages] == [
        ("snapshot", 0),
        ("progress", 1),
    ]


async def test_events_are_found_without_any_notification(
    pool: Pool, dsn: str, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    everything = Inbox(Subscriber(application_id=application_id))
    async with running(pool, dsn, poll=SOON, hears=False) as hub:
        await hub.subscribe(inbox.subscriber, [source], {})
        await emit(conn, source, 2)
        await inbox.until(source, 2)
        await hub.follow(everything.subscriber, {})
        new = await add_source(conn, application_id)
        await emit(conn, new, 2)
        await everything.until(new, 2)

    assert seqs(inbox.messages) == {source: [1, 2]}
    assert seqs(everything.messages) == {new: [1, 2]}


async def test_missed_events_are_read_after_the_listener_reconnects(
    pool: Pool, dsn: str, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    async with running(pool, dsn) as hub:
        await hub.subscribe(inbox.subscriber, [source], {})
        async with conn.transaction():
            await events.emit(conn, [NewEvent(source_id=source, type="job", data={})])
            # Dead before the commit: the notification reaches nobody.
            await conn.execute(
                "select pg_terminate_backend(pid, 5000) from pg_stat_activity "
                "where application_name = 'rag-ingest listener'"
            )
        messages = await inbox.until(source, 1)

    assert seqs(messages) == {source: [1]}


async def test_hub_continues_after_all_connections_are_dropped(
    pool: Pool, dsn: str, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    async with running(pool, dsn, poll=SOON) as hub:
        await hub.subscribe(inbox.subscriber, [source], {})
        await conn.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity "
            "where pid <> pg_backend_pid() and backend_type = 'client backend'"
        )
        await emit(conn, source, 3)
        messages = await inbox.until(source, 3)

    assert seqs(messages) == {source: [1, 2, 3]}


async def test_hub_survives_a_database_outage(
    pool: Pool, dsn: str, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    async with running(pool, dsn) as hub:
        await hub.subscribe(inbox.subscriber, [source], {})
        with psycopg.connect(dsn, autocommit=True) as operator:
            operator.execute("alter table rag.progress_events rename to gone")
            hub._changes.mark_dirty(application_id, source)
            await asyncio.sleep(0.05)
            operator.execute("alter table rag.gone rename to progress_events")
        await emit(conn, source)
        messages = await inbox.until(source, 1)

    assert seqs(messages) == {source: [1]}


async def test_a_purged_source_is_reported_as_not_found(
    pool: Pool, dsn: str, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    async with running(pool, dsn, poll=SOON) as hub:
        await hub.subscribe(inbox.subscriber, [source], {})
        await inbox.until(source, 0)
        await sources.tombstone(conn, application_id=application_id, ids=[source])
        await sources.purge(conn, source)
        async with asyncio.timeout(PATIENCE):
            last = content(await inbox.subscriber.queue.take())

    assert last["code"] == "not_found"
    assert last["knowledgeSourceId"] == str(source)
