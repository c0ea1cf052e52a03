"""Many who subscribe at once share what is read for them, and none of them misses anything."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import pytest
from psycopg import AsyncConnection

from api.live.subscriptions import Subscriber
from harness.pools import pool_across_applications
from ingest.postgres.database import Connection
from ingest.store.tenants import applications
from tests.api.hubs import running
from tests.support.live_sources import Inbox, add_source, emit, eventually, seqs

_SUBSCRIBERS = 200


async def _blocked(conn: Connection) -> int:
    cursor = await conn.execute(
        "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
    )
    [count] = await cursor.fetchone() or [0]
    return int(count)


def _inboxes(application_id: UUID, count: int = _SUBSCRIBERS) -> list[Inbox]:
    return [Inbox(Subscriber(application_id=application_id)) for _ in range(count)]


@pytest.mark.parametrize("names_them", [False, True])
async def test_a_burst_of_subscribers_takes_a_few_connections_and_no_event_is_missed(
    dsn: str, conn: Connection, application_id: UUID, names_them: bool
) -> None:
    sources = [await add_source(conn, application_id) for _ in range(3)]
    for source in sources:
        await emit(conn, source, 2)
    inboxes = _inboxes(application_id)
    async with (
        pool_across_applications(dsn, size=6, application_name="burst") as pool,
        running(pool, dsn) as hub,
        await AsyncConnection.connect(dsn) as locker,
    ):
        await locker.execute("lock rag.knowledge_sources in access exclusive mode")
        joining = [
            asyncio.create_task(
                hub.subscribe(inbox.subscriber, sources, {})
                if names_them
                else hub.follow(inbox.subscriber, {})
            )
            for inbox in inboxes
        ]
        await eventually(lambda: _any_blocked(conn))
        await eventually(lambda: _all_begun(inboxes))
        in_queue = pool.connections.open.get_stats()["requests_waiting"]
        emitting = asyncio.create_task(emit(conn, sources[0], 3))
        await locker.rollback()
        await asyncio.gather(emitting, *joining)
        await emit(conn, sources[1])
        for inbox in inboxes:
            await inbox.until(sources[0], 5)
            await inbox.until(sources[1], 3)

    assert in_queue <= 1
    for inbox in inboxes:
        _assert_nothing_is_missing(inbox, sources)


async def _all_begun(inboxes: Sequence[Inbox]) -> bool:
    """Whether all that could be done without the database is done."""
    await asyncio.sleep(0.05)
    return len(asyncio.all_tasks()) >= len(inboxes)


async def _any_blocked(conn: Connection) -> bool:
    return await _blocked(conn) > 0


def _assert_nothing_is_missing(inbox: Inbox, sources: Sequence[UUID]) -> None:
    """After a snapshot, or an event, with `seq` n comes n + 1."""
    begun = {
        UUID(message["knowledgeSourceId"]): message["seq"]
        for message in inbox.messages
        if message["type"] == "snapshot"
    }
    heard = seqs(inbox.messages)
    assert set(begun) == set(sources)
    for source, last in ((sources[0], 5), (sources[1], 3)):
        assert heard.get(source, []) == list(range(begun[source] + 1, last + 1))


async def test_a_burst_of_two_applications_keeps_their_sources_apart(
    dsn: str, conn: Connection, application_id: UUID
) -> None:
    other = (await applications.add(conn, name="other")).id
    ours, theirs = await add_source(conn, application_id), await add_source(conn, other)
    mine, yours = _inboxes(application_id, 20), _inboxes(other, 20)
    async with (
        pool_across_applications(dsn, size=4, application_name="burst") as pool,
        running(pool, dsn) as hub,
    ):
        await asyncio.gather(*(hub.follow(inbox.subscriber, {}) for inbox in [*mine, *yours]))
        # Even if somebody names it.
        named = await hub.snapshots.of_sources(application_id, [ours, theirs])
        for inbox in mine:
            await inbox.until(ours, 0)
        for inbox in yours:
            await inbox.until(theirs, 0)

    assert set(named) == {ours}
    for inboxes, source in ((mine, ours), (yours, theirs)):
        shown = [message["knowledgeSourceId"] for inbox in inboxes for message in inbox.messages]
        assert shown == [str(source)] * 20


async def test_snapshot_is_never_older_than_its_request(
    dsn: str, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    async with (
        pool_across_applications(dsn, size=4, application_name="burst") as pool,
        running(pool, dsn) as hub,
        await AsyncConnection.connect(dsn) as locker,
    ):
        await locker.execute("lock rag.progress_events in access exclusive mode")
        early = asyncio.create_task(hub.snapshots.shown_first(application_id))
        await eventually(lambda: _any_blocked(conn))
        await conn.execute("update rag.knowledge_sources set name = 'renamed'")
        late = asyncio.create_task(hub.snapshots.shown_first(application_id))
        await asyncio.sleep(0)
        await locker.rollback()
        await early
        shown = await late

    assert shown[source].source.name == "renamed"
