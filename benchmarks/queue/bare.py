"""The limit: a hand-written loop on psycopg.

It claims 100 jobs in one statement and completes them in another. There is no fence and no retry,
and a job is lost if its worker dies.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from benchmarks.queue.peers.roles import Handle, Queue, main

_BATCH = 100
_TABLE = """
create table jobs (
    id bigint generated always as identity primary key,
    payload jsonb not null,
    status text not null default 'pending');
create index jobs_ready on jobs (id) where status = 'pending';
"""
_PUSH = "insert into jobs (payload) select unnest(%s::jsonb[])"
_CLAIM = """
update jobs set status = 'processing'
 where id = any(array(
    select id from jobs where status = 'pending' order by id limit %s for update skip locked))
returning id, payload
"""
_COMPLETE = "update jobs set status = 'completed' where id = any(%s)"


class BareQueue(Queue):
    open_jobs = "select count(*) from jobs where status <> 'completed'"

    async def install(self) -> None:
        with self._connect() as conn:
            conn.execute(_TABLE)

    async def open(self) -> None:
        self.conn = self._connect()

    async def push(self, numbers: Sequence[int]) -> None:
        with self.conn.transaction():
            self.conn.execute(_PUSH, [[Jsonb({"number": number}) for number in numbers]])
            self.conn.execute("notify jobs")

    @asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        with self.conn.transaction():
            yield
            self.conn.execute("analyze jobs")

    async def work(self, handle: Handle, ready: Callable[[], None]) -> None:
        await asyncio.to_thread(self._loop, handle, ready)

    def _loop(self, handle: Handle, ready: Callable[[], None]) -> None:
        with self._connect() as conn, self._connect() as listening:
            listening.execute("listen jobs")
            ready()
            while True:
                claimed = conn.execute(_CLAIM, [_BATCH]).fetchall()
                for _, payload in claimed:
                    handle(payload["number"])
                if claimed:
                    conn.execute(_COMPLETE, [[id for id, _ in claimed]])
                else:
                    for _ in listening.notifies(stop_after=1):
                        pass

    def _connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.dsn, autocommit=True)


if __name__ == "__main__":
    main(BareQueue)
