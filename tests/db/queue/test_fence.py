"""Late writers, dead workers, cancelled jobs: who may still write."""

import re
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from ingest.payloads import FilePayload
from ingest.postgres.database import Connection, Pool, load_queries
from ingest.store.queue import job_control, jobs
from ingest.store.queue.jobs import ClaimedJob, Ended
from ingest.worker.commit import Finished, commit
from tests.support.queue_builders import (
    add_application,
    add_worker,
    claim,
    complete,
    enqueue,
    job_row,
    make_due,
    source_row,
    upload,
)

_STALE = timedelta(minutes=2)


async def test_a_recovered_job_refuses_its_old_holder(
    conn: Connection, application_id: UUID
) -> None:
    dead = await add_worker(conn, silent_for="3 minutes")
    await enqueue(conn, application_id)
    [old] = await claim(conn, worker=dead)

    await jobs.recover(conn, stale_after=_STALE)
    await make_due(conn)
    [new] = await claim(conn, worker=await add_worker(conn))

    assert await complete(conn, [old]) == set()
    assert await jobs.hold(conn, [old]) == set()
    assert await complete(conn, [new]) == {new.id}


async def test_a_recovered_job_that_waits_again_refuses_its_old_holder(
    conn: Connection, application_id: UUID
) -> None:
    dead = await add_worker(conn, silent_for="3 minutes")
    await enqueue(conn, application_id)
    [old] = await claim(conn, worker=dead)
    await jobs.recover(conn, stale_after=_STALE)

    assert await complete(conn, [old]) == set()
    assert (await job_row(conn, old.id))["status"] == "pending"


async def test_jobs_of_a_live_worker_are_not_recovered(
    conn: Connection, application_id: UUID
) -> None:
    alive = await add_worker(conn, silent_for="1 minute")
    await enqueue(conn, application_id)
    await claim(conn, worker=alive)

    assert await jobs.recover(conn, stale_after=_STALE) == []


async def test_jobs_of_a_worker_without_a_row_are_recovered(
    conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id)
    [job] = await claim(conn, worker=uuid4())

    [recovered] = await jobs.recover(conn, stale_after=_STALE)

    assert (recovered.id, recovered.status) == (job.id, "pending")


async def test_jobs_of_a_dead_worker_are_requeued_spread_over_time(
    conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 50)
    await claim(conn, 50, worker=uuid4())

    await jobs.recover(conn, stale_after=_STALE)

    cursor = await conn.execute(
        "select count(distinct run_at), max(run_at) - now() from rag.processing_jobs"
    )
    row = await cursor.fetchone()
    assert row is not None
    assert row[0] > 40
    assert row[1] <= timedelta(seconds=2)


async def test_a_job_that_kills_its_workers_ends_as_worker_lost(
    conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id)
    for _ in range(5):
        [job] = await claim(conn, worker=uuid4())
        await jobs.recover(conn, stale_after=_STALE)
        await make_due(conn)

    row = await job_row(conn, job.id)
    assert (row["status"], row["attempts"], row["last_error_code"]) == ("failed", 5, "worker_lost")
    assert await claim(conn) == []


@pytest.mark.parametrize("refund", [True, False])
async def test_a_job_given_back_spends_no_attempt(
    conn: Connection, application_id: UUID, *, refund: bool
) -> None:
    await enqueue(conn, application_id)
    [job] = await claim(conn)

    await jobs.finish(conn, [Ended(job=job, status="pending", refund=refund)])

    assert (await job_row(conn, job.id))["attempts"] == (0 if refund else 1)


async def test_fence_never_decreases_when_an_attempt_is_refunded(
    conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id)
    [first] = await claim(conn)
    await jobs.finish(conn, [Ended(job=first, status="pending", refund=True)])
    [second] = await claim(conn)

    assert second.fence > first.fence
    assert await complete(conn, [first]) == set()


async def test_a_cancelled_job_refuses_its_holder(conn: Connection, application_id: UUID) -> None:
    [id] = await enqueue(conn, application_id)
    [job] = await claim(conn)

    await job_control.cancel(conn, application_id=application_id, job_ids=[id])

    assert await complete(conn, [job]) == set()
    assert (await job_row(conn, id))["status"] == "cancelled"


async def test_progress_tells_the_holder_which_jobs_it_still_has(
    conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 2)
    kept, lost = await claim(conn, 2)
    await job_control.cancel(conn, application_id=application_id, job_ids=[lost.id])

    held = await jobs.report_progress(conn, [(kept, "embed", 50), (lost, "embed", 50)])

    assert held == {kept.id}
    row = await job_row(conn, kept.id)
    assert (row["stage"], row["progress"]) == ("embed", 50)


async def test_progress_never_falls_within_an_attempt(
    conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id)
    [job] = await claim(conn)
    await jobs.report_progress(conn, [(job, "embed", 60)])
    await jobs.report_progress(conn, [(job, "embed", 40)])

    assert (await job_row(conn, job.id))["progress"] == 60


async def test_nobody_cancels_or_retries_the_jobs_of_another_application(
    conn: Connection, application_id: UUID
) -> None:
    stranger = await add_application(conn)
    [id] = await enqueue(conn, application_id)

    assert await job_control.cancel(conn, application_id=stranger, job_ids=[id]) == []
    assert await job_control.retry(conn, application_id=stranger, job_ids=[id]) == []
    assert not await job_control.delete(conn, application_id=stranger, id=id)


async def test_a_retry_by_hand_starts_with_all_attempts(
    conn: Connection, application_id: UUID
) -> None:
    [id] = await enqueue(conn, application_id)
    [job] = await claim(conn)
    await jobs.finish(conn, [Ended(job=job, status="failed", error_code="corrupt")])

    [retried] = await job_control.retry(conn, application_id=application_id, job_ids=[id])
    again = await job_control.retry(conn, application_id=application_id, job_ids=[id])

    assert retried.id == id
    assert again == []
    row = await job_row(conn, id)
    assert (row["status"], row["attempts"]) == ("pending", 0)


async def test_jobs_that_a_live_worker_does_not_run_are_released(
    conn: Connection, application_id: UUID
) -> None:
    worker = await add_worker(conn)
    await enqueue(conn, application_id, 3)
    kept, stray, fresh = await claim(conn, 3, worker=worker)
    await conn.execute(
        "update rag.processing_jobs set locked_at = now() - interval '1 minute' where id <> %s",
        [fresh.id],
    )

    released = await jobs.release_abandoned(conn, worker=worker, running=[kept.id])

    assert [job.id for job in released] == [stray.id]
    assert await complete(conn, [kept, fresh]) == {kept.id, fresh.id}


async def test_a_newer_upload_supersedes_the_open_job_of_its_path(
    conn: Connection, application_id: UUID
) -> None:
    [source] = await upload(conn, application_id, "a.txt", content="one")
    [old] = await claim(conn)

    assert await upload(conn, application_id, "a.txt", content="two") == [source]

    assert await complete(conn, [old]) == set()
    [new] = await claim(conn)
    assert FilePayload.of(new).content_hash != FilePayload.of(old).content_hash
    assert (await source_row(conn, source))["current_job_id"] == new.id


async def test_a_late_holder_shares_a_transaction_and_writes_nothing(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 2)
    late, good = await claim(conn, 2)
    await job_control.cancel(conn, application_id=application_id, job_ids=[late.id])
    written: list[UUID] = []

    def finished(job: ClaimedJob) -> Finished:
        async def write(conn: Connection) -> None:
            written.append(job.id)

        return Finished(ended=Ended(job=job, status="completed"), write=write)

    assert await commit(pool, [finished(late), finished(good)]) == {good.position}
    assert written == [good.id]


async def test_a_late_holder_is_not_among_jobs_that_are_completed_in_one_statement(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 3)
    late, cancelled, good = await claim(conn, 3)
    await job_control.cancel(conn, application_id=application_id, job_ids=[cancelled.id])
    await conn.execute("update rag.processing_jobs set fence = fence + 1 where id = %s", [late.id])
    group = [Finished(ended=Ended(job=job, status="completed")) for job in (late, cancelled, good)]

    assert all(finished.updates_job_only for finished in group)
    assert await commit(pool, group) == {good.position}
    states = [(await job_row(conn, job.id))["status"] for job in (late, cancelled, good)]
    assert states == ["processing", "cancelled", "completed"]


@pytest.mark.parametrize("count", [1, 2_000])
async def test_jobs_are_completed_in_the_order_of_their_ids(
    conn: Connection, application_id: UUID, count: int
) -> None:
    await enqueue(conn, application_id, count)
    await conn.execute("analyze rag.processing_jobs")  # it sees no running jobs
    held = await claim(conn, batch=count)
    queries = load_queries("queue/jobs.sql")

    async with conn.transaction():
        await conn.execute(queries["plan_complete"])
        cursor = await conn.execute(
            b"explain " + queries["complete"],
            {"ids": [job.id for job in held], "fences": [job.fence for job in held]},
        )
        plan = "\n".join(line for (line,) in await cursor.fetchall())

    # Any other scan or join would lock the jobs in another order than other transactions do.
    scans = set(re.findall(r"\w+ Scan (?:using|on) \w+", plan))
    assert scans == {"Index Scan using processing_jobs_pkey", "Function Scan on ended"}
    assert set(re.findall(r"\w+ Loop|\w+ Join", plan)) == {"Nested Loop"}


async def test_jobs_are_completed_whatever_their_order(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 3)
    held = await claim(conn, batch=3)
    late = held[1]._replace(fence=held[1].fence - 1)

    completed = await jobs.complete(pool, [held[2], late, held[0]])

    assert completed == {held[0].position, held[2].position}
    assert (await job_row(conn, held[1].id))["status"] == "processing"
