"""Who follows a whole application hears of each of its sources."""

from datetime import timedelta
from uuid import UUID

from psycopg import AsyncConnection

from api.live.hub import Hub
from api.live.subscriptions import Subscriber
from ingest.postgres.database import Connection, Pool
from ingest.store.sources import events
from ingest.store.sources.events import NewEvent
from tests.api.hubs import running
from tests.support.live_sources import (
    Inbox,
    add_source,
    emit,
    eventually,
    is_waiting_for_a_lock,
    seqs,
    set_status,
)


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


async def test_subscriber_joining_during_a_read_gets_the_event(
    pool: Pool, dsn: str, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id, status="failed")
    watcher = Subscriber(application_id=application_id)
    async with running(pool, dsn, newest=0) as hub, await AsyncConnection.connect(dsn) as writer:
        await hub.subscribe(watcher, [source], {})
        await writer.execute("lock rag.progress_events")
        hub._changes.mark_dirty(application_id, source)
        await eventually(lambda: is_waiting_for_a_lock(conn))
        await hub.follow(inbox.subscriber, {})
        await events.emit(writer, [NewEvent(source_id=source, type="job", data={})])
        await writer.commit()
        messages = await inbox.until(source, 1)

    assert [(message["type"], message["seq"]) for message in messages] == [
        ("snapshot", 0),
        ("job", 1),
    ]


async def test_evicted_feed_resumes_at_its_last_position(
    hub: Hub, conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    source = await add_source(conn, application_id)
    await hub.follow(inbox.subscriber, {})
    await emit(conn, source, 2)
    await inbox.until(source, 2)
    await conn.execute("update rag.progress_events set created_at = now() - interval '31 minutes'")
    hub._feeds.close_idle(timedelta(0))
    forgotten = dict(inbox.subscriber.positions)
    await set_status(conn, source, "pending")
    await emit(conn, source)

    messages = await inbox.until(source, 3)

    assert forgotten == {}
    assert seqs(messages) == {source: [1, 2, 3]}
    assert [m["seq"] for m in messages if m["type"] == "snapshot"] == [0, 2]
