"""The worker on a real Postgres: what becomes of jobs when handlers and databases act up."""

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from harness.patience import AGES
from ingest.errors import Permanent, Snooze, Transient
from ingest.handlers.context import Context, Outcome, Progress
from ingest.postgres.database import Connection, Pool
from ingest.store.queue import claims
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


async def test_a_job_that_is_enqueued_while_the_worker_idles_runs_at_once(
    dsn: str,
    pool: Pool,
    conn: Connection,
    application_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ingest.worker.loop._POLL", 2 * AGES)
    handler = Scripted()
    async with running_worker(dsn, pool, {"file": handler}) as worker:
        await until(lambda: truth_of(worker._listener.is_connected))
        await asyncio.sleep(0.3)  # it has found nothing and waits for its next poll
        [id] = await enqueue(conn, application_id)
        row = await until_status(conn, id, "completed")

    assert handler.written == [id]
    assert row["attempts"] == 1


async def test_a_transient_error_is_retried_and_a_success_ends_it(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    soon = timedelta(milliseconds=50)
    error = Transient("busy", code="embedding_unavailable", retry_after=soon)
    handler = Scripted(error, error, None)
    [id] = await enqueue(conn, application_id)
    async with running_worker(dsn, pool, {"file": handler}):
        row = await until_status(conn, id, "completed")

    assert row["attempts"] == 3
    assert row["last_error_code"] is None


async def test_attempts_run_out_and_the_job_is_a_dead_letter(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    soon = timedelta(milliseconds=10)
    error = Transient("busy", code="embedding_unavailable", retry_after=soon)
    handler = Scripted(*[error] * 9)
    [source] = await upload(conn, application_id, "a.txt")
    id = (await source_row(conn, source))["current_job_id"]
    async with running_worker(dsn, pool, {"file": handler}):
        row = await until_status(conn, id, "failed")

    assert (row["attempts"], row["last_error_code"]) == (5, "embedding_unavailable")
    state = await source_row(conn, source)
    assert (state["status"], state["error_code"]) == ("failed", "embedding_unavailable")


async def test_a_permanent_error_burns_no_further_attempts(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    handler = Scripted(Permanent("broken", code="corrupt"))
    [id] = await enqueue(conn, application_id)
    async with running_worker(dsn, pool, {"file": handler}):
        row = await until_status(conn, id, "failed")

    assert (row["attempts"], row["last_error_code"]) == (1, "corrupt")


async def test_unknown_exception_is_transient_and_its_text_is_only_logged(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await conn.execute("update rag.job_types set max_attempts = 1 where type = 'file'")
    [id] = await enqueue(conn, application_id)
    await conn.execute("update rag.job_types set max_attempts = 5 where type = 'file'")
    handler = Scripted(ValueError("password=hunter2"))
    async with running_worker(dsn, pool, {"file": handler}):
        row = await until_status(conn, id, "failed")

    assert row["last_error_code"] == "internal"
    assert "hunter2" not in row["last_error_message"]


async def test_a_snooze_waits_with_its_reason_and_spends_nothing(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    handler = Scripted(Snooze(timedelta(hours=1), reason="budget_exceeded"))
    [id] = await enqueue(conn, application_id)

    async def waiting() -> bool:
        row = await job_row(conn, id)
        return (row["status"], row["wait_reason"]) == ("pending", "budget_exceeded")

    async with running_worker(dsn, pool, {"file": handler}):
        await until(waiting)

    assert (await job_row(conn, id))["attempts"] == 0


async def test_failed_write_affects_only_its_own_job(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    gate = asyncio.Event()

    async def handler(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        await gate.wait()  # all end together, so that they share a transaction

        async def write(conn: Connection) -> None:
            await conn.execute("insert into rag.schedules values ('written', now())")
            if job.payload.get("bad"):
                raise Permanent("refused", code="embedding_mismatch")

        return Outcome(write=write)

    good = await enqueue(conn, application_id, 3)
    [bad] = await enqueue(conn, application_id, payload={"bad": True})
    async with running_worker(dsn, pool, {"file": handler}):
        await until(lambda: all_running(conn, 4))
        gate.set()
        rows = [await until_status(conn, id, "completed", "failed") for id in [*good, bad]]

    assert [row["status"] for row in rows] == ["completed"] * 3 + ["failed"]
    assert rows[3]["last_error_code"] == "embedding_mismatch"
    cursor = await conn.execute("select count(*) from rag.schedules where name = 'written'")
    assert await cursor.fetchone() == (3,)


async def test_slots_are_refilled_as_jobs_end(
    dsn: str,
    pool: Pool,
    conn: Connection,
    application_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What ends is the only reason to look again.
    monkeypatch.setattr("ingest.worker.loop._POLL", 2 * AGES)
    monkeypatch.setattr("ingest.worker.loop._POLL_NOT_LISTENING", 2 * AGES)
    handler = Scripted()
    await enqueue(conn, application_id, 200)

    async def drained() -> bool:
        cursor = await conn.execute(
            "select count(*) from rag.processing_jobs where status <> 'completed'"
        )
        return await cursor.fetchone() == (0,)

    async with running_worker(dsn, pool, {"file": handler}, concurrency=3):
        await until(drained)

    assert len(handler.written) == 200
    assert len(set(handler.written)) == 200


async def test_two_workers_share_a_backlog_and_no_job_runs_twice(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    one, two = Scripted(), Scripted()
    await enqueue(conn, application_id, 300)

    async def drained() -> bool:
        return len(one.written) + len(two.written) >= 300

    async with running_worker(dsn, pool, {"file": one}), running_worker(dsn, pool, {"file": two}):
        await until(drained)

    assert len({*one.written, *two.written}) == 300
    assert len(one.started) + len(two.started) == 300
    assert one.written
    assert two.written


async def test_a_job_without_a_handler_here_waits_for_a_worker_that_has_it(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    handler = Scripted()
    [id] = await enqueue(conn, application_id)
    async with running_worker(dsn, pool, {"purge": handler}):
        await asyncio.sleep(0.3)

    assert (await job_row(conn, id))["status"] == "pending"


async def test_a_recovered_source_shows_that_it_waits_again(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    [source] = await upload(conn, application_id, "a.txt")
    await claims.claim(conn, types=["file"], batch=1, worker=uuid4(), cursor=UUID(int=0))

    assert await recover_stale_jobs(pool, stale_after=timedelta(minutes=2)) == 1

    assert (await source_row(conn, source))["status"] == "pending"
    cursor = await conn.execute(
        "select data ->> 'errorCode' from rag.progress_events where source_id = %s "
        "order by seq desc limit 1",
        [source],
    )
    assert await cursor.fetchone() == ("worker_lost",)


@pytest.mark.parametrize("missing", ["job", "source"])
async def test_deleted_job_or_source_blocks_no_other(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, missing: str
) -> None:
    handler = Scripted()
    [lost] = await upload(conn, application_id, "lost.txt")
    [healthy] = await upload(conn, application_id, "healthy.txt")
    if missing == "source":
        await conn.execute("delete from rag.knowledge_sources where id = %s", [lost])
    else:
        await conn.execute("delete from rag.processing_jobs where knowledge_source_id = %s", [lost])
    id = (await source_row(conn, healthy))["current_job_id"]
    # Nothing is stored by the scripted handler, so the source itself cannot be `completed`.
    await conn.execute("update rag.knowledge_sources set chunk_count = 1 where id = %s", [healthy])
    async with running_worker(dsn, pool, {"file": handler}):
        row = await until_status(conn, id, "completed")

    assert row["attempts"] == 1
