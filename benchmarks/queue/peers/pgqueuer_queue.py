"""pgqueuer on asyncpg and uvloop, as in its performance guide.

One connection for the manager, its autovacuum settings, logged tables (`durable`, the default: the
other modes may lose jobs in a crash), large batches for short jobs, and without aggregating its
log.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries
from roles import Handle, Queue, main

BATCH = 1_000


class PgqueuerQueue(Queue):
    open_jobs = "select count(*) from pgqueuer"

    async def install(self) -> None:
        queries = Queries(AsyncpgDriver(await asyncpg.connect(self.dsn)))
        await queries.install()
        await queries.optimize_autovacuum()

    async def open(self) -> None:
        self.conn = await asyncpg.connect(self.dsn)
        self.queries = Queries(AsyncpgDriver(self.conn))

    async def push(self, numbers: Sequence[int]) -> None:
        payloads: list[bytes | None] = [b"%d" % number for number in numbers]
        await self.queries.enqueue(["noop"] * len(payloads), payloads, [0] * len(payloads))

    @asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        async with self.conn.transaction():
            yield
            await self.conn.execute("analyze pgqueuer")

    async def work(self, handle: Handle, ready: Callable[[], None]) -> None:
        worker = PgQueuer(AsyncpgDriver(await asyncpg.connect(self.dsn)))

        @worker.entrypoint("noop")
        async def noop(job: Job) -> None:
            assert job.payload is not None
            handle(int(job.payload))

        ready()
        await worker.run(batch_size=BATCH, log_aggregation_interval=timedelta(0))


if __name__ == "__main__":
    main(PgqueuerQueue, run=uvloop.run)
