"""Does the claim stay as fast as it is: with a large backlog, and after a million jobs?

    python -m benchmarks.claim_time [--jobs 1000000] [--small]

Prints how long a claim of 100 takes with more and more pending jobs of one and of a thousand
applications. Then puts jobs through the queue, once while all of them are kept and once with
retention running beside the work, and prints after each tenth what a claim takes and how large the
queue's table and its indexes are. All by the store's own functions, on a Postgres of its own.
"""

import argparse
import asyncio
import logging
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import structlog

from ingest.db import Connection, Pool, open_pool, transaction
from ingest.embedded import EmbeddedPostgres
from ingest.housekeeping import Keep, keep_house
from ingest.migrate import migrate
from ingest.store import claims, jobs
from ingest.store.jobs import ClaimedJob, Ended, NewJob
from ingest.store.retention_jobs import KeepJobs
from ingest.tasks import end

MIB = 1024 * 1024
BATCH = 100
# As the worker's finisher commits.
GROUP = 50
WORKER = uuid4()
_LONG = timedelta(days=1000)
AT_ONCE = Keep(
    jobs=KeepJobs(jobs=timedelta(0), failed_jobs=timedelta(0)),
    events=_LONG,
    answers=_LONG,
    deliveries=_LONG,
    deleted=_LONG,
    runs=_LONG,
)


@dataclass(frozen=True, kw_only=True)
class Sizes:
    backlogs: Sequence[int] = (1_000, 100_000, 1_000_000)
    jobs: int = 1_000_000
    kept_pending: int = 10_000
    """So many are pending at any time while jobs go through."""
    claims: int = 51


SMALL = Sizes(backlogs=(200, 1_000), jobs=3_000, kept_pending=500, claims=5)


async def add_applications(conn: Connection, count: int) -> list[UUID]:
    cursor = await conn.execute(
        "insert into app.applications (name) select 'n' || n from generate_series(1, %s) as n "
        "returning id",
        [count],
    )
    return [id for (id,) in await cursor.fetchall()]


async def claim(conn: Connection, cursor: UUID) -> list[ClaimedJob]:
    return await claims.claim(conn, types=["file"], batch=BATCH, worker=WORKER, cursor=cursor)


async def claim_ms(conn: Connection, owners: Sequence[UUID], count: int) -> float:
    """The median of `count` claims that are taken back, with cursors all over the applications."""
    spent = []
    for n in range(count):
        async with conn.transaction(force_rollback=True):
            started = time.perf_counter()
            claimed = await claim(conn, owners[n * len(owners) // count])
            spent.append(time.perf_counter() - started)
        assert len(claimed) == BATCH, len(claimed)
    return statistics.median(spent) * 1000


async def by_backlog(conn: Connection, sizes: Sizes) -> None:
    for owner_count in (1, 1000):
        owners = sorted(await add_applications(conn, owner_count))
        first = None
        for backlog in sizes.backlogs:
            await conn.execute("truncate rag.processing_jobs cascade")
            await conn.execute(
                "insert into rag.processing_jobs (id, application_id, type, max_attempts) "
                "select gen_random_uuid(), (%s::uuid[])[1 + n %% %s], 'file', 5 "
                "from generate_series(1, %s) as n",
                [owners, owner_count, backlog],
            )
            await conn.execute("vacuum analyze rag.processing_jobs")
            taken = await claim_ms(conn, owners, sizes.claims)
            first = first or taken
            print(
                f"{backlog:>9,} pending of {owner_count:>5,} applications: claim of {BATCH} takes "
                f"{taken:.2f} ms, {taken / first:.2f} x that of {sizes.backlogs[0]:,}"
            )


@dataclass(frozen=True, kw_only=True)
class Measured:
    done: int
    claim_ms: float
    table: int
    """Bytes, as `ready`."""
    ready: int
    indexes: int
    """All of them."""
    live: int
    per_second: float


class Through:
    """Jobs that are enqueued, claimed and finished, with a steady backlog."""

    def __init__(self, conn: Connection, owners: Sequence[UUID], sizes: Sizes) -> None:
        self._conn = conn
        self._owners = owners
        self._sizes = sizes
        self._cursor = UUID(int=0)
        self._enqueued = 0

    async def run(self) -> AsyncIterator[Measured]:
        """What was measured after each tenth of the jobs."""
        await self._enqueue(self._sizes.kept_pending)
        for tenth in range(1, 11):
            started = time.perf_counter()
            done, spent = 0, []
            while done < self._sizes.jobs // 10:
                await self._enqueue(BATCH)
                before = time.perf_counter()
                claimed = await claim(self._conn, self._cursor)
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
async def retention(pool: Pool) -> AsyncIterator[None]:
    """Finished jobs are removed again and again while the block runs."""

    async def forget() -> None:
        while True:
            await keep_house(pool, AT_ONCE)
            await asyncio.sleep(0.1)

    task = asyncio.create_task(forget())
    try:
        yield
    finally:
        await end(task)


async def through(pool: Pool, sizes: Sizes, *, is_pruned: bool) -> list[Measured]:
    """Prints and returns what was measured after each tenth of the jobs."""
    print("jobs through the queue,", "retention beside it" if is_pruned else "all of them kept")
    async with transaction(pool) as conn:
        await conn.execute("truncate rag.processing_jobs cascade")
        owners = await add_applications(conn, 1000)
    measured = []
    async with pool.connection() as conn:
        work = Through(conn, owners, sizes).run()
        if is_pruned:
            async with retention(pool):
                measured = [_printed(one) async for one in work]
        else:
            measured = [_printed(one) async for one in work]
    first, last = measured[0], measured[-1]
    print(
        f"  last to first tenth: claim {last.claim_ms / first.claim_ms:.2f}, "
        f"ready index {last.ready / first.ready:.2f}, table {last.table / first.table:.2f}, "
        f"all indexes {last.indexes / first.indexes:.2f}, "
        f"jobs/s {last.per_second / first.per_second:.2f}"
    )
    return measured


def _printed(one: Measured) -> Measured:
    print(
        f"  {one.done:>9,} done: claim {one.claim_ms:.2f} ms, table {one.table / MIB:.1f} MiB "
        f"({one.live:,} rows), ready index {one.ready / MIB:.2f} MiB, "
        f"all indexes {one.indexes / MIB:.1f} MiB, {one.per_second:,.0f} jobs/s"
    )
    return one


async def measure(dsn: str, sizes: Sizes) -> None:
    async with open_pool(dsn, size=4, application_name="benchmark") as pool:
        async with pool.connection() as conn:
            await by_backlog(conn, sizes)
        await through(pool, sizes, is_pruned=False)
        await through(pool, sizes, is_pruned=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=Sizes.jobs)
    parser.add_argument("--small", action="store_true", help="some seconds, to see that it runs")
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    sizes = SMALL if arguments.small else replace(Sizes(), jobs=arguments.jobs)
    with tempfile.TemporaryDirectory() as folder, EmbeddedPostgres(Path(folder)) as dsn:
        migrate(dsn)
        asyncio.run(measure(dsn, sizes))


if __name__ == "__main__":
    main()
