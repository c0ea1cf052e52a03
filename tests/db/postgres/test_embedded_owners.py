"""The embedded Postgres and its owners: killed, joined, started together."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from harness.patience import PATIENCE
from ingest.postgres.embedded.server import EmbeddedPostgres
from tests.db.postgres.embedded_owner import OWNER, ask, execute, owner_process, postgres_processes


def wait_until_gone(folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while postgres_processes(folder):
        assert time.monotonic() < deadline, "the orphan was not shut down"
        time.sleep(0.01)


def test_joining_process_uses_the_running_server_and_leaves_it_running(folder: Path) -> None:
    with owner_process(folder) as (_, dsn):
        execute(dsn, "create table shared as select 1 as n")
        joiner = EmbeddedPostgres(folder)
        joined = joiner.start(join=True)
        seen = ask(joined, "select n from shared")
        owned = joiner.owned
        joiner.stop()

        assert (seen, owned) == (1, False)
        assert ask(dsn, "select n from shared") == 1


def test_processes_that_start_together_share_one_server(new_folder: Path) -> None:
    command = [sys.executable, "-c", OWNER, str(new_folder), "join"]
    with ExitStack() as running:
        started = [
            running.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            for _ in range(3)
        ]  # they end with their stdin, which the stack closes
        lines = [process.stdout.readline().split() for process in started if process.stdout]

    assert len({" ".join(line[:-1]) for line in lines}) == 1
    assert sorted(line[-1] for line in lines) == ["False", "False", "True"]


def test_the_server_ends_with_an_owner_killed_by_sigkill_and_keeps_what_was_committed(
    folder: Path,
) -> None:
    with owner_process(folder) as (owner, dsn):
        execute(dsn, "create table committed as select generate_series(1, 1000)")
        owner.kill()
        owner.wait()
        wait_until_gone(folder)
    with EmbeddedPostgres(folder) as dsn:
        rows = ask(dsn, "select count(*) from committed")

    assert rows == 1000


def test_a_start_waits_for_the_orphan_of_a_killed_owner(folder: Path) -> None:
    """Stopped, the orphan cannot react to its owner's death before the new start meets it."""
    with owner_process(folder) as (owner, dsn):
        execute(dsn, "create table committed as select 1 as n")
        orphan = int((folder / "postgres/cluster/postmaster.pid").read_text().split()[0])
        os.kill(orphan, signal.SIGSTOP)
        owner.kill()
        owner.wait()
        wake = threading.Timer(0.3, os.kill, (orphan, signal.SIGCONT))
        wake.start()
        with EmbeddedPostgres(folder) as dsn:
            rows = ask(dsn, "select count(*) from committed")
        wake.join()

    assert rows == 1
