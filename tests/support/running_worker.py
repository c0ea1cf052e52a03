"""A real worker on the test database, with handlers defined by the test."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

from harness.patience import AGES, PATIENCE
from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.registry import Handler
from ingest.postgres.database import Connection, Pool
from ingest.postgres.listen import Listener
from ingest.store.queue import job_types
from ingest.store.queue.jobs import ClaimedJob
from ingest.worker.commit import Finished
from ingest.worker.group_commit import GroupCommit
from ingest.worker.loop import Worker
from ingest.worker.slots import Slot
from tests.support.queue_builders import job_row


@asynccontextmanager
async def running_worker(
    dsn: str,
    pool: Pool,
    handlers: Mapping[str, Handler],
    *,
    concurrency: int = 4,
    heartbeat: timedelta = timedelta(seconds=1),
    stale_after: timedelta = AGES,
    context: Context | None = None,
) -> AsyncIterator[Worker]:
    """Start a worker and its listener; stop them at the end of the block if they still run."""
    listener = Listener(dsn, channels=("rag_jobs",), pool=pool)
    worker = Worker(
        dsn=dsn,
        pool=pool,
        listener=listener,
        context=context or cast(Context, SimpleNamespace(pool=pool)),
        handlers=handlers,
        concurrency=concurrency,
        heartbeat=heartbeat,
        stale_after=stale_after,
    )
    await worker.start()
    listener.start()
    try:
        yield worker
    finally:
        await worker.stop(grace=timedelta(seconds=0.1))
        await listener.close()


async def until(condition: Callable[[], Awaitable[Any]]) -> Any:
    """Wait for `condition` to return something true, and return it."""
    async with asyncio.timeout(PATIENCE):
        while not (found := await condition()):  # noqa: ASYNC110  # a database sets no event
            await asyncio.sleep(0.02)
    return found


async def until_status(conn: Connection, job_id: Any, *statuses: str) -> dict[str, Any]:
    """Wait until a job has one of these states; returns its row."""

    async def reached() -> dict[str, Any] | None:
        row = await job_row(conn, job_id)
        return row if row["status"] in statuses else None

    return cast(dict[str, Any], await until(reached))


async def committed(pool: Pool, outcomes: Sequence[Finished]) -> list[bool]:
    """Submit outcomes at the same moment; returns for each whether it was committed."""
    async with pool.session() as conn:
        types = {row.type: row for row in await job_types.all_types(conn)}
    loop = asyncio.get_running_loop()
    done: dict[UUID, asyncio.Future[bool]] = {}

    def hear(ends: Sequence[tuple[Slot, bool | Exception]]) -> None:
        for slot, held in ends:
            if isinstance(held, Exception):
                done[slot.job.id].set_exception(held)
            else:
                done[slot.job.id].set_result(held)

    group_commit = GroupCommit(pool, on_done=hear)
    for outcome in outcomes:
        job = outcome.ended.job
        slot = Slot(
            job=job,
            job_type=types[job.type],
            progress=Progress(job),
            task=loop.create_task(_over(outcome)),
            span=None,
        )
        done[job.id] = loop.create_future()
        group_commit.submit(slot, outcome)
    group_commit.start()
    try:
        return await asyncio.gather(*done.values())
    finally:
        await group_commit.close()


async def _over(outcome: Finished) -> Finished:
    return outcome


class Scripted:
    """A handler that raises, waits or writes as its test demands."""

    def __init__(self, *steps: Exception | None) -> None:
        self.steps = list(steps)
        self.started: list[ClaimedJob] = []
        self.gate: asyncio.Event | None = None
        self.in_write: asyncio.Event | None = None
        self.written: list[UUID] = []

    async def __call__(self, job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        self.started.append(job)
        if self.gate is not None:
            await self.gate.wait()
        step = self.steps.pop(0) if self.steps else None
        if step is not None:
            raise step

        async def write(conn: Connection) -> None:
            await conn.execute("select 1")
            self.written.append(job.id)

        return Outcome(write=write)


async def truth_of(value: object) -> object:
    """Return the value, as a condition for `until`."""
    return value


async def all_running(conn: Connection, count: int) -> bool:
    """Whether exactly `count` jobs are running."""
    cursor = await conn.execute(
        "select count(*) from rag.processing_jobs where status = 'processing'"
    )
    return await cursor.fetchone() == (count,)
