"""A batch is told of once, after the last of its sources has ended, whoever sees it."""

import asyncio
from uuid import UUID

from psycopg import AsyncConnection

from ingest.postgres.database import Connection, Pool
from ingest.store.notify import outbox
from ingest.store.queue import jobs
from ingest.store.queue.jobs import Ended
from ingest.store.sources import batches, job_events, source_control
from ingest.ticks.recovery import complete_batches
from tests.support.notification_fixtures import (
    add_endpoint,
    batch_of,
    data_of,
    end,
    end_one,
    events,
)
from tests.support.queue_builders import claim, upload

URL = "https://hooks.example/x"


async def complete(conn: Connection, *batch_ids: UUID) -> int:
    async with conn.transaction():
        return await outbox.complete_batches(conn, batch_ids)


async def test_a_batch_is_complete_when_its_last_source_has_ended(
    conn: Connection, application_id: UUID
) -> None:
    await add_endpoint(conn, application_id, URL, events=["batch.completed"])
    sources = await upload(conn, application_id, "a.txt", "b.txt", "c.txt")
    batch_id = await batch_of(conn, sources[0])
    await end_one(conn, "completed")
    await end_one(conn, "failed", error_code="corrupt")
    assert await complete(conn, batch_id) == 0

    await end_one(conn, "review_needed")
    assert await complete(conn, batch_id) == 1
    assert await complete(conn, batch_id) == 0

    data = await data_of(conn, "batch.completed")
    assert data["batchId"] == str(batch_id)
    assert (data["total"], data["accepted"], data["completed"]) == (3, 3, 1)
    assert (data["failed"], data["reviewNeeded"], data["pending"], data["processing"]) == (
        1,
        1,
        0,
        0,
    )


async def test_batch_completes_after_its_last_source_in_any_order(
    conn: Connection, application_id: UUID
) -> None:
    sources = await upload(conn, application_id, "slow.txt", "quick.txt")
    slow, quick = await claim(conn, 2)
    await end(conn, quick, "completed")
    assert await complete(conn, await batch_of(conn, sources[0])) == 0

    await end(conn, slow, "completed")

    assert await complete(conn, await batch_of(conn, sources[0])) == 1


async def test_two_last_files_that_end_in_two_open_transactions_complete_their_batch_once(
    conn: Connection, dsn: str, application_id: UUID
) -> None:
    await add_endpoint(conn, application_id, URL, events=["batch.completed"])
    sources = await upload(conn, application_id, "a.txt", "b.txt")
    batch_id = await batch_of(conn, sources[0])
    taken = await claim(conn, 2)
    await conn.execute("update rag.knowledge_sources set chunk_count = 1")
    async with (
        await AsyncConnection.connect(dsn) as first,
        await AsyncConnection.connect(dsn) as second,
    ):
        for other, job in ((first, taken[0]), (second, taken[1])):
            ended = Ended(job=job, status="completed")
            await jobs.finish(other, [ended])
            await job_events.attempts_ended(other, [ended])  # neither sees the other's
        await first.commit()
        assert await complete(first, batch_id) == 0
        await second.commit()
        # Now both look, and neither has committed what it found.
        found = [len(await batches.complete(other, [batch_id])) for other in (first, second)]
        assert found == [1, 0]
        await first.rollback()
        await second.rollback()
        counts = await asyncio.gather(complete(first, batch_id), complete(second, batch_id))

    assert sum(counts) == 1
    assert await events(conn) == ["batch.completed"]


async def test_a_retry_and_a_new_upload_open_a_batch_again(
    conn: Connection, application_id: UUID
) -> None:
    await add_endpoint(conn, application_id, URL, events=["batch.completed"])
    [source] = await upload(conn, application_id, "a.txt")
    batch_id = await batch_of(conn, source)
    job = await end_one(conn, "failed", error_code="corrupt")
    await complete(conn, batch_id)
    async with conn.transaction():
        await source_control.retry(
            conn, application_id=application_id, job_ids=[job.id], statuses=("failed",)
        )
    assert await complete(conn, batch_id) == 0
    await end_one(conn, "completed")
    assert await complete(conn, batch_id) == 1

    await upload(conn, application_id, "b.txt", batch_id=batch_id)
    assert await complete(conn, batch_id) == 0
    await end_one(conn, "completed")
    assert await complete(conn, batch_id) == 1

    assert await events(conn) == ["batch.completed"] * 3


async def test_an_upload_under_way_keeps_its_batch_open(
    conn: Connection, dsn: str, application_id: UUID
) -> None:
    [source] = await upload(conn, application_id, "a.txt")
    batch_id = await batch_of(conn, source)
    await end_one(conn, "completed")
    async with await AsyncConnection.connect(dsn) as uploading:
        await uploading.execute("select 1")  # begins what stays open
        await upload(uploading, application_id, "b.txt", batch_id=batch_id)
        assert await complete(conn, batch_id) == 0
        await uploading.commit()

    assert await complete(conn, batch_id) == 0


async def test_tick_completes_batches_that_workers_missed(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await add_endpoint(conn, application_id, URL, events=["batch.completed"])
    await upload(conn, application_id, "cancelled.txt", content="x")
    async with conn.transaction():
        cursor = await conn.execute("select id from rag.processing_jobs where type = 'file'")
        ids = [row[0] for row in await cursor.fetchall()]
        await source_control.cancel(conn, application_id=application_id, job_ids=ids)
    await upload(conn, application_id, "open.txt")

    assert await complete_batches(pool) == 1
    assert await complete_batches(pool) == 0
    assert (await data_of(conn, "batch.completed"))["cancelled"] == 1
