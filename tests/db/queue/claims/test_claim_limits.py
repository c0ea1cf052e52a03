"""Limits of job types, held by all workers together."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

import pytest
from psycopg import AsyncConnection

from harness.patience import PATIENCE
from ingest.postgres.database import Connection
from ingest.store.queue import claims
from ingest.store.queue.claims import ClaimableType
from ingest.worker.claiming import Claiming
from tests.db.queue.claims.files_claimed import claiming_files, limit_files
from tests.support.queue_builders import add_application, claim, complete, enqueue


async def _take(conn: Connection, batch: int = 10, claiming: Claiming | None = None) -> int:
    async with conn.transaction():
        return len(await (claiming or claiming_files()).take(conn, batch))


async def _allowance(conn: Connection) -> int:
    async with conn.transaction():
        [left] = await claims.allowances(conn, ["file"])
    return left.allowance


async def test_no_more_jobs_of_a_type_run_than_it_may(
    conn: Connection, application_id: UUID
) -> None:
    await limit_files(conn, max_concurrent=3)
    await enqueue(conn, application_id, 10)

    taken = [await _take(conn, 2) for _ in range(3)]

    assert taken == [2, 1, 0]


async def test_a_worker_that_claims_at_the_same_moment_waits_and_counts_our_jobs(
    conn: Connection, dsn: str, application_id: UUID
) -> None:
    await limit_files(conn, max_concurrent=3)
    await _allowance(conn)  # the lane is there: its lock is what makes the second one wait
    await enqueue(conn, application_id, 10)
    async with await AsyncConnection.connect(dsn) as other:
        theirs = await claiming_files().take(other, 2)  # uncommitted
        mine = asyncio.create_task(_take(conn))
        async with asyncio.timeout(PATIENCE):
            await _until_waiting(conn_dsn=dsn)
        assert not mine.done()
        await other.commit()
        got = await mine

    assert (len(theirs), got) == (2, 1)


async def test_jobs_queued_during_a_claim_do_not_bypass_limits(
    conn: Connection, application_id: UUID, monkeypatch: pytest.MonkeyPatch, dsn: str
) -> None:
    await limit_files(conn, max_concurrent=1)
    look = claims.claimable_types

    async def look_too_early(conn: Connection, *, handlers: Sequence[str]) -> list[ClaimableType]:
        found = await look(conn, handlers=handlers)
        async with await AsyncConnection.connect(dsn) as other:
            await enqueue(other, application_id, 5)
        return found

    monkeypatch.setattr(claims, "claimable_types", look_too_early)
    early = await _take(conn)
    monkeypatch.undo()

    assert early == 0
    assert [await _take(conn), await _take(conn)] == [1, 0]


async def _until_waiting(*, conn_dsn: str) -> None:
    async with await AsyncConnection.connect(conn_dsn, autocommit=True) as watching:
        while True:
            cursor = await watching.execute(
                "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
            )
            if await cursor.fetchone() != (0,):
                return
            await asyncio.sleep(0.01)


async def test_a_job_that_ends_makes_room_for_the_next(
    conn: Connection, application_id: UUID
) -> None:
    await limit_files(conn, max_concurrent=1)
    await enqueue(conn, application_id, 2)
    async with conn.transaction():
        running = await claiming_files().take(conn, 10)
    while_it_runs = await _take(conn)
    await complete(conn, running)

    assert while_it_runs == 0
    assert await _take(conn) == 1


async def test_the_jobs_of_a_dead_worker_leave_no_slot_used_up(
    conn: Connection, application_id: UUID
) -> None:
    await limit_files(conn, max_concurrent=2)
    await enqueue(conn, application_id, 4)
    await _take(conn)
    await conn.execute("delete from rag.processing_jobs where status = 'processing'")

    assert await _take(conn) == 2


async def test_a_limit_holds_over_applications_and_leaves_other_types_alone(
    conn: Connection, application_id: UUID
) -> None:
    await limit_files(conn, max_concurrent=3)
    for owner in [application_id, *[await add_application(conn) for _ in range(4)]]:
        await enqueue(conn, owner, 5)
    await conn.execute(
        "update rag.processing_jobs set type = 'purge' where id in "
        "(select id from rag.processing_jobs limit 6)"
    )

    async with conn.transaction():
        allowed = {row.type: row.allowance for row in await claims.allowances(conn, ["file"])}
        claimed = await claim(conn, 40, allowed=allowed)

    by_type = Counter(job.type for job in claimed)
    assert by_type["file"] == 3
    assert by_type["purge"] == 6


async def test_burst_is_a_tenth_of_the_rate(conn: Connection, application_id: UUID) -> None:
    await limit_files(conn, rate_per_minute=50)
    await enqueue(conn, application_id, 20)

    assert [await _take(conn), await _take(conn)] == [5, 0]


@pytest.mark.parametrize("rate", [1, 7, 60])
async def test_no_minute_exceeds_the_start_rate(
    conn: Connection, application_id: UUID, rate: int
) -> None:
    """Time passes by moving the lane's row back; what the steps take is counted as well."""
    await limit_files(conn, rate_per_minute=rate)
    starts: list[tuple[float, float]] = []
    begun, moved = time.monotonic(), 0.0
    while moved < 150:
        asked = time.monotonic() - begun + moved
        async with conn.transaction():
            [left] = await claims.allowances(conn, ["file"])
            if left.allowance > 0:
                await claims.charge_rate_limits(conn, {"file": left.allowance})
                starts += [(asked, time.monotonic() - begun + moved)] * left.allowance
        await conn.execute(
            "update rag.lanes set refilled_at = refilled_at - interval '0.7 seconds'"
        )
        moved += 0.7

    # Those that were in the same minute for sure: when exactly, only the database knows.
    busiest = max(
        sum(later >= first and later[1] < first[0] + 60 for later in starts) for first in starts
    )
    assert busiest <= rate
    assert len(starts) >= rate * 2


async def test_rate_limit_reports_the_time_of_the_next_start(conn: Connection) -> None:
    await limit_files(conn, rate_per_minute=6)
    async with conn.transaction():
        [full] = await claims.allowances(conn, ["file"])
        await claims.charge_rate_limits(conn, {"file": 1})
        [empty] = await claims.allowances(conn, ["file"])

    assert (full.allowance, full.wait_seconds) == (1, None)
    assert empty.allowance == 0
    assert empty.wait_seconds is not None
    assert 9 < empty.wait_seconds <= 10


async def test_removed_limit_does_not_block(conn: Connection, application_id: UUID) -> None:
    await limit_files(conn, rate_per_minute=1, max_concurrent=1)
    await enqueue(conn, application_id, 5)
    limited = await _take(conn)
    await limit_files(conn, rate_per_minute=None, max_concurrent=None)

    assert (limited, await _take(conn)) == (1, 4)


async def test_limit_lifted_during_a_claim_does_not_block(
    conn: Connection, application_id: UUID
) -> None:
    await limit_files(conn, max_concurrent=1)
    await enqueue(conn, application_id, 5)
    claiming = claiming_files()
    limited = await _take(conn, claiming=claiming)
    await limit_files(conn, max_concurrent=None)

    assert (limited, await _take(conn, claiming=claiming)) == (1, 4)
