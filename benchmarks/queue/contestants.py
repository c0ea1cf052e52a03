"""The contestants: how to make each one push jobs, and how to start its workers."""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg

from benchmarks.queue import handlers
from benchmarks.queue.scripts import running
from harness.service import services, until

SLOTS: Final = 1_000
"""INGEST_WORKER_CONCURRENCY of a worker whose jobs do nothing."""
# A process may report that it is ready slightly before it listens.
_SETTLING_SECONDS: Final = 0.5

Runs = list[tuple[int, int]]
"""Job numbers with their start times, in nanoseconds of the monotonic clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    name: str
    command: Sequence[str | Path]
    jobs: int
    """Number of jobs to drain; fewer for slow contestants."""

    @property
    def database(self) -> str:
        return "".join(letter if letter.isalnum() else "_" for letter in self.name.lower())

    @contextmanager
    def working(self, dsn: str, processes: int) -> Iterator[Callable[[], list[Runs]]]:
        """Start idle workers; the yielded function ends them and returns each process's runs."""
        with ExitStack() as stack:
            scripts = [stack.enter_context(running(self.command, dsn)) for _ in range(processes)]
            for script in scripts:
                script.ask("work")
            time.sleep(_SETTLING_SECONDS)

            def runs() -> list[Runs]:
                return [script.end_input()["runs"] for script in scripts]

            yield runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours(Contestant):
    """Real processes of `ingest worker`."""

    @contextmanager
    def working(self, dsn: str, processes: int) -> Iterator[Callable[[], list[Runs]]]:
        with tempfile.TemporaryDirectory() as folder:
            env = {
                "DATABASE_URL": dsn,
                "INGEST_HANDLERS": handlers.MODULE,
                "INGEST_WORKER_CONCURRENCY": str(SLOTS),
                "INGEST_HEARTBEAT": "20",
                "INGEST_STALE_AFTER": "120",
                handlers.RUNS_FOLDER: folder,
            }
            with services(data=Path(folder), env=env) as start:
                workers = [start("worker") for _ in range(processes)]
                with psycopg.connect(dsn, autocommit=True) as conn:
                    until(lambda: _workers_in(conn) == processes, within=60)
                time.sleep(_SETTLING_SECONDS)

                def runs() -> list[Runs]:
                    for worker in workers:
                        worker.end()
                    files = [Path(folder, f"{worker.process.pid}.json") for worker in workers]
                    return [json.loads(file.read_bytes()) for file in files]

                yield runs


def _workers_in(conn: psycopg.Connection[tuple[int]]) -> int:
    row = conn.execute("select count(*) from rag.workers").fetchone()
    assert row is not None
    return row[0]


def module(name: str) -> list[str]:
    """The command that runs a script in this environment."""
    return [sys.executable, "-m", f"benchmarks.queue.{name}"]
