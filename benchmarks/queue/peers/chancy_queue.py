"""chancy with the executor for async jobs, eager polling, and outcomes written ten times a second.

By default it writes outcomes once a second, which would add up to a second to each race.
"""

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import uvloop
from chancy import Chancy, Worker, job
from chancy import Queue as ChancyQueue
from psycopg import AsyncConnection
from psycopg.rows import dict_row
from psycopg_transaction import transaction
from roles import Handle, Queue, main

CONCURRENCY = 1_000
WRITE_EVERY_SECONDS = 0.1

_handles: list[Handle] = []


@job(queue="default")
async def noop(*, number: int) -> None:
    """At module level, because chancy finds it by its import path."""
    _handles[0](number)


class QueueOfChancy(Queue):
    open_jobs = "select count(*) from chancy_jobs where state <> 'succeeded'"

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn)
        log = logging.getLogger("chancy")
        log.setLevel(logging.WARNING)
        self.chancy = Chancy(dsn, log=log)
        self.conn: AsyncConnection[Any] | None = None

    async def install(self) -> None:
        async with self.chancy as chancy:
            await chancy.migrate()
            await chancy.declare(
                ChancyQueue(
                    name="default",
                    concurrency=CONCURRENCY,
                    executor=Chancy.Executor.Async,
                    eager_polling=True,
                )
            )

    async def open(self) -> None:
        await self.chancy.__aenter__()

    async def push(self, numbers: Sequence[int]) -> None:
        jobs = [noop.job.with_kwargs(number=number) for number in numbers]
        if self.conn is not None:
            async with self.conn.cursor(row_factory=dict_row) as cursor:
                await self.chancy.push_many_ex(cursor, jobs)
        elif len(jobs) == 1:
            await self.chancy.push(jobs[0])
        else:
            async for _ in self.chancy.push_many(jobs, batch_size=len(jobs)):
                pass

    @asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        async with transaction(self.dsn, "chancy_jobs") as self.conn:
            yield

    async def work(self, handle: Handle, ready: Callable[[], None]) -> None:
        _handles.append(handle)
        async with self.chancy as chancy:
            worker = Worker(chancy)
            worker.send_outgoing_interval = WRITE_EVERY_SECONDS
            async with worker:
                ready()
                await worker.wait_for_shutdown()


if __name__ == "__main__":
    main(QueueOfChancy, run=uvloop.run)
