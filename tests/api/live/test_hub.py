"""What a subscriber asks for is what it gets."""

import asyncio
from uuid import UUID, uuid4

import pytest

from api.live.client_queue import ClientQueue, QueueClosed
from api.live.hub import Hub
from api.live.subscriptions import Subscriber
from harness.patience import PATIENCE
from ingest.postgres.database import Connection
from tests.support.live_sources import (
    Inbox,
    add_source,
    emit,
    seqs,
)
from tests.support.queue_builders import add_application


async def test_snapshot_comes_before_events(
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


async def test_after_replays_missed_events_before_the_snapshot(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    await emit(conn, source, 4)
    await hub.subscribe(inbox.subscriber, [source], {source: 1})

    messages = await inbox.until(source, 4)

    assert (messages[0]["type"], messages[0]["seq"], messages[0]["latestSeq"]) == ("snapshot", 1, 4)
    assert seqs(messages) == {source: [2, 3, 4]}


async def test_500_subscribers_share_one_listener_and_one_reading_of_each_event(
    hub: Hub, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    crowd = [Subscriber(application_id=application_id) for _ in range(500)]
    for subscriber in crowd:
        await hub.subscribe(subscriber, [source], {})
        await subscriber.queue.take()
    await emit(conn, source)

    async with asyncio.timeout(PATIENCE):
        received = [await subscriber.queue.take() for subscriber in crowd]

    assert len({id(message) for message in received}) == 1
    listeners = await conn.execute(
        "select from pg_stat_activity where application_name = 'rag-ingest listener'"
    )
    assert listeners.rowcount == 1


async def test_events_of_another_application_are_not_delivered(
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
async def test_after_beyond_the_last_event_is_clamped(
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


async def test_replay_longer_than_the_buffer_waits_for_its_reader(
    hub: Hub, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    await emit(conn, source, 1500)
    inbox = Inbox(Subscriber(application_id=application_id, queue=ClientQueue(count=20)))
    joining = asyncio.create_task(hub.subscribe(inbox.subscriber, [source], {source: 0}))

    messages = await inbox.until(source, 1500)
    await joining

    assert seqs(messages) == {source: list(range(1, 1501))}


async def test_slow_subscriber_is_dropped_without_affecting_others(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    lazy = Subscriber(application_id=application_id, queue=ClientQueue(count=10))
    for subscriber in (lazy, inbox.subscriber):
        await hub.subscribe(subscriber, [source], {})
    await emit(conn, source, 50)

    messages = await inbox.until(source, 50)

    assert seqs(messages) == {source: list(range(1, 51))}
    with pytest.raises(QueueClosed):
        await lazy.queue.take()
    assert lazy.positions == {}


async def test_subscribing_again_without_after_changes_nothing(
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
    # The event has been distributed before the subscriber follows all sources.
    first = Inbox(Subscriber(application_id=application_id))
    await hub.subscribe(first.subscriber, [named], {})
    await emit(conn, named)
    await first.until(named, 1)
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


async def test_feeds_without_subscribers_are_closed(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    await hub.subscribe(inbox.subscriber, [source], {})
    await hub.follow(inbox.subscriber, {})

    hub.drop(inbox.subscriber)

    assert hub._feeds.get(source) is None
    assert hub._feeds.followed_applications() == {}
    assert not hub._feeds.has_subscribers(application_id, source)
