"""The benchmarks of the claim run, and jobs that went through it leave no trace when pruned."""

from benchmarks.queue.bloat import AT_ONCE, through
from benchmarks.queue.claim_time import by_backlog
from ingest.postgres.database import Connection, Pool
from ingest.ticks.retention import apply_retention


async def test_the_claim_is_measured_over_backlogs(conn: Connection) -> None:
    measured = await by_backlog(conn, (150, 300), repeats=3)

    shapes = [(one.pending, one.applications) for one in measured]
    assert shapes == [(150, 1), (300, 1), (150, 1000), (300, 1000)]
    assert all(one.ms > 0 for one in measured)


async def test_jobs_go_through_while_all_are_kept(pool: Pool) -> None:
    measured = await through(pool, 1000, is_pruned=False, kept_pending=100)

    assert [one.live for one in measured] == list(range(200, 1101, 100))


async def test_jobs_go_through_beside_retention(pool: Pool, conn: Connection) -> None:
    measured = await through(pool, 1000, is_pruned=True, kept_pending=100)
    await apply_retention(pool, AT_ONCE)

    cursor = await conn.execute("select distinct status from rag.processing_jobs")
    assert [one.done for one in measured] == list(range(100, 1001, 100))
    assert await cursor.fetchall() == [("pending",)]
