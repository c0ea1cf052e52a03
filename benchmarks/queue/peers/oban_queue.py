"""oban for Python with its own pool, uvloop as in its command line, and a high limit."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import uvloop
from oban import Oban, worker
from oban.schema import install
from psycopg import AsyncConnection
from psycopg_transaction import transaction
from roles import Handle, Queue, main

LIMIT = 200

_handles: list[Handle] = []


@worker(queue="default")
class Noop:
    async def process(self, job: Any) -> None:
        _handles[0](job.args["number"])


class ObanQueue(Queue):
    open_jobs = "select count(*) from oban_jobs where state <> 'completed'"

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn)
        self.conn: AsyncConnection[Any] | None = None

    async def install(self) -> None:
        async with await Oban.create_pool(self.dsn) as pool:
            await install(pool)

    async def open(self) -> None:
        self.oban = Oban(pool=await Oban.create_pool(self.dsn))

    async def push(self, numbers: Sequence[int]) -> None:
        jobs = [Noop.new({"number": number}) for number in numbers]
        await self.oban.enqueue_many(jobs, conn=self.conn)

    @asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        async with transaction(self.dsn, "oban_jobs") as self.conn:
            yield

    async def work(self, handle: Handle, ready: Callable[[], None]) -> None:
        _handles.append(handle)
        pool = await Oban.create_pool(self.dsn, min_size=2, max_size=10)
        async with Oban(pool=pool, queues={"default": LIMIT}):
            ready()
            await asyncio.Event().wait()


if __name__ == "__main__":
    main(ObanQueue, run=uvloop.run)
