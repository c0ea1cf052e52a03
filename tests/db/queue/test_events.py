"""Events are numbered per source without gaps, in the order of commits, and announced."""

import asyncio
from uuid import UUID, uuid4

import psycopg
from psycopg import AsyncConnection

from harness.patience import PATIENCE
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.sources import events
from ingest.store.sources.events import NewEvent, parse_notification
from tests.support.live_sources import add_source, emit, eventually, is_waiting_for_a_lock


async def stored(conn: Connection, source_id: UUID) -> list[int]:
    return [event.seq for event in await events.after(conn, {source_id: 0}, limit=10_000)]


async def test_numbers_of_a_source_have_no_gaps_however_many_write(
    conn: Connection, pool: Pool, application_id: UUID
) -> None:
    sources = [await add_source(conn, application_id) for _ in range(3)]

    async def write(nth: int) -> None:
        async with transaction(pool) as own:
            await events.emit(
                own,
                [
                    NewEvent(source_id=source, type="progress", data={"nth": nth})
                    for source in (sources if nth % 2 else reversed(sources))
                ],
            )

    await asyncio.gather(*[write(nth) for nth in range(40)])

    for source in sources:
        assert await stored(conn, source) == list(range(1, 41))


async def test_an_event_is_never_visible_before_one_with_a_lower_number(
    conn: Connection, dsn: str, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    async with await AsyncConnection.connect(dsn) as slow:
        await events.emit(slow, [NewEvent(source_id=source, type="job", data={})])
        fast = asyncio.create_task(emit(conn, source))
        async with await AsyncConnection.connect(dsn, autocommit=True) as watcher:
            await eventually(lambda: is_waiting_for_a_lock(watcher))
            assert await stored(watcher, source) == []
        await slow.commit()
        await fast

    assert await stored(conn, source) == [1, 2]


async def test_events_of_a_rolled_back_transaction_leave_no_gap(
    conn: Connection, dsn: str, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    async with await AsyncConnection.connect(dsn) as doomed:
        await events.emit(doomed, [NewEvent(source_id=source, type="job", data={})])
        await doomed.rollback()
    await emit(conn, source)

    assert await stored(conn, source) == [1]


async def test_event_page_starts_at_each_sources_own_position(
    conn: Connection, application_id: UUID
) -> None:
    first, second = sorted([await add_source(conn, application_id) for _ in range(2)])
    await emit(conn, first, 5)
    await emit(conn, second, 5)

    page = await events.after(conn, {first: 3, second: 1}, limit=4)

    assert [(event.source_id, event.seq) for event in page] == [
        (first, 4),
        (first, 5),
        (second, 2),
        (second, 3),
    ]


async def test_a_page_of_a_long_replay_reads_no_more_than_the_page(
    conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    await emit(conn, source, 5000)
    await conn.execute("analyze rag.progress_events")

    cursor = await conn.execute(
        b"explain (analyze, costs off, timing off, summary off) " + events._SQL["after"],
        {"source_ids": [source], "after": [0], "limit": 10},
    )
    plan = [row[0] for row in await cursor.fetchall()]

    assert any("progress_events_pkey" in line and "rows=10" in line for line in plan), plan


async def test_a_notification_names_the_application_and_its_sources(
    conn: Connection, dsn: str, application_id: UUID
) -> None:
    sources = [await add_source(conn, application_id) for _ in range(250)]
    async with await AsyncConnection.connect(dsn, autocommit=True) as listening:
        await listening.execute("listen rag_events")
        async with conn.transaction():
            await events.emit(
                conn, [NewEvent(source_id=id, type="source", data={}) for id in sources]
            )
        heard = [
            parse_notification(notification.payload)
            async for notification in listening.notifies(timeout=PATIENCE, stop_after=2)
        ]

    assert {application for application, _ in heard} == {application_id}
    assert {id for _, part in heard for id in part} == set(sources)


async def test_events_of_an_unknown_source_are_dropped(conn: Connection, dsn: str) -> None:
    unknown = uuid4()

    await emit(conn, unknown)

    with psycopg.connect(dsn) as other:
        row = other.execute("select count(*) from rag.progress_events").fetchone()
    assert row == (0,)
