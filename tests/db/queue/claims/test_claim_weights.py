"""Weights and age: whose jobs are claimed next."""

from collections import Counter
from uuid import UUID

from ingest.postgres.database import Connection
from ingest.store.queue import claims
from ingest.store.queue.jobs import ClaimedJob
from ingest.worker.claiming import Claiming
from tests.db.queue.claims.files_claimed import claiming_files, limit_files
from tests.support.queue_builders import add_application, claim, enqueue


async def test_a_batch_is_shared_by_weight(conn: Connection, application_id: UUID) -> None:
    heavy, light = await add_application(conn), await add_application(conn)
    await conn.execute(
        "update app.applications set settings = %s where id = %s", ['{"weight": 3}', heavy]
    )
    for owner in (application_id, heavy, light):
        await enqueue(conn, owner, 100)

    claimed = await claim(conn, 50, weights=await claims.weights(conn))

    shares = Counter(job.application_id for job in claimed)
    assert shares == {heavy: 30, application_id: 10, light: 10}


async def test_invalid_stored_weights_are_clamped(conn: Connection, application_id: UUID) -> None:
    for weight in ('"many"', "0", "-5", "1e9", "2.5", "null", "{}"):
        await conn.execute(
            "update app.applications set settings = %s where id = %s",
            [f'{{"weight": {weight}}}', application_id],
        )

        assert set((await claims.weights(conn)).values()) <= set(range(1, 101))


async def test_oldest_job_goes_first_from_time_to_time(
    conn: Connection, application_id: UUID
) -> None:
    [starving] = await enqueue(conn, application_id, priority=-100)
    await enqueue(conn, application_id, 30, priority=50)
    claiming = claiming_files()

    order: list[ClaimedJob] = []
    for _ in range(20):
        async with conn.transaction():
            order += await claiming.take(conn, 1)

    assert [job.id for job in order].index(starving) == 9


async def test_what_follows_the_oldest_job_fills_the_batch_within_the_limits(
    conn: Connection, application_id: UUID
) -> None:
    await limit_files(conn, max_concurrent=13)
    [starving] = await enqueue(conn, application_id, priority=-100)
    await enqueue(conn, application_id, 30, priority=50)
    claiming = claiming_files()
    batches = [await _take_ids(conn, claiming, size) for size in [1] * 9 + [10]]

    assert batches[-1][0] == starving
    assert len(batches[-1]) == 13 - 9


async def _take_ids(conn: Connection, claiming: Claiming, batch: int) -> list[UUID]:
    async with conn.transaction():
        return [job.id for job in await claiming.take(conn, batch)]


async def test_idle_worker_claims_one_job_by_age_then_in_turn(
    conn: Connection, application_id: UUID
) -> None:
    claiming = claiming_files()
    assert await _take_ids(conn, claiming, 3) == []
    [old] = await enqueue(conn, application_id, priority=-5)
    [dull] = await enqueue(conn, application_id, priority=1)
    [urgent] = await enqueue(conn, application_id, priority=9)

    assert await _take_ids(conn, claiming, 3) == [old]
    assert await _take_ids(conn, claiming, 1) == [urgent]
    assert await _take_ids(conn, claiming, 3) == [dull]


async def test_idle_single_slot_worker_claims_the_most_urgent_job(
    conn: Connection, application_id: UUID
) -> None:
    claiming = claiming_files()
    assert await _take_ids(conn, claiming, 1) == []
    await enqueue(conn, application_id, priority=1)
    [urgent] = await enqueue(conn, application_id, priority=9)

    assert await _take_ids(conn, claiming, 1) == [urgent]


async def test_idle_worker_respects_job_type_limits(conn: Connection, application_id: UUID) -> None:
    await limit_files(conn, max_concurrent=1)
    claiming = claiming_files()
    assert await _take_ids(conn, claiming, 10) == []
    await enqueue(conn, application_id, 5)

    taken = [len(await _take_ids(conn, claiming, 10)) for _ in range(3)]

    assert taken == [1, 0, 0]
