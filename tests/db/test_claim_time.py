"""The benchmark of the claim runs, and jobs that went through it leave no trace when pruned."""

import pytest

from benchmarks.claim_time import AT_ONCE, Sizes, by_backlog, through
from ingest.db import Connection, Pool
from ingest.housekeeping import keep_house

_TINY = Sizes(backlogs=(150, 300), jobs=1000, kept_pending=100, claims=3)


async def test_the_claim_is_measured_over_backlogs(
    conn: Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    await by_backlog(conn, _TINY)

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all("claim of 100 takes" in line for line in lines)


async def test_jobs_go_through_while_all_are_kept(pool: Pool) -> None:
    measured = await through(pool, _TINY, is_pruned=False)

    assert [one.live for one in measured] == list(range(200, 1101, 100))


async def test_jobs_go_through_beside_retention(pool: Pool, conn: Connection) -> None:
    measured = await through(pool, _TINY, is_pruned=True)
    await keep_house(pool, AT_ONCE)

    cursor = await conn.execute("select distinct status from rag.processing_jobs")
    assert [one.done for one in measured] == list(range(100, 1001, 100))
    assert await cursor.fetchall() == [("pending",)]
