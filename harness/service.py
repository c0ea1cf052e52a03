"""Real processes of the service, for acceptance tests and benchmarks: started, killed and asked."""

import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, LiteralString, cast

import httpx
import psycopg
from psycopg.conninfo import make_conninfo

from harness.patience import LONG_PATIENCE, PATIENCE
from harness.pgbouncer import Mode, PgBouncer
from harness.postgres import postgres_in
from ingest.postgres.migrations import migrate

KEY = "rk_operator_key_of_the_acceptance_tests"
INGEST = Path(sys.executable).parent / "ingest"

SHORT_LEASE = {"INGEST_HEARTBEAT": "0.5", "INGEST_STALE_AFTER": "4"}
"""For tests whose workers die. On a busy machine one that is well may be silent for seconds."""


_RESTRICTED = """
create role restricted login;
create database theirs template template0;
"""
_SCHEMAS = """
revoke all on schema public from public;
create schema extensions;
create extension vector schema extensions;
grant usage on schema extensions to restricted;
create schema rag authorization restricted;
create schema app authorization restricted;
"""


@cache
def migrated(*, is_restricted: bool = False) -> Path:
    """The data folder of a server that was stopped: to copy it takes a tenth of making it."""
    folder = Path(tempfile.mkdtemp(prefix="ingest-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with postgres_in(folder) as dsn:
        if is_restricted:
            add_restricted_database(dsn)
            dsn = restricted(dsn)
        migrate(dsn)
    return folder


def add_restricted_database(dsn: str) -> None:
    """Make the database that `restricted` names, as docs/postgres.md tells an administrator."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        for statement in _RESTRICTED.strip().split("\n"):
            conn.execute(statement.encode())
    with psycopg.connect(make_conninfo(dsn, dbname="theirs"), autocommit=True) as conn:
        conn.execute(_SCHEMAS.encode())


def restricted(dsn: str) -> str:
    """The DSN of a role that owns the service's schemas and has no other right."""
    return make_conninfo(dsn, dbname="theirs", user="restricted")


class Database:
    """A Postgres of its own, migrated, with the same DSN after each restart.

    `dsn` is a superuser's, for tests; `service_dsn` is for the service: of the superuser or, with
    `is_restricted` or INGEST_TEST_ROLE=restricted, of a role with as few rights as it needs.
    INGEST_TEST_POOLER=session or transaction puts a PgBouncer in between for the service.
    """

    def __init__(self, folder: Path, *, is_restricted: bool = False) -> None:
        is_restricted |= os.environ.get("INGEST_TEST_ROLE") == "restricted"
        shutil.copytree(migrated(is_restricted=is_restricted), folder, dirs_exist_ok=True)
        self._server = postgres_in(folder)
        self.dsn = self.service_dsn = self._server.start()
        if is_restricted:
            self.service_dsn = restricted(self.dsn)
            self.dsn = make_conninfo(self.dsn, dbname="theirs")
        self._pooler = self._start_pooler()
        if self._pooler is not None:
            self.service_dsn = self._pooler.dsn
        self._conn: psycopg.Connection[Any] | None = None

    def stop(self) -> None:
        if self._conn is not None:
            self._conn.close()
        self._server.stop()

    def close(self) -> None:
        """For good: the pooler too, which a restart of the server leaves as it is."""
        if self._pooler is not None:
            self._pooler.close()
        self.stop()

    def start(self) -> None:
        self._server.start()

    def _start_pooler(self) -> PgBouncer | None:
        mode = os.environ.get("INGEST_TEST_POOLER")
        if not mode:
            return None
        assert mode in ("session", "transaction"), mode
        pooler = PgBouncer(
            self.service_dsn, mode=cast(Mode, mode), size=90 if mode == "session" else 20
        )
        pooler.start()
        return pooler

    def rows(self, query: LiteralString, *values: Any) -> list[Any]:
        return self._connection().execute(query, values).fetchall()

    def execute(self, statement: LiteralString, *values: Any) -> None:
        self._connection().execute(statement, values)

    def now(self) -> datetime:
        [(time,)] = self.rows("select clock_timestamp()")
        assert isinstance(time, datetime)
        return time

    def count(self, query: LiteralString, *values: Any) -> int:
        """The one number that a query answers."""
        [(number,)] = self.rows(query, *values)
        assert isinstance(number, int)
        return number

    def default_application(self) -> str:
        [(id,)] = self.rows("select id::text from app.applications where is_default")
        return str(id)

    def _connection(self) -> psycopg.Connection[Any]:
        # One for all: tests ask often, and each new connection is a process of the server.
        if self._conn is None or self._conn.closed:
            self._conn = psycopg.connect(self.dsn, autocommit=True)
        return self._conn


class Service:
    """One process of the program under test, with an HTTP client when it serves."""

    def __init__(self, command: str, *, data: Path, env: Mapping[str, str]) -> None:
        self.command = command
        self.data = data
        self.port = _free_port()
        self.log = data / f"{command}-{self.port}.log"
        clean = clean_environment()
        self._env = {
            **clean,
            "INGEST_DATA_DIR": str(data),
            "INGEST_ADMIN_KEY": KEY,
            "INGEST_PORT": str(self.port),
            "INGEST_EMBEDDER": "static",
            **env,
        }
        self.process = self._start()
        self.http = httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {KEY}"},
            timeout=PATIENCE,
            # Shorter than the server keeps a connection: a request must not meet its end.
            limits=httpx.Limits(keepalive_expiry=2),
        )

    def _start(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [INGEST, self.command], env=self._env, stdout=log, stderr=log, cwd="/"
            )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def wait_until_ready(self, *, within: float = PATIENCE) -> "Service":
        def answers() -> bool:
            if self.process.poll() is not None:
                raise AssertionError(f"{self.command} ended: {self.log.read_text()[-3000:]}")
            with suppress(httpx.TransportError):
                return self.http.get("/readyz").status_code == 200
            return False

        until(answers, within=within)
        return self

    def kill(self) -> None:
        """As the kernel's memory killer does: no chance to say goodbye."""
        self.process.kill()
        self.process.wait()

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def restart(self) -> None:
        self.process = self._start()

    def end(self) -> None:
        """Gracefully if it can."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(20)
            self.process.kill()
        self.process.wait()
        self.http.close()

    # -- asking

    def get(self, path: str, **query: Any) -> Any:
        """The JSON of a response; like any client, it asks again after a 503."""

        def available() -> httpx.Response | None:
            answer = self.http.get(path, params=query)
            return None if answer.status_code == 503 else answer

        answer = until(available)
        answer.raise_for_status()
        return answer.json()

    def pages(self, path: str, **query: Any) -> Iterator[Any]:
        """All items of a list."""
        cursor: dict[str, str] = {}
        while True:
            page = self.get(path, limit=200, **query, **cursor)
            yield from page["items"]
            if page["nextCursor"] is None:
                return
            cursor = {"cursor": page["nextCursor"]}

    def upload(self, files: Iterable[tuple[str, bytes]]) -> Any:
        """All files in one request; its answer."""
        parts = [("files", (path, content)) for path, content in files]
        answer = self.http.post("/upload/documents", files=parts)
        assert answer.status_code == 202, answer.text[:2000]
        return answer.json()

    def search(self, query: str, **more: Any) -> list[Any]:
        answer = self.http.post("/api/search", json={"query": query, **more})
        answer.raise_for_status()
        hits: list[Any] = answer.json()["hits"]
        return hits

    def progress(self, id: str) -> Any:
        return self.get(f"/api/knowledge-source/{id}/progress")

    def source(self, id: str) -> Any:
        return self.get(f"/api/knowledge-sources/{id}")

    def wait_until_terminal(self, id: str, *, within: float = LONG_PATIENCE) -> Any:
        """Until a source or an application has nothing open; its progress, which must add up."""

        def settled() -> Any:
            now = self.progress(id)
            check_adds_up(now)
            return now if not now["pending"] and not now["processing"] and now["total"] else None

        # Not too often: to count thousands of sources is work that the service would rather do.
        return until(settled, within=within, every=0.25)


def clean_environment() -> dict[str, str]:
    """Ours without settings of the service; what was compiled once need not be again."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("INGEST_", "OPENAI_", "DATABASE_", "STORAGE_"))
        and name != "PYTHONDONTWRITEBYTECODE"
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def check_adds_up(progress: Any) -> None:
    parts = ("completed", "failed", "cancelled", "reviewNeeded", "processing", "pending")
    assert progress["total"] == sum(progress[part] for part in parts), progress


def until(condition: Callable[[], Any], *, within: float = PATIENCE, every: float = 0.05) -> Any:
    """Wait for `condition` to return something true, and return it."""
    deadline = time.monotonic() + within
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {within} s"
        time.sleep(every)
    return found


@contextmanager
def services(*, data: Path, env: Mapping[str, str]) -> Iterator[Callable[..., Service]]:
    """A starter of processes; whatever it started is ended with the block."""
    with ExitStack() as started:

        def start(command: str, **more: str) -> Service:
            service = Service(command, data=data, env={**env, **more})
            started.callback(service.end)
            return service

        yield start
