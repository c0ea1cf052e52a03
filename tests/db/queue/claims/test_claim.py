"""Who gets which job: the claim, on a real Postgres."""

import asyncio
from collections import Counter
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from psycopg import AsyncConnection

from harness.patience import PATIENCE
from ingest.postgres.database import Connection
from ingest.store.queue import claims, job_types, jobs
from ingest.store.queue.jobs import NewJob
from tests.support.queue_builders import (
    add_application,
    claim,
    claimable,
    complete,
    enqueue,
    job_row,
)


async def test_a_second_worker_skips_a_row_being_claimed(
    conn: Connection, dsn: str, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 2)
    async with await AsyncConnection.connect(dsn) as other:  # its claim stays uncommitted
        theirs = await claim(other)
        mine = await asyncio.wait_for(claim(conn), timeout=PATIENCE)

    assert [len(theirs), len(mine)] == [1, 1]
    assert theirs[0].id != mine[0].id


async def test_a_claim_takes_no_more_than_its_batch(conn: Connection, application_id: UUID) -> None:
    others = [await add_application(conn) for _ in range(5)]
    for owner in [application_id, *others]:
        await enqueue(conn, owner, 30)

    assert len(await claim(conn, 10)) == 10
    assert len(await claim(conn, 7)) == 7


async def test_jobs_of_one_application_start_in_the_order_of_their_arrival(
    conn: Connection, application_id: UUID
) -> None:
    ids = await enqueue(conn, application_id, 20)

    claimed = [job.id for _ in range(4) for job in await claim(conn, 5)]

    assert set(claimed[:5]) == set(ids[:5])
    assert set(claimed) == set(ids)


async def test_a_higher_priority_goes_first(conn: Connection, application_id: UUID) -> None:
    await enqueue(conn, application_id, 5)
    [urgent] = await enqueue(conn, application_id, priority=10)

    [first] = await claim(conn)

    assert first.id == urgent


async def test_priority_counts_across_types_of_an_application(
    conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 10)
    urgent = await jobs.enqueue(
        conn,
        [NewJob(application_id=application_id, type="purge", priority=5) for _ in range(4)],
    )

    assert {job.id for job in await claim(conn, 4)} == set(urgent)


async def test_priority_does_not_bypass_fairness_between_applications(
    conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 10, priority=100)
    other = await add_application(conn)
    [usual] = await enqueue(conn, other)

    assert usual in {job.id for job in await claim(conn, 2)}


async def test_nightly_jobs_yield_to_interactive_jobs(
    conn: Connection, application_id: UUID
) -> None:
    others = [await add_application(conn) for _ in range(5)]
    for owner in [application_id, *others]:
        await enqueue(conn, owner, 3, priority=-10)
    [upload] = await enqueue(conn, others[0])

    by_day = await claim(conn, 4)
    at_night = await claim(conn, 4)

    assert [job.id for job in by_day] == [upload]
    assert len(at_night) == 4


@pytest.mark.parametrize("first", ["file", "purge"])
async def test_one_slot_at_a_time_serves_the_types_of_an_application_by_age(
    conn: Connection, application_id: UUID, first: str
) -> None:
    types = [first, "purge" if first == "file" else "file", first]
    for type in types:
        await jobs.enqueue(conn, [NewJob(application_id=application_id, type=type)])

    assert [(await claim(conn))[0].type for _ in types] == types


async def test_one_upload_does_not_wait_behind_four_thousand_of_another_application(
    conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 4000)
    small = await add_application(conn)
    [single] = await enqueue(conn, small)

    claimed = await claim(conn, 2, cursor=0)

    assert single in {job.id for job in claimed}


async def test_a_batch_is_shared_equally_over_applications(
    conn: Connection, application_id: UUID
) -> None:
    owners = [application_id, *[await add_application(conn) for _ in range(4)]]
    for owner, backlog in zip(owners, (1000, 100, 50, 20, 10), strict=True):
        await enqueue(conn, owner, backlog)

    shares = Counter(job.application_id for job in await claim(conn, 50))

    assert shares == dict.fromkeys(owners, 10)


async def test_few_slots_rotate_over_applications(conn: Connection, application_id: UUID) -> None:
    owners = [application_id, *[await add_application(conn) for _ in range(3)]]
    for owner in owners:
        await enqueue(conn, owner, 10)

    served = []
    cursor = UUID(int=0)
    for _ in range(8):
        [job] = await claims.claim(conn, types=["file"], batch=1, worker=uuid4(), cursor=cursor)
        cursor = job.application_id
        served.append(cursor)

    assert Counter(served) == dict.fromkeys(owners, 2)
    assert len(set(served[:4])) == 4


async def test_a_job_that_waits_for_its_time_is_not_claimed_until_promoted(
    conn: Connection, application_id: UUID
) -> None:
    [later] = await enqueue(conn, application_id, delay=timedelta(hours=1))

    early = await claim(conn, 10)
    promoted_early = await claims.promote(conn)
    wait = await claims.next_due(conn)
    await conn.execute("update rag.processing_jobs set run_at = now() where id = %s", [later])
    promoted = await claims.promote(conn)
    due = await claim(conn, 10)

    assert early == []
    assert promoted_early == 0
    assert wait is not None
    assert timedelta(minutes=59) < wait <= timedelta(hours=1)
    assert promoted == 1
    assert [job.id for job in due] == [later]


async def test_paused_and_disabled_types_and_the_global_pause_are_not_claimable(
    conn: Connection,
) -> None:
    everything = await claimable(conn, "file", "purge")
    await conn.execute("update rag.job_types set is_paused = true where type = 'file'")
    without_paused = await claimable(conn, "file", "purge")
    await conn.execute("update rag.job_types set is_enabled = false where type = 'purge'")
    nothing = await claimable(conn, "file", "purge")
    await conn.execute("update rag.job_types set is_paused = false, is_enabled = true")
    await conn.execute("update rag.worker_config set value = 'true' where key = 'paused'")
    paused = await claimable(conn, "file", "purge")

    assert everything == {"file", "purge"}
    assert without_paused == {"purge"}
    assert nothing == set()
    assert paused == set()


async def test_type_without_handler_in_this_worker_is_not_claimed(conn: Connection) -> None:
    assert await claimable(conn, "purge") == {"purge"}


async def test_the_same_idempotency_key_is_the_same_job(
    conn: Connection, application_id: UUID
) -> None:
    other = await add_application(conn)
    [first] = await enqueue(conn, application_id, idempotency_key="k")
    [again] = await enqueue(conn, application_id, idempotency_key="k")
    [elsewhere] = await enqueue(conn, other, idempotency_key="k")

    assert first == again
    assert elsewhere != first


async def test_enqueue_rolls_back_with_its_transaction(
    conn: Connection, application_id: UUID
) -> None:
    async with conn.transaction(force_rollback=True):
        await enqueue(conn, application_id, 3)

    assert await claim(conn, 10) == []


async def test_a_finished_job_is_not_claimed_again(conn: Connection, application_id: UUID) -> None:
    await enqueue(conn, application_id)
    claimed = await claim(conn)

    assert await complete(conn, claimed) == {claimed[0].id}
    assert await complete(conn, claimed) == set()
    assert await claim(conn) == []
    row = await job_row(conn, claimed[0].id)
    assert (row["status"], row["attempts"], row["progress"]) == ("completed", 1, 100)


async def test_a_type_whose_job_another_claim_has_locked_is_ready(
    conn: Connection, dsn: str, application_id: UUID
) -> None:
    await enqueue(conn, application_id)
    async with await AsyncConnection.connect(dsn) as other:
        await claim(other)
        ready = await claims.ready_types(conn, ["purge", "file"])
        mine = await claim(conn)

    assert ready == ["file"]
    assert mine == []


async def test_types_are_read_with_their_limits(conn: Connection) -> None:
    types = {row.type: row for row in await job_types.all_types(conn)}

    assert types["file"].max_attempts == 5
    assert types["file"].timeout == timedelta(minutes=30)


async def test_a_job_of_a_type_that_is_not_registered_is_refused(
    conn: Connection, application_id: UUID
) -> None:
    known = NewJob(application_id=application_id, type="file")
    unknown = NewJob(application_id=application_id, type="nobody_knows")

    with pytest.raises(LookupError):
        async with conn.transaction():
            await jobs.enqueue(conn, [known, unknown])

    row = await (await conn.execute("select count(*) from rag.processing_jobs")).fetchone()
    assert row == (0,)
