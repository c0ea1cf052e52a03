"""The worker and handlers that misbehave: that hang, exit, hold on, or write what cannot be."""

import asyncio
from contextlib import suppress
from typing import cast
from uuid import UUID

import pytest

from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.registry import Handler
from ingest.postgres.database import Connection, Pool
from ingest.store.queue import jobs
from ingest.store.queue.jobs import ClaimedJob, NewJob
from tests.support.movable_clock import MovableClock
from tests.support.queue_builders import enqueue
from tests.support.running_worker import Scripted, running_worker, until_status


async def test_stage_without_progress_ends_as_stage_timeout(
    conn: Connection, dsn: str, pool: Pool, application_id: UUID
) -> None:
    await conn.execute(
        "update rag.job_types set stage_timeout = '0.2 seconds', backoff_base = '1 millisecond'"
        " where type = 'file'"
    )
    [job_id] = await enqueue(conn, application_id)
    await conn.execute("update rag.processing_jobs set max_attempts = 2")

    async def hang(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        progress.stage = "embed"
        await asyncio.Event().wait()
        raise AssertionError("not reached")

    async with running_worker(dsn, pool, {"file": hang}):
        row = await until_status(conn, job_id, "failed")

    assert row["last_error_code"] == "stage_timeout"
    assert "embed" in row["last_error_message"]
    assert row["attempts"] == 2


async def test_stage_progress_restarts_the_stage_timeout(
    conn: Connection,
    dsn: str,
    pool: Pool,
    application_id: UUID,
    movable_clock: MovableClock,
) -> None:
    await conn.execute("update rag.job_types set stage_timeout = '20 seconds' where type = 'file'")
    [job_id] = await enqueue(conn, application_id)

    async def crawl_on(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        progress.stage = "embed"
        for percent in range(1, 8):
            movable_clock.forward(12)
            await asyncio.sleep(0.02)  # in which the attempt would be ended
            progress.advance_to(percent)
        return Outcome()

    async with running_worker(dsn, pool, {"file": crawl_on}):
        row = await until_status(conn, job_id, "completed", "failed", "pending")
        row = await until_status(conn, job_id, "completed", "failed")

    assert (row["status"], row["attempts"]) == ("completed", 1)


async def test_a_claim_that_fails_for_any_reason_is_made_again(
    conn: Connection, dsn: str, pool: Pool, application_id: UUID
) -> None:
    handler = Scripted()
    async with running_worker(dsn, pool, {"file": handler}) as worker:
        take, failures = worker._claiming.take, [TypeError("a fault of ours")]

        async def fail_once(conn: Connection, batch: int) -> list[ClaimedJob]:
            if failures:
                raise failures.pop()
            return await take(conn, batch)

        worker._claiming.take = fail_once  # type: ignore[method-assign]  # no other way to a fault
        [job_id] = await enqueue(conn, application_id)

        await until_status(conn, job_id, "completed")
    assert failures == []


async def _exit(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    raise SystemExit(1)


async def _return_nothing(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    return cast(Outcome, None)


async def _cancel_itself(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    raise asyncio.CancelledError


@pytest.mark.parametrize("handler", [_exit, _return_nothing, _cancel_itself])
async def test_misbehaving_handler_fails_only_its_own_job(
    conn: Connection, dsn: str, pool: Pool, application_id: UUID, handler: Handler
) -> None:
    [broken] = await enqueue(conn, application_id)
    [fine] = await jobs.enqueue(conn, [NewJob(application_id=application_id, type="purge")])
    await conn.execute("update rag.processing_jobs set max_attempts = 1")

    async with running_worker(dsn, pool, {"file": handler, "purge": Scripted()}):
        row = await until_status(conn, broken, "failed")
        await until_status(conn, fine, "completed")

    assert row["last_error_code"] == "internal"


async def test_unstoppable_handler_loses_slot_and_job(
    conn: Connection, dsn: str, pool: Pool, application_id: UUID
) -> None:
    released = asyncio.Event()
    [stubborn] = await enqueue(conn, application_id)
    await conn.execute("update rag.processing_jobs set max_attempts = 1")
    await conn.execute("update rag.job_types set stage_timeout = '0.1 seconds' where type = 'file'")

    async def hold_on(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        while not released.is_set():
            with suppress(asyncio.CancelledError):
                await released.wait()
        return Outcome()

    async with running_worker(dsn, pool, {"file": hold_on}, concurrency=1) as worker:
        worker._running._grace = 0.1
        row = await until_status(conn, stubborn, "failed")
        abandoned = list(worker._running.abandoned)
        released.set()
        await asyncio.wait(abandoned)

    assert row["last_error_code"] == "stage_timeout"
    assert len(abandoned) == 1
    assert worker._running.abandoned == set()


async def test_unstorable_write_fails_its_job(
    conn: Connection, dsn: str, pool: Pool, application_id: UUID
) -> None:
    [too_large] = await enqueue(conn, application_id)
    await conn.execute("update rag.processing_jobs set max_attempts = 1")

    async def write(conn: Connection) -> None:
        await conn.execute(
            "select to_tsvector(string_agg(n::text, ' ')) from generate_series(1, 300000) as n"
        )

    async def work(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        return Outcome(write=write)

    async with running_worker(dsn, pool, {"file": work}):
        row = await until_status(conn, too_large, "failed")

    assert row["last_error_code"] == "internal"
