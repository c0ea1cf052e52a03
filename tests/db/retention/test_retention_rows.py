"""Events, answers, deliveries, vectors and hidden documents: kept for their time and no longer."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest

from api.live.subscriptions import Subscriber
from ingest.postgres.database import Connection, Pool, new_id
from ingest.store.retention import retention
from tests.api.hubs import running
from tests.support.crawl.crawl_sources import SITE, add_document, start
from tests.support.live_sources import Inbox, add_source, emit, seqs
from tests.support.retention_fixtures import clean
from tests.support.searchable_chunks import add_space


async def _age(conn: Connection, table: str, column: str, days: float, where: str = "true") -> None:
    await conn.execute(
        f"update rag.{table} set {column} = now() - %s::interval where {where}".encode(),
        [timedelta(days=days)],
    )


async def _kept(conn: Connection, source: UUID) -> list[int]:
    cursor = await conn.execute(
        "select seq from rag.progress_events where source_id = %s order by seq", [source]
    )
    return [seq for (seq,) in await cursor.fetchall()]


# ---------------------------------------------------------------- progress events


async def test_events_expire_except_the_last_of_a_source(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    old, mixed = [await add_source(conn, application_id) for _ in range(2)]
    for source in (old, mixed):
        await emit(conn, source, 5)
    await _age(conn, "progress_events", "created_at", 7.1)
    await _age(conn, "progress_events", "created_at", 6.9, f"source_id = '{mixed}' and seq > 2")

    assert (await clean(pool))["events"] == 4 + 2

    assert await _kept(conn, old) == [5]
    assert await _kept(conn, mixed) == [3, 4, 5]


async def test_kept_last_events_do_not_hide_removable_ones(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await conn.execute(
        "with source as (insert into rag.knowledge_sources (id, application_id, type, name, uri, "
        "event_seq) select gen_random_uuid(), %s, 'file', 'n', 'uri' || n, 1 "
        "from generate_series(1, 1001) as n returning id) "
        "insert into rag.progress_events (source_id, seq, type, data, created_at) "
        "select id, 1, 'done', '{}', now() - interval '30 days' from source",
        [application_id],
    )
    busy = await add_source(conn, application_id)
    await emit(conn, busy, 3)
    await _age(conn, "progress_events", "created_at", 8, f"source_id = '{busy}'")

    assert (await clean(pool))["events"] == 2


async def test_last_events_are_read_once_and_not_in_every_round(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    for days in (30, 10, 8):
        source = await add_source(conn, application_id)
        await emit(conn, source, 2)
        await _age(conn, "progress_events", "created_at", days, f"source_id = '{source}'")
    await clean(pool)

    seen = await retention.events_seen(conn)
    left = await retention.old_events(conn, older_than=timedelta(days=7), after=seen, limit=10)

    # What was seen in the last day is looked at again.
    assert [(datetime.now(UTC) - event.created_at).days for event in left] == [8]


async def test_former_last_event_is_removed_with_later_ones(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    early, late = [await add_source(conn, application_id) for _ in range(2)]
    await emit(conn, early, 2)
    await _age(conn, "progress_events", "created_at", 30)
    await emit(conn, late, 1)
    await _age(conn, "progress_events", "created_at", 20, f"source_id = '{late}'")
    await clean(pool)
    assert await _kept(conn, early) == [2]

    await emit(conn, early, 2)
    await _age(conn, "progress_events", "created_at", 10, f"source_id = '{early}' and seq > 2")
    await clean(pool)

    assert await _kept(conn, early) == [4]


async def test_client_resumes_from_the_oldest_kept_event(
    pool: Pool, dsn: str, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    await emit(conn, source, 5)
    await _age(conn, "progress_events", "created_at", 8)
    await clean(pool)
    inbox = Inbox(Subscriber(application_id=application_id))
    async with running(pool, dsn) as hub:
        await hub.subscribe(inbox.subscriber, [source], {source: 2})
        await emit(conn, source)
        [snapshot, *later] = await inbox.until(source, 6)

    assert (snapshot["type"], snapshot["seq"], snapshot["latestSeq"]) == ("snapshot", 4, 5)
    assert seqs(later) == {source: [5, 6]}


async def test_follow_all_gets_new_events_after_old_ones_are_pruned(
    pool: Pool, dsn: str, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id, status="completed")
    await emit(conn, source, 5)
    await _age(conn, "progress_events", "created_at", 8)
    await clean(pool)
    inbox = Inbox(Subscriber(application_id=application_id))
    async with running(pool, dsn, newest=0) as hub:
        await hub.follow(inbox.subscriber, {})
        await emit(conn, source)
        messages = await inbox.until(source, 6)

    assert seqs(messages) == {source: [6]}


# ---------------------------------------------------------------- answers, deliveries, vectors


async def test_answers_are_kept_for_their_time(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    for key, days in (("old", 7.1), ("young", 6.9)):
        await conn.execute(
            "insert into rag.idempotency_keys (application_id, key, request_hash, status, "
            "response, created_at) values (%s, %s, '', 202, '{}', now() - %s::interval)",
            [application_id, key, timedelta(days=days)],
        )

    assert (await clean(pool))["answers"] == 1

    cursor = await conn.execute("select key from rag.idempotency_keys")
    assert await cursor.fetchall() == [("young",)]


@pytest.mark.parametrize("status", ["delivered", "failed"])
async def test_deliveries_are_kept_for_their_time_and_those_under_way_longer(
    pool: Pool, conn: Connection, application_id: UUID, status: str
) -> None:
    endpoint = new_id()
    await conn.execute(
        "insert into rag.webhook_endpoints (id, application_id, url, events, secret) "
        "values (%s, %s, 'https://a.example/', '{}', 's')",
        [endpoint, application_id],
    )
    for key, state, days in (
        ("old", status, 30.1),
        ("young", status, 29.9),
        ("open", "pending", 99),
    ):
        await conn.execute(
            "insert into rag.webhook_deliveries (id, endpoint_id, application_id, event, "
            "dedupe_key, body, status, created_at) "
            "values (gen_random_uuid(), %s, %s, 'e', %s, '', %s, now() - %s::interval)",
            [endpoint, application_id, key, state, timedelta(days=days)],
        )

    assert (await clean(pool))["deliveries"] == 1

    cursor = await conn.execute("select dedupe_key from rag.webhook_deliveries order by 1")
    assert await cursor.fetchall() == [("open",), ("young",)]


async def test_vectors_that_no_job_came_back_for_are_forgotten_after_a_week(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    space = await add_space(conn)
    for text_hash, days in ((b"old", 7.1), (b"young", 6.9)):
        await conn.execute(
            "insert into rag.embedding_cache (application_id, model_id, text_hash, embedding, "
            "created_at) values (%s, %s, %s, %s, now() - %s::interval)",
            [application_id, space.id, text_hash, np.ones(8), timedelta(days=days)],
        )

    assert (await clean(pool))["vectors"] == 1

    cursor = await conn.execute("select text_hash from rag.embedding_cache")
    assert await cursor.fetchall() == [(b"young",)]


# ---------------------------------------------------------------- documents


async def test_pages_that_left_their_site_are_kept_for_their_time(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    old, young, live, held = [
        await add_document(conn, application_id, run.source_id, f"{SITE}{n}") for n in range(4)
    ]
    await _age(conn, "documents", "deleted_at", 30.1, f"id in ('{old}', '{held}')")
    await _age(conn, "documents", "deleted_at", 29.9, f"id = '{young}'")
    # A new version that waits for a review: not even its text is worth a chunk.
    await conn.execute(
        "update rag.documents set held_by_job_id = %s where id = %s", [run.job_id, held]
    )
    await conn.execute("delete from rag.chunks where document_id = %s", [held])
    await conn.execute(
        "update rag.processing_jobs set status = 'review_needed' where id = %s", [run.job_id]
    )

    assert (await clean(pool))["documents"] == 2  # with its one chunk

    cursor = await conn.execute("select id from rag.documents")
    assert {id for (id,) in await cursor.fetchall()} == {young, live, held}
    cursor = await conn.execute("select count(*) from rag.chunks")
    assert await cursor.fetchone() == (2,)


async def test_page_returning_after_its_document_was_deleted_is_new(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    old = await add_document(conn, application_id, run.source_id, SITE)
    await _age(conn, "documents", "deleted_at", 31)
    await clean(pool)

    new = await add_document(conn, application_id, run.source_id, SITE)

    cursor = await conn.execute("select id from rag.documents")
    assert await cursor.fetchall() == [(new,)]
    assert new != old
