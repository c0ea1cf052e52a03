"""A subscriber sees every event of its sources once and in order, whatever happens meanwhile."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import AsyncConnection

from api.feeds import Subscriber
from api.hub import Hub
from api.mailbox import Closed, Mailbox, Message
from ingest.db import Connection, Pool, transaction
from ingest.listen import Listener
from ingest.store import events, sources
from ingest.store.events import NewEvent
from tests.live import (
    PATIENCE,
    Inbox,
    add_source,
    content,
    emit,
    eventually,
    is_waiting_for_a_lock,
    seqs,
    set_status,
)
from tests.queue import add_application

NEVER = timedelta(hours=1)
SOON = timedelta(milliseconds=50)


@asynccontextmanager
async def running(
    pool: Pool, dsn: str, *, poll: timedelta = NEVER, hears: bool = True, newest: int = 1000
) -> AsyncIterator[Hub]:
    """A hub; one that does not hear has only its polls."""
    listener = Listener(dsn, channels=["rag_events"])
    hub = Hub(pool, listener, poll=poll, newest=newest)
    if hears:
        connected = asyncio.Event()
        listener.on_reconnect(connected.set)
        listener.start()
        await asyncio.wait_for(connected.wait(), timeout=PATIENCE)
    hub.start()
    try:
        yield hub
    finally:
        await hub.close()
        await listener.close()


@pytest.fixture
async def hub(pool: Pool, dsn: str) -> AsyncIterator[Hub]:
    async with running(pool, dsn) as hub:
        yield hub


@pytest.fixture
def inbox(application_id: UUID) -> Inbox:
    return Inbox(Subscriber(application_id=application_id))


async def test_a_snapshot_comes_first_and_then_what_happens(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    await emit(conn, source, 3)
    await hub.subscribe(inbox.subscriber, [source], {})
    await emit(conn, source, 2)

    messages = await inbox.until(source, 5)

    assert [(message["type"], message["seq"]) for message in messages] == [
        ("snapshot", 3),
        ("progress", 4),
        ("progress", 5),
    ]
    assert messages[0]["latestSeq"] == 3
    assert messages[0]["status"] == "processing"
    assert messages[1]["nth"] == 0
    assert messages[1]["at"].endswith("Z")


async def test_after_replays_what_was_missed_and_the_snapshot_carries_that_number(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    await emit(conn, source, 4)
    await hub.subscribe(inbox.subscriber, [source], {source: 1})

    messages = await inbox.until(source, 4)

    assert (messages[0]["type"], messages[0]["seq"], messages[0]["latestSeq"]) == ("snapshot", 1, 4)
    assert seqs(messages) == {source: [2, 3, 4]}


async def test_joining_while_events_are_written_leaves_no_gap_and_nothing_twice(
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


class GuardedMailbox(Mailbox):
    """A mailbox whose replay waits at a gate."""

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
    mailbox = GuardedMailbox()
    inbox = Inbox(Subscriber(application_id=application_id, mailbox=mailbox))
    joining = asyncio.create_task(hub.subscribe(inbox.subscriber, [source], {}))
    await mailbox.reached.wait()

    await emit(conn, source)
    await emit(conn, marker)
    await other.until(marker, 1)  # so the notification of the first has been heard too
    mailbox.gate.set()
    messages = await inbox.until(source, 1)
    await joining

    assert [(message["type"], message["seq"]) for message in messages] == [
        ("snapshot", 0),
        ("progress", 1),
    ]


async def test_who_follows_while_an_event_is_being_read_gets_it(
    pool: Pool, dsn: str, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id, status="failed")
    watcher = Subscriber(application_id=application_id)
    async with running(pool, dsn, newest=0) as hub, await AsyncConnection.connect(dsn) as writer:
        await hub.subscribe(watcher, [source], {})
        await writer.execute("lock rag.progress_events")
        hub._news.hear(application_id, source)
        await eventually(lambda: is_waiting_for_a_lock(conn))
        await hub.follow(inbox.subscriber, {})
        await events.emit(writer, [NewEvent(source_id=source, type="job", data={})])
        await writer.commit()
        messages = await inbox.until(source, 1)

    assert [(message["type"], message["seq"]) for message in messages] == [
        ("snapshot", 0),
        ("job", 1),
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


async def test_what_was_missed_is_read_when_a_killed_listener_is_back(
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


async def test_delivery_goes_on_after_the_database_dropped_every_connection(
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


async def test_500_subscribers_share_one_listener_and_one_reading_of_each_event(
    hub: Hub, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    crowd = [Subscriber(application_id=application_id) for _ in range(500)]
    for subscriber in crowd:
        await hub.subscribe(subscriber, [source], {})
        await subscriber.mailbox.take()
    await emit(conn, source)

    async with asyncio.timeout(PATIENCE):
        received = [await subscriber.mailbox.take() for subscriber in crowd]

    assert len({id(message) for message in received}) == 1
    listeners = await conn.execute(
        "select from pg_stat_activity where application_name = 'rag-ingest listener'"
    )
    assert listeners.rowcount == 1


async def test_all_shows_a_new_source_from_its_first_event(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    await hub.follow(inbox.subscriber, {})
    async with conn.transaction():
        new = await add_source(conn, application_id, status="pending")
        await events.emit(conn, [NewEvent(source_id=new, type="source", data={})])
    await emit(conn, new, 2)

    messages = await inbox.until(new, 3)

    assert [(message["type"], message["seq"]) for message in messages] == [
        ("snapshot", 0),
        ("source", 1),
        ("progress", 2),
        ("progress", 3),
    ]


async def test_all_shows_unfinished_sources_finished_ones_and_those_in_after(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    unfinished = await add_source(conn, application_id)
    finished = await add_source(conn, application_id, status="failed")
    for source in (unfinished, finished):
        await emit(conn, source, 2)

    await hub.follow(inbox.subscriber, {finished: 1})
    await inbox.until(unfinished, 2)
    await inbox.until(finished, 2)

    snapshots = {m["knowledgeSourceId"]: m for m in inbox.messages if m["type"] == "snapshot"}
    assert {id: m["seq"] for id, m in snapshots.items()} == {str(unfinished): 2, str(finished): 1}
    assert seqs(inbox.messages) == {finished: [2]}


async def test_nothing_of_another_application_is_delivered(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    foreign = await add_source(conn, await add_application(conn))
    own = await add_source(conn, application_id)
    await hub.subscribe(inbox.subscriber, [foreign], {foreign: 0})
    await hub.follow(inbox.subscriber, {foreign: 0})
    await emit(conn, foreign)
    await emit(conn, own)

    messages = await inbox.until(own, 1)

    about_foreign = [m for m in messages if m.get("knowledgeSourceId") == str(foreign)]
    assert [(m["type"], m["code"]) for m in about_foreign] == [("error", "not_found")] * 2


@pytest.mark.parametrize(("asked", "got"), [(0, 3), (2, 3), (4, 4), (99, 5)])
async def test_after_is_kept_within_what_exists(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox, asked: int, got: int
) -> None:
    source = await add_source(conn, application_id)
    await emit(conn, source, 5)
    await conn.execute("delete from rag.progress_events where seq <= 3")

    await hub.subscribe(inbox.subscriber, [source], {source: asked})
    await emit(conn, source)
    messages = await inbox.until(source, 6)

    assert messages[0]["seq"] == got
    assert seqs(messages) == {source: list(range(got + 1, 7))}


async def test_a_replay_longer_than_the_mailbox_waits_for_its_reader(
    hub: Hub, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    await emit(conn, source, 1500)
    inbox = Inbox(Subscriber(application_id=application_id, mailbox=Mailbox(count=20)))
    joining = asyncio.create_task(hub.subscribe(inbox.subscriber, [source], {source: 0}))

    messages = await inbox.until(source, 1500)
    await joining

    assert seqs(messages) == {source: list(range(1, 1501))}


async def test_who_does_not_read_is_dropped_and_others_get_everything(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    lazy = Subscriber(application_id=application_id, mailbox=Mailbox(count=10))
    for subscriber in (lazy, inbox.subscriber):
        await hub.subscribe(subscriber, [source], {})
    await emit(conn, source, 50)

    messages = await inbox.until(source, 50)

    assert seqs(messages) == {source: list(range(1, 51))}
    with pytest.raises(Closed):
        await lazy.mailbox.take()
    assert lazy.positions == {}


async def test_subscribing_again_changes_nothing_unless_after_says_where_from(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    await hub.subscribe(inbox.subscriber, [source], {})
    await emit(conn, source, 2)
    await inbox.until(source, 2)

    await hub.subscribe(inbox.subscriber, [source], {})
    await hub.follow(inbox.subscriber, {})
    await emit(conn, source)
    await inbox.until(source, 3)
    await hub.subscribe(inbox.subscriber, [source], {source: 2})
    await emit(conn, source)
    messages = await inbox.until(source, 4)

    assert [message["type"] for message in messages].count("snapshot") == 2
    assert seqs(messages) == {source: [1, 2, 3, 3, 4]}


async def test_nothing_comes_after_unsubscribing(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    named, muted, other = [await add_source(conn, application_id) for _ in range(3)]
    await hub.subscribe(inbox.subscriber, [named], {})
    hub.unsubscribe(inbox.subscriber, [named])
    await emit(conn, named)
    await hub.follow(inbox.subscriber, {})
    hub.unsubscribe(inbox.subscriber, [muted])
    await emit(conn, muted)
    await emit(conn, other)
    await inbox.until(other, 1)
    last = Inbox(Subscriber(application_id=application_id))
    await hub.subscribe(last.subscriber, [other], {})

    hub.unsubscribe_all(inbox.subscriber)
    await emit(conn, other)
    await last.until(other, 2)

    assert seqs(inbox.messages) == {other: [1]}
    assert inbox.subscriber.positions == {}


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
            last = content(await inbox.subscriber.mailbox.take())

    assert last["code"] == "not_found"
    assert last["knowledgeSourceId"] == str(source)


async def test_a_forgotten_source_goes_on_where_it_was(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    await hub.follow(inbox.subscriber, {})
    await emit(conn, source, 2)
    await inbox.until(source, 2)
    await conn.execute("update rag.progress_events set created_at = now() - interval '31 minutes'")
    hub._feeds.forget(timedelta(0))
    forgotten = dict(inbox.subscriber.positions)
    await set_status(conn, source, "pending")
    await emit(conn, source)

    messages = await inbox.until(source, 3)

    assert forgotten == {}
    assert seqs(messages) == {source: [1, 2, 3]}
    assert [m["seq"] for m in messages if m["type"] == "snapshot"] == [0, 2]


async def test_an_unknown_source_is_reported_and_the_others_are_subscribed(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    unknown, source = uuid4(), await add_source(conn, application_id)

    await hub.subscribe(inbox.subscriber, [unknown, source], {})
    messages = await inbox.until(source, 0)

    assert [(m["type"], m["knowledgeSourceId"]) for m in messages] == [
        ("error", str(unknown)),
        ("snapshot", str(source)),
    ]


async def test_feeds_nobody_watches_are_closed(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    await hub.subscribe(inbox.subscriber, [source], {})
    await hub.follow(inbox.subscriber, {})

    hub.drop(inbox.subscriber)

    assert hub._feeds.get(source) is None
    assert hub._feeds.followed() == {}
    assert not hub._feeds.concerns(application_id, source)


async def test_the_database_may_fail_for_a_while(
    pool: Pool, dsn: str, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    async with running(pool, dsn) as hub:
        await hub.subscribe(inbox.subscriber, [source], {})
        with psycopg.connect(dsn, autocommit=True) as operator:
            operator.execute("alter table rag.progress_events rename to gone")
            hub._news.hear(application_id, source)
            await asyncio.sleep(0.05)
            operator.execute("alter table rag.gone rename to progress_events")
        await emit(conn, source)
        messages = await inbox.until(source, 1)

    assert seqs(messages) == {source: [1]}
