"""Do claims stay fast after many jobs, and how large does the table become?

Jobs go through the queue twice: once all of them are kept, once retention runs at the same time.
After each tenth of the jobs, the claim time and the sizes of the queue's table and indexes are
measured. All of it uses the store's own functions.
"""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from benchmarks.queue.claim_time import BATCH, add_applications, claim
from ingest.asynchronous.tasks import cancel_all
from ingest.postgres.database import Connection, Pool
from ingest.store.queue import claims, jobs
from ingest.store.queue.jobs import ClaimedJob, Ended, NewJob
from ingest.store.retention.retention_jobs import JobRetention
from ingest.ticks.retention import Retention, apply_retention

MIB = 1024 * 1024
# The group size of the worker's group commit.
GROUP = 50
KEPT_PENDING = 10_000
_LONG = timedelta(days=1000)
AT_ONCE = Retention(
    jobs=JobRetention(jobs=timedelta(0), failed_jobs=timedelta(0)),
    events=_LONG,
    answers=_LONG,
    deliveries=_LONG,
    deleted=_LONG,
    runs=_LONG,
    activity=_LONG,
)


@dataclass(frozen=True, kw_only=True)
class Measured:
    done: int
    claim_ms: float
    table: int
    """Bytes; so is `ready`."""
    ready: int
    indexes: int
    """Bytes of all indexes."""
    live: int
    per_second: float

    def __str__(self) -> str:
        return (
            f"{self.done:,} done: claim {self.claim_ms:.2f} ms, table {self.table / MIB:.1f} MiB "
            f"({self.live:,} rows), ready index {self.ready / MIB:.2f} MiB, "
            f"all indexes {self.indexes / MIB:.1f} MiB, {self.per_second:,.0f} jobs/s"
        )


class _Through:
    """Enqueues, claims and finishes jobs, with a constant backlog."""

    def __init__(
        self,
        conn: Connection,
        claiming: Connection,
        owners: Sequence[UUID],
        *,
        count: int,
        kept_pending: int,
    ) -> None:
        self._conn = conn
        self._claiming = claiming
        self._owners = owners
        self._count = count
        self._kept_pending = kept_pending
        self._cursor = UUID(int=0)
        self._enqueued = 0

    async def run(self) -> AsyncIterator[Measured]:
        """Yield a measurement after each tenth of the jobs."""
        await self._enqueue(self._kept_pending)
        for tenth in range(1, 11):
            started = time.perf_counter()
            done, spent = 0, []
            while done < self._count // 10:
                await self._enqueue(BATCH)
                before = time.perf_counter()
                async with self._claiming.transaction():
                    await claims.set_planner(self._claiming)
                    claimed = await claim(self._claiming, self._cursor)
                spent.append(time.perf_counter() - before)
                self._cursor = claimed[-1].application_id
                await self._finish(claimed)
                done += len(claimed)
            rate = done / (time.perf_counter() - started)
            yield await self._measured(tenth * done, statistics.median(spent) * 1000, rate)

    async def _enqueue(self, count: int) -> None:
        owners = self._owners
        new = [
            NewJob(application_id=owners[(self._enqueued + n) % len(owners)], type="file")
            for n in range(count)
        ]
        self._enqueued += count
        async with self._conn.transaction():
            await jobs.enqueue(self._conn, new)

    async def _finish(self, claimed: Sequence[ClaimedJob]) -> None:
        for start in range(0, len(claimed), GROUP):
            group = claimed[start : start + GROUP]
            async with self._conn.transaction():
                held = await jobs.hold(self._conn, group)
                await jobs.finish(self._conn, [Ended(job=job, status="completed") for job in group])
            assert len(held) == len(group)

    async def _measured(self, done: int, taken: float, rate: float) -> Measured:
        cursor = await self._conn.execute(
            "select pg_relation_size('rag.processing_jobs'), "
            "pg_relation_size('rag.processing_jobs_ready'), "
            "pg_indexes_size('rag.processing_jobs'), count(*) from rag.processing_jobs"
        )
        row = await cursor.fetchone()
        assert row is not None
        table, ready, indexes, live = row
        return Measured(
            done=done,
            claim_ms=taken,
            per_second=rate,
            table=table,
            ready=ready,
            indexes=indexes,
            live=live,
        )


@asynccontextmanager
async def _retention(pool: Pool) -> AsyncIterator[None]:
    """Remove finished jobs repeatedly while the block runs."""

    async def forget() -> None:
        while True:
            await apply_retention(pool, AT_ONCE)
            await asyncio.sleep(0.1)

    task = asyncio.create_task(forget())
    try:
        yield
    finally:
        await cancel_all(task)


async def through(
    pool: Pool, count: int, *, is_pruned: bool, kept_pending: int = KEPT_PENDING
) -> list[Measured]:
    """A measurement after each tenth of the jobs; `kept_pending`: the size of the backlog."""
    async with pool.session() as conn, conn.transaction():
        await conn.execute("truncate rag.processing_jobs cascade")
        owners = await add_applications(conn, 1000)
    measured = []
    async with (
        pool.session() as conn,
        pool.session() as claiming,
        _retention(pool) if is_pruned else nullcontext(),
    ):
        work = _Through(conn, claiming, owners, count=count, kept_pending=kept_pending)
        async for one in work.run():
            print(f"  {one}", flush=True)
            measured.append(one)
    return measured
