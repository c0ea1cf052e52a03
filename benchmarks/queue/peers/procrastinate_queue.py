"""procrastinate on its psycopg connector with the usual pool, and uvloop.

Bulk enqueues by `batch_defer_async`. It fetches one job per query, so there is no batch size to
choose; beyond a few concurrent jobs, each costs more.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import uvloop
from procrastinate import App, PsycopgConnector
from psycopg import AsyncConnection
from psycopg_transaction import transaction
from roles import Handle, Queue, main

CONCURRENCY = 5


class ProcrastinateQueue(Queue):
    open_jobs = "select count(*) from procrastinate_jobs where status <> 'succeeded'"

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn)
        self.app = App(connector=PsycopgConnector(conninfo=dsn))
        self.conn: AsyncConnection[Any] | None = None
        self.task = self.app.task(name="noop")(self.run)
        self.handle: Handle | None = None

    async def run(self, number: int) -> None:
        assert self.handle is not None
        self.handle(number)

    async def install(self) -> None:
        async with self.app.open_async():
            await self.app.schema_manager.apply_schema_async()

    async def open(self) -> None:
        await self.app.open_async()

    async def push(self, numbers: Sequence[int]) -> None:
        task = self.task.configure(connection=self.conn) if self.conn else self.task
        if len(numbers) == 1:
            await task.defer_async(number=numbers[0])
        else:
            await task.batch_defer_async(*({"number": number} for number in numbers))

    @asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        async with transaction(self.dsn, "procrastinate_jobs") as self.conn:
            yield

    async def work(self, handle: Handle, ready: Callable[[], None]) -> None:
        self.handle = handle
        async with self.app.open_async():
            ready()
            await self.app.run_worker_async(concurrency=CONCURRENCY)


if __name__ == "__main__":
    main(ProcrastinateQueue, run=uvloop.run)
