"""The state of a source follows from its jobs; nothing is ever left open without one."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import AsyncConnection

from ingest.postgres.database import Connection, Pool
from ingest.store.queue import jobs
from ingest.store.queue.jobs import Ended, NewJob
from ingest.store.sources import events, job_events, sources
from ingest.ticks.recovery import reconcile_sources
from tests.support.live_sources import eventually, is_waiting_for_a_lock
from tests.support.notification_fixtures import end, end_one
from tests.support.queue_builders import claim, source_row, upload


async def _children(conn: Connection, application_id: UUID, source: UUID, count: int) -> None:
    root = (await source_row(conn, source))["current_job_id"]
    await jobs.enqueue(
        conn,
        [
            NewJob(application_id=application_id, type="file", source_id=source, parent_job_id=root)
            for _ in range(count)
        ],
    )


async def _set(conn: Connection, source: UUID, *statuses: str) -> str:
    """Give the jobs of a source these states, in order of arrival, and settle it."""
    cursor = await conn.execute(
        "select id from rag.processing_jobs where knowledge_source_id = %s order by position",
        [source],
    )
    for (id,), status in zip(await cursor.fetchall(), statuses, strict=True):
        await conn.execute(
            "update rag.processing_jobs set status = %s, last_error_code = 'corrupt' where id = %s",
            [status, id],
        )
    async with conn.transaction():
        [settled] = await sources.settle(conn, [source])
    return settled.status


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (["pending", "pending"], "pending"),
        (["completed", "pending"], "processing"),
        (["processing", "failed"], "processing"),
        (["completed", "completed"], "completed"),
        (["completed", "failed"], "partial"),
        (["failed", "failed"], "failed"),
        (["cancelled", "cancelled"], "cancelled"),
        (["failed", "cancelled"], "failed"),
        (["completed", "review_needed"], "review_needed"),
    ],
)
async def test_source_state_follows_the_jobs_of_its_run(
    conn: Connection, application_id: UUID, states: list[str], expected: str
) -> None:
    [source] = await upload(conn, application_id, "a.txt")
    await _children(conn, application_id, source, 1)
    await conn.execute("update rag.knowledge_sources set chunk_count = 1")

    assert await _set(conn, source, *states) == expected


async def test_the_database_itself_refuses_completed_without_chunks(
    conn: Connection, application_id: UUID
) -> None:
    [source] = await upload(conn, application_id, "a.txt")

    with pytest.raises(psycopg.errors.CheckViolation):
        await conn.execute(
            "update rag.knowledge_sources set status = 'completed' where id = %s", [source]
        )


async def test_a_source_whose_jobs_completed_without_a_chunk_has_failed(
    conn: Connection, application_id: UUID
) -> None:
    [source] = await upload(conn, application_id, "a.txt")

    assert await _set(conn, source, "completed") == "failed"
    row = await source_row(conn, source)
    assert row["error_code"] == "empty_content"


async def test_jobs_of_an_earlier_run_do_not_count(conn: Connection, application_id: UUID) -> None:
    [source] = await upload(conn, application_id, "a.txt", content="one")
    [first] = await claim(conn)
    await jobs.finish(conn, [Ended(job=first, status="failed", error_code="corrupt")])
    await upload(conn, application_id, "a.txt", content="two")

    async with conn.transaction():
        [settled] = await sources.settle(conn, [source])

    assert (settled.status, settled.error_code) == ("pending", None)


async def test_two_jobs_that_end_together_leave_their_source_finished(
    conn: Connection, dsn: str, application_id: UUID
) -> None:
    [source] = await upload(conn, application_id, "a.txt")
    await _children(conn, application_id, source, 1)
    await conn.execute("update rag.knowledge_sources set chunk_count = 1")
    one, two = await claim(conn, 2)

    async def finish(other: Connection, job: Any) -> None:
        end = Ended(job=job, status="completed")
        await jobs.finish(other, [end])
        await job_events.attempts_ended(other, [end])

    async with (
        await AsyncConnection.connect(dsn) as first,
        await AsyncConnection.connect(dsn) as second,
    ):
        await finish(first, one)
        late = asyncio.create_task(finish(second, two))  # waits for the lock of the source
        await eventually(lambda: is_waiting_for_a_lock(conn))
        assert not late.done()
        await first.commit()
        await late
        await second.commit()

    assert (await source_row(conn, source))["status"] == "completed"


async def test_reconcile_completes_a_source_whose_job_ended_unnoticed(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    [source] = await upload(conn, application_id, "a.txt")
    await conn.execute(
        "update rag.processing_jobs set status = 'failed', last_error_code = 'corrupt'"
    )
    await _age(conn)

    assert await reconcile_sources(pool) == 1

    row = await source_row(conn, source)
    assert (row["status"], row["error_code"]) == ("failed", "corrupt")
    assert await reconcile_sources(pool) == 0


async def test_reconcile_fails_a_source_whose_job_is_gone(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    [source] = await upload(conn, application_id, "a.txt")
    await conn.execute("delete from rag.processing_jobs")
    await _age(conn)

    assert await reconcile_sources(pool) == 1
    assert (await source_row(conn, source))["status"] == "failed"


async def test_reconcile_leaves_sources_alone_whose_job_is_open(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await upload(conn, application_id, "waiting.txt", "running.txt")
    await claim(conn)
    await _age(conn)

    assert await reconcile_sources(pool) == 0


async def _age(conn: Connection) -> None:
    await conn.execute("update rag.knowledge_sources set updated_at = now() - interval '5 minutes'")


async def test_last_event_of_a_source_is_done(conn: Connection, application_id: UUID) -> None:
    [source] = await upload(conn, application_id, "a.txt")
    taken = await claim(conn)
    async with conn.transaction():
        await job_events.jobs_claimed(conn, taken)
    end = Ended(job=taken[0], status="failed", error_code="corrupt", error_message="broken")
    async with conn.transaction():
        await jobs.finish(conn, [end])
        await job_events.attempts_ended(conn, [end])

    cursor = await conn.execute(
        "select seq, type, data ->> 'status', data ->> 'errorCode' from rag.progress_events "
        "where source_id = %s order by seq",
        [source],
    )
    assert await cursor.fetchall() == [
        (1, "source", "pending", None),
        (2, "job", "processing", None),
        (3, "done", "failed", "corrupt"),
    ]


async def test_events_of_a_source_that_is_gone_are_dropped(conn: Connection) -> None:
    await events.emit(conn, [events.NewEvent(source_id=uuid4(), type="job", data={})])

    cursor = await conn.execute("select count(*) from rag.progress_events")
    assert await cursor.fetchone() == (0,)


async def test_extension_job_does_not_complete_a_finished_source_again(
    conn: Connection, application_id: UUID
) -> None:
    [source] = await upload(conn, application_id, "a.txt")
    await end_one(conn, "completed")
    await jobs.enqueue(
        conn, [NewJob(application_id=application_id, type="purge", source_id=source)]
    )

    [own] = await claim(conn)
    async with conn.transaction():
        await job_events.jobs_claimed(conn, [own])
    await end(conn, own, "completed")

    cursor = await conn.execute(
        "select type from rag.progress_events where source_id = %s order by seq", [source]
    )
    assert [type for (type,) in await cursor.fetchall()][-3:] == ["done", "job", "job"]
