"""A session of one contestant: push jobs, or pick up single jobs and then drain many."""

import random
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

import psycopg

from benchmarks.core.environments import Unavailable
from benchmarks.core.postgres import Server, url
from benchmarks.queue.contestants import Contestant, Runs
from benchmarks.queue.scripts import running

_PAUSES: Final = (0.02, 0.05)
_CALL: Final = 1_000
"""Jobs in one call of a bulk enqueue."""
_LONGEST_DRAIN: Final = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    single_per_second: float
    bulk_per_second: float
    wal: float
    """Bytes of WAL per job of the bulk enqueue."""

    def __str__(self) -> str:
        single, bulk = self.single_per_second, self.bulk_per_second
        return f"{single:,.0f} jobs/s one by one, {bulk:,.0f} in bulk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    per_second: float
    wal: float
    """Bytes of WAL per job."""
    pickups: Sequence[float]
    """Milliseconds from the commit of a single job to the first line of its handler, ascending."""
    least_share: float
    """Share of the drained jobs that the least busy process ran."""

    def __str__(self) -> str:
        middle = f", pickup {statistics.median(self.pickups):.2f} ms" if self.pickups else ""
        return f"{self.per_second:,.0f} jobs/s{middle}"


def push(server: Server, contestant: Contestant, *, single: int, bulk: int) -> Pushed:
    """Push jobs one by one, then in calls of 1,000, on one connection and without workers."""
    with server.database(contestant.database) as conninfo:
        dsn = url(conninfo)
        with (
            running(contestant.command, dsn) as producer,
            psycopg.connect(dsn, autocommit=True) as conn,
        ):
            open_jobs = producer.ask("install")["open_jobs"]
            server.settle()
            one_by_one = producer.ask("push", calls=single, size=1)["seconds"]
            server.settle()
            size = min(_CALL, bulk)
            before = _wal(conn)
            at_once = producer.ask("push", calls=bulk // size, size=size)["seconds"]
            wal = _wal(conn) - before
            assert _count(conn, open_jobs) == single + bulk
    return Pushed(
        single_per_second=single / one_by_one, bulk_per_second=bulk / at_once, wal=wal / bulk
    )


def work(
    server: Server, contestant: Contestant, *, jobs: int, processes: int, singles: int
) -> Worked:
    """Idle workers get single jobs at intervals, then many jobs in one commit.

    The drain lasts from the return of that commit until no job is open. Each job must be run
    exactly once.
    """
    with server.database(contestant.database) as conninfo:
        dsn = url(conninfo)
        with ExitStack() as stack:
            producer = stack.enter_context(running(contestant.command, dsn))
            open_jobs = producer.ask("install")["open_jobs"]
            end = stack.enter_context(contestant.working(dsn, processes))
            conn = stack.enter_context(psycopg.connect(dsn, autocommit=True))
            pauses = [random.uniform(*_PAUSES) for _ in range(singles)]
            committed = producer.ask("trickle", pauses=pauses)["committed"]
            _wait(conn, open_jobs, singles)
            server.settle()
            fill = producer.ask("fill", first=singles, count=jobs, size=_CALL)
            wal = _wal(conn)
            _wait(conn, open_jobs, jobs)
            seconds = (time.monotonic_ns() - fill["committed"]) / 1e9
            wal = _wal(conn) - wal
            runs = end()
    _check(runs, singles + jobs)
    return Worked(
        per_second=jobs / seconds,
        wal=wal / jobs,
        pickups=_pickups(committed, runs),
        least_share=min(sum(n >= singles for n, _ in each) for each in runs) / jobs,
    )


def _wait(conn: psycopg.Connection[Any], open_jobs: str, count: int) -> None:
    """Wait until no job is open, polling less often while the end is far, to disturb less."""
    started = time.monotonic()
    while left := _count(conn, open_jobs):
        spent = time.monotonic() - started
        if spent > _LONGEST_DRAIN:
            raise Unavailable(f"had not done {left:,} of {count:,} jobs after {spent:.0f} s")
        still = spent * left / max(count - left, 1)
        time.sleep(min(max(still / 2, 0.004), 0.25))


def _count(conn: psycopg.Connection[Any], query: str) -> int:
    row = conn.execute(query.encode()).fetchone()
    assert row is not None
    return int(row[0])


def _wal(conn: psycopg.Connection[Any]) -> int:
    return _count(conn, "select pg_current_wal_lsn() - '0/0'::pg_lsn")


def _check(runs: Sequence[Runs], count: int) -> None:
    numbers = sorted(number for each in runs for number, _ in each)
    assert numbers == list(range(count)), "not every job was run exactly once"


def _pickups(committed: Sequence[int], runs: Sequence[Runs]) -> list[float]:
    """Pickup times; 0 if the handler began before the commit returned."""
    began = {number: when for each in runs for number, when in each}
    waits = [max(began[number] - when, 0) for number, when in enumerate(committed)]
    return sorted(nanoseconds / 1e6 for nanoseconds in waits)
