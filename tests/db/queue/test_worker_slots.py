"""How the worker's slots are filled and emptied, and what is said of it."""

import asyncio
from collections import defaultdict
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from structlog.testing import capture_logs

from harness.patience import AGES
from ingest.errors import Permanent, Transient
from ingest.handlers.context import Context, Outcome, Progress
from ingest.postgres.database import Connection, Pool
from ingest.store.queue import claims, job_types, jobs
from ingest.store.queue.jobs import ClaimedJob, NewJob
from ingest.worker import loop
from ingest.worker.commit import Finished
from ingest.worker.deadlines import Deadlines
from ingest.worker.slots import Slot
from tests.support.queue_builders import add_application, claim, complete, enqueue
from tests.support.running_worker import (
    Scripted,
    all_running,
    running_worker,
    truth_of,
    until,
    until_status,
)


async def test_slots_that_come_free_one_after_the_other_are_filled_by_one_claim(
    dsn: str,
    pool: Pool,
    conn: Connection,
    application_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gates: defaultdict[UUID, asyncio.Event] = defaultdict(asyncio.Event)

    async def wait(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        await gates[job.id].wait()
        return Outcome()

    ids = await enqueue(conn, application_id, 8)
    async with running_worker(dsn, pool, {"file": wait}, concurrency=6) as worker:
        await until(lambda: all_running(conn, 6))
        take, asked = worker._claiming.take, []

        async def noted(conn: Connection, batch: int) -> list[ClaimedJob]:
            asked.append(batch)
            return await take(conn, batch)

        worker._claiming.take = noted  # type: ignore[method-assign]  # to see how many it asks for
        for pause in ("_LINGER", "_POLL_NOT_LISTENING"):
            monkeypatch.setattr(loop, pause, AGES)
        await asyncio.sleep(0.6)  # the waits that began before are over
        for id in ids[:2]:
            gates[id].set()
            await until_status(conn, id, "completed")
        await until(lambda: truth_of(worker._is_lingering and len(worker._running.slots) == 4))
        assert asked == []
        worker._wake_after_linger()
        await until(lambda: truth_of(asked))
        await until(lambda: all_running(conn, 6))
        for id in ids:
            gates[id].set()

    assert asked[0] == 2


async def test_the_reserve_serves_another_application_while_one_holds_all_slots(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    gate = asyncio.Event()

    async def work(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        if job.application_id == application_id:
            await gate.wait()
        return Outcome()

    slow = await enqueue(conn, application_id, 10)
    async with running_worker(dsn, pool, {"file": work}, concurrency=4) as worker:
        await until(lambda: all_running(conn, 4))
        other = await add_application(conn)
        quick = await enqueue(conn, other, 5)
        for id in quick:
            await until_status(conn, id, "completed")
        held = len(worker._running.slots)
        gate.set()
        for id in slow:
            await until_status(conn, id, "completed")

    assert held == 4


async def test_a_worker_of_one_slot_runs_one_job_at_a_time(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    running: list[int] = []

    async def work(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        running.append(len(worker._running.slots))
        await asyncio.sleep(0.05)
        return Outcome()

    ids = await enqueue(conn, application_id, 2) + await enqueue(conn, await add_application(conn))
    async with running_worker(dsn, pool, {"file": work}, concurrency=1) as worker:
        for id in ids:
            await until_status(conn, id, "completed")

    assert running == [1, 1, 1]


async def test_a_claim_planned_for_a_small_queue_does_not_read_a_large_one_from_end_to_end(
    conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 2)
    await complete(conn, await claim(conn, 2))
    await conn.execute("analyze rag.processing_jobs")  # two rows: to read all is cheapest
    async with conn.transaction():
        await claims.set_planner(conn)
        nothing = await claim(conn)
    await enqueue(conn, application_id, 3000)
    # What was counted before is told apart from what comes.
    await conn.execute("select pg_stat_force_next_flush()")
    async with conn.transaction():
        await claims.set_planner(conn)
        found = await claim(conn)
        cursor = await conn.execute(
            "select seq_scan from pg_stat_xact_user_tables where relid = %s::regclass",
            ["rag.processing_jobs"],
        )
        scans = await cursor.fetchone()
    cursor = await conn.execute(
        "select generic_plans from pg_prepared_statements where statement like '%%after_cursor%%'"
    )
    plans = await cursor.fetchone()
    cursor = await conn.execute("select current_setting('enable_seqscan')")

    assert (len(nothing), len(found)) == (0, 1)
    assert scans == (0,)
    assert plans == (2,)
    assert await cursor.fetchone() == ("on",)


async def test_outcome_refused_twice_frees_its_slot(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    async def write(conn: Connection) -> None:
        raise Permanent("a message that Postgres refuses\0", code="corrupt")

    async def refuse(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        return Outcome(write=write)

    await enqueue(conn, application_id)
    [next_one] = await jobs.enqueue(conn, [NewJob(application_id=application_id, type="purge")])
    with capture_logs() as lines:
        async with running_worker(
            dsn, pool, {"file": refuse, "purge": Scripted()}, concurrency=1
        ) as worker:
            await until_status(conn, next_one, "completed")
            await until(lambda: truth_of(not worker._running.slots))

    assert "job.not_finished" in [line["event"] for line in lines]


async def test_only_relevant_completions_are_logged(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    handler = Scripted(None, Permanent("broken", code="corrupt"))
    with capture_logs() as lines:
        async with running_worker(dsn, pool, {"file": handler}, concurrency=1):
            [plain] = await enqueue(conn, application_id)
            await until_status(conn, plain, "completed")
            [broken] = await enqueue(conn, application_id)
            await until_status(conn, broken, "failed")

    ends = [line["job_id"] for line in lines if line["event"] == "job.end"]
    assert ends == [str(broken)]


async def test_one_timer_serves_the_earliest_deadline(
    conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 3)
    types = {row.type: row for row in await job_types.all_types(conn)}
    slots: dict[int, Slot] = {}
    over: list[tuple[UUID, str]] = []

    async def forever() -> Finished | None:
        await asyncio.Event().wait()
        return None

    def note(slot: Slot, error: Transient) -> None:
        slot.cancel_reason = error
        over.append((slot.job.id, str(error)))

    deadlines = Deadlines(slots, note)
    for job in await claim(conn, 3, worker=uuid4()):
        task = asyncio.create_task(forever())
        slots[job.position] = Slot(
            job=job, job_type=types[job.type], progress=Progress(job), task=task, span=None
        )
    patient, slow, stuck = slots.values()
    slow.timeout_at = slow.started + 0.2
    stuck.stage_timeout_at = stuck.started + 0.1
    for slot in slots.values():
        deadlines.add(slot)
    await until(lambda: truth_of(len(over) == 2))
    deadlines.close()
    for slot in slots.values():
        slot.task.cancel()

    assert [id for id, _ in over] == [stuck.job.id, slow.job.id]
    assert "made no progress" in over[0][1]
    assert "took longer" in over[1][1]
    assert patient.cancel_reason is None


async def test_a_job_whose_time_has_come_does_not_wait_for_the_end_of_the_backlog(
    dsn: str,
    pool: Pool,
    conn: Connection,
    application_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loop, "_PROMOTE", timedelta(seconds=0.05))
    started: list[UUID] = []

    async def leave_another(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        started.append(job.id)
        async with pool.session() as own:
            await enqueue(own, application_id)
        return Outcome()

    await enqueue(conn, application_id, 20)
    [late] = await enqueue(conn, application_id, priority=1)
    await conn.execute(
        "update rag.processing_jobs set run_at = now() + interval '0.3 seconds' where id = %s",
        [late],
    )
    async with running_worker(dsn, pool, {"file": leave_another}, concurrency=4):
        await until(lambda: truth_of(late in started))

    assert len(started) > 1
