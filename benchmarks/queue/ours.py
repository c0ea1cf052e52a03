"""This project's queue as a producer; its workers are processes of `ingest worker`."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID

import uvloop
from psycopg import AsyncConnection

from benchmarks.queue.peers.roles import Producer, main
from ingest.postgres.database import Connection
from ingest.postgres.migrations import migrate
from ingest.store.queue import job_types, jobs
from ingest.store.queue.job_types import JobType
from ingest.store.queue.jobs import NewJob
from ingest.store.tenants import applications

_NOOP = JobType(
    type="noop",
    handler="noop",
    max_attempts=5,
    backoff_base=timedelta(seconds=1),
    backoff_cap=timedelta(minutes=1),
    timeout=timedelta(minutes=1),
    stage_timeout=timedelta(minutes=1),
)


class IngestProducer(Producer):
    open_jobs = "select count(*) from rag.processing_jobs where status <> 'completed'"

    async def install(self) -> None:
        migrate(self.dsn)
        async with await AsyncConnection.connect(self.dsn) as conn:
            await job_types.add(conn, _NOOP)

    async def open(self) -> None:
        self.conn: Connection = await AsyncConnection.connect(self.dsn, autocommit=True)
        self.application_id: UUID = await applications.default_id(self.conn)

    async def push(self, numbers: Sequence[int]) -> None:
        new = [
            NewJob(application_id=self.application_id, type="noop", payload={"number": number})
            for number in numbers
        ]
        async with self.conn.transaction():
            await jobs.enqueue(self.conn, new)

    @asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        async with self.conn.transaction():
            yield
            await self.conn.execute("analyze rag.processing_jobs")


if __name__ == "__main__":
    main(IngestProducer, run=uvloop.run)
