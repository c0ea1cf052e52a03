"""How a worker lets go of jobs: cancelled, stopped, too slow, its lease or database lost."""

import asyncio
from datetime import timedelta
from uuid import UUID

import psycopg
import pytest
from structlog.testing import capture_logs

from harness.patience import AGES
from ingest.handlers.context import Context, Outcome, Progress
from ingest.postgres.database import Connection, Pool
from ingest.store.queue import job_control
from ingest.store.queue.jobs import ClaimedJob
from ingest.ticks.recovery import recover_stale_jobs
from tests.support.queue_builders import enqueue, job_row, source_row, upload
from tests.support.running_worker import (
    Scripted,
    all_running,
    running_worker,
    truth_of,
    until,
    until_status,
)


async def test_cancelling_a_running_job_stops_it_and_nothing_is_written(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    handler = Scripted()
    handler.gate = asyncio.Event()
    [source] = await upload(conn, application_id, "a.txt")
    id = (await source_row(conn, source))["current_job_id"]
    async with running_worker(dsn, pool, {"file": handler}) as worker:
        await until_status(conn, id, "processing")
        async with conn.transaction():
            await job_control.cancel(conn, application_id=application_id, job_ids=[id])
        await until(lambda: truth_of(not worker._running.slots))
        handler.gate.set()

    assert handler.written == []
    assert (await job_row(conn, id))["status"] == "cancelled"


async def test_a_graceful_stop_gives_jobs_back_and_spends_no_attempt(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    handler = Scripted()
    handler.gate = asyncio.Event()
    ids = await enqueue(conn, application_id, 3)
    async with running_worker(dsn, pool, {"file": handler}):
        await until(lambda: all_running(conn, 3))

    rows = [await job_row(conn, id) for id in ids]
    assert [(row["status"], row["attempts"]) for row in rows] == [("pending", 0)] * 3
    cursor = await conn.execute("select count(*) from rag.workers")
    assert await cursor.fetchone() == (0,)


async def test_graceful_stop_waits_for_nearly_finished_jobs(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    handler = Scripted()
    handler.gate = asyncio.Event()
    [id] = await enqueue(conn, application_id)
    async with running_worker(dsn, pool, {"file": handler}) as worker:
        await until_status(conn, id, "processing")
        stopping = asyncio.create_task(worker.stop(grace=timedelta(seconds=10)))
        await asyncio.sleep(0.05)
        handler.gate.set()
        await stopping

    assert (await job_row(conn, id))["status"] == "completed"


async def test_a_job_that_takes_too_long_ends_as_stage_timeout(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    handler = Scripted()
    handler.gate = asyncio.Event()
    await conn.execute(
        "update rag.job_types set max_attempts = 1, timeout = '0.2 seconds' where type = 'file'"
    )
    try:
        [id] = await enqueue(conn, application_id)
        async with running_worker(dsn, pool, {"file": handler}):
            row = await until_status(conn, id, "failed")
    finally:
        await conn.execute(
            "update rag.job_types set max_attempts = 5, timeout = '30 minutes' where type = 'file'"
        )

    assert row["last_error_code"] == "stage_timeout"


async def test_database_outage_at_commit_loses_no_finished_job(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    handler = Scripted()
    killed = asyncio.Event()

    async def dying(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        outcome = await handler(job, ctx, progress)

        async def write(conn: Connection) -> None:
            if not killed.is_set():
                killed.set()
                with psycopg.connect(dsn, autocommit=True) as other:
                    other.execute("select pg_terminate_backend(%s)", [conn.info.backend_pid])
            assert outcome.write is not None
            await outcome.write(conn)

        return Outcome(write=write)

    [id] = await enqueue(conn, application_id)
    async with running_worker(dsn, pool, {"file": dying}):
        row = await until_status(conn, id, "completed", "failed")

    assert killed.is_set()
    assert (row["status"], row["attempts"]) == ("completed", 1)
    assert len(handler.started) == 1


async def test_a_lost_lease_drops_running_jobs_before_others_have_them(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    handler = Scripted()
    handler.gate = asyncio.Event()
    [id] = await enqueue(conn, application_id)
    async with running_worker(dsn, pool, {"file": handler}) as worker:
        await until_status(conn, id, "processing")
        worker._heartbeat._on_lost()
        await until(lambda: truth_of(not worker._running.slots))
        handler.gate.set()

    assert handler.written == []


async def test_a_worker_keeps_a_job_that_takes_longer_than_the_lease(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    handler = Scripted()
    handler.gate = asyncio.Event()
    stale_after = 2 * AGES
    [id] = await enqueue(conn, application_id)

    async def is_renewed() -> bool:
        cursor = await conn.execute(
            "select heartbeat_at > now() - %s::interval from rag.workers", [stale_after]
        )
        return await cursor.fetchone() == (True,)

    async with running_worker(
        dsn,
        pool,
        {"file": handler},
        heartbeat=timedelta(seconds=0.2),
        stale_after=stale_after,
    ):
        await until_status(conn, id, "processing")
        for _ in range(3):
            await conn.execute(
                "update rag.workers set heartbeat_at = heartbeat_at - 2 * %s::interval",
                [stale_after],
            )
            await until(is_renewed)
            assert await recover_stale_jobs(pool, stale_after=stale_after) == 0
        handler.gate.set()
        row = await until_status(conn, id, "completed")

    assert row["attempts"] == 1


@pytest.mark.parametrize("limit", ["statement_timeout", "lock_timeout"])
async def test_a_write_that_the_database_ends_is_a_failure_of_that_job_with_its_own_cause(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, limit: str
) -> None:
    async def handler(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        async def write(conn: Connection) -> None:
            await conn.execute("select set_config(%s, '50', true)", [limit])
            await conn.execute("delete from rag.schedules")

        return Outcome(write=write)

    [id] = await enqueue(conn, application_id)
    with capture_logs() as logged:
        async with await psycopg.AsyncConnection.connect(dsn) as other:
            await other.execute("lock table rag.schedules in share mode")
            async with running_worker(dsn, pool, {"file": handler}):
                await until(lambda: _has_error(conn, id))
    row = await job_row(conn, id)

    assert (row["status"], row["wait_reason"], row["attempts"]) == ("pending", "retry", 1)
    assert row["last_error_code"] == "database_timeout"
    assert row["last_error_message"] == "the database ended a statement that took too long"
    assert not [entry for entry in logged if entry["event"] == "finish.database_lost"]


async def _has_error(conn: Connection, job_id: UUID) -> bool:
    row = await job_row(conn, job_id)
    return row["last_error_code"] is not None
