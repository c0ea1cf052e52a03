"""A process that owns an embedded Postgres."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

# Starts as the owner (or joins), tells the DSN, and stays until its stdin ends.
OWNER = """
import sys
from pathlib import Path
from ingest.postgres.embedded.server import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1]))
print(server.start(join=len(sys.argv) > 2), server.owned, flush=True)
sys.stdin.read()
server.stop()
"""


@contextmanager
def owner_process(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Another process that owns the server of `folder`, and its DSN."""
    command = [sys.executable, "-c", OWNER, str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline().split()
        try:
            yield process, " ".join(line[:-1])
        finally:
            process.kill()


def postgres_processes(folder: Path) -> list[int]:
    """Postgres processes that work in the cluster of `folder`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            here = Path(os.readlink(process / "cwd"))
            if here.is_relative_to(folder.resolve()) and "postgres" in os.readlink(process / "exe"):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def execute(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(statement.encode())


def ask(dsn: str, question: str) -> object:
    with psycopg.connect(dsn, autocommit=True) as conn:
        row = conn.execute(question.encode()).fetchone()
    assert row is not None
    return row[0]
