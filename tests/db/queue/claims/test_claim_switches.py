"""Once a switch or limit was changed, no job starts by the old one: races made to happen."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from uuid import UUID

import pytest
from psycopg import AsyncConnection

from harness.patience import PATIENCE
from ingest.postgres.database import Connection
from ingest.store.limits import worker_config
from ingest.store.queue import job_types
from ingest.worker.claiming import Claiming
from tests.db.queue.claims.files_claimed import claiming_files
from tests.support.queue_builders import enqueue
from tests.support.running_worker import until

Change = Callable[[Connection], Awaitable[None]]


async def _edit(conn: Connection, **change: object) -> None:
    async with conn.transaction():
        row = await job_types.lock(conn, "file")
        assert row is not None
        await job_types.write(conn, replace(row, **change))  # type: ignore[arg-type]


async def _pause_all(conn: Connection) -> None:
    async with conn.transaction():
        await worker_config.set_paused(conn, True)


OFF = {
    "isPaused": lambda conn: _edit(conn, is_paused=True),
    "isEnabled": lambda conn: _edit(conn, is_enabled=False),
    "paused": _pause_all,
}
CHANGES = OFF | {
    "maxConcurrent": lambda conn: _edit(conn, max_concurrent=1),
    "ratePerMinute": lambda conn: _edit(conn, rate_per_minute=1),
}
# How many of ten jobs may still start after one has.
LEFT = {"maxConcurrent": 0, "ratePerMinute": 1}


async def _take(conn: Connection, claiming: Claiming, batch: int) -> int:
    async with conn.transaction():
        return len(await claiming.take(conn, batch))


@pytest.mark.parametrize("change", CHANGES)
async def test_cached_job_types_do_not_delay_a_change(
    conn: Connection, application_id: UUID, change: str
) -> None:
    await enqueue(conn, application_id, 10)
    workers = [claiming_files(), claiming_files()]
    started = [await _take(conn, workers[0], 1), await _take(conn, workers[1], 0)]

    await CHANGES[change](conn)
    after = sum([await _take(conn, worker, 5) for worker in workers])

    assert started == [1, 0]
    assert after == LEFT.get(change, 0)


@pytest.mark.parametrize("change", OFF)
async def test_settings_change_waits_for_claims_that_have_not_seen_it(
    conn: Connection, dsn: str, application_id: UUID, change: str
) -> None:
    await enqueue(conn, application_id, 2)
    async with await AsyncConnection.connect(dsn) as other:
        claimed = await claiming_files().take(other, 1)  # uncommitted
        changing = asyncio.create_task(OFF[change](conn))
        await until(lambda: _waits_for_a_lock(other))
        is_answered = changing.done()
        await other.commit()
        async with asyncio.timeout(PATIENCE):
            await changing

    assert (len(claimed), is_answered) == (1, False)
    assert await _take(conn, claiming_files(), 5) == 0


@pytest.mark.parametrize("change", OFF)
async def test_a_claim_that_comes_during_a_change_waits_and_obeys_it(
    conn: Connection, dsn: str, application_id: UUID, change: str
) -> None:
    await enqueue(conn, application_id, 2)
    claiming = claiming_files()
    await _take(conn, claiming, 0)
    async with await AsyncConnection.connect(dsn, autocommit=True) as other:
        async with other.transaction():
            await OFF[change](other)
            taking = asyncio.create_task(_take(conn, claiming, 2))
            await until(lambda: _waits_for_a_lock(other))
        async with asyncio.timeout(PATIENCE):
            taken = await taking

    assert taken == 0


async def _waits_for_a_lock(conn: Connection) -> bool:
    cursor = await conn.execute("select exists (select from pg_locks where not granted)")
    row = await cursor.fetchone()
    return row is not None and bool(row[0])
