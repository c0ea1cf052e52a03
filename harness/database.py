"""A Postgres server of its own for acceptance tests, as an administrator may have made it."""

import atexit
import os
import shutil
import tempfile
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, LiteralString, cast

import psycopg
from psycopg.conninfo import make_conninfo

from harness.pgbouncer import Mode, PgBouncer
from harness.postgres import postgres_in
from ingest.postgres.migrations import migrate

_RESTRICTED = """
create role restricted login;
create database administered template template0;
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
    with psycopg.connect(make_conninfo(dsn, dbname="administered"), autocommit=True) as conn:
        conn.execute(_SCHEMAS.encode())


def restricted(dsn: str) -> str:
    """The DSN of a role that owns the service's schemas and has no other right."""
    return make_conninfo(dsn, dbname="administered", user="restricted")


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
            self.dsn = make_conninfo(self.dsn, dbname="administered")
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
