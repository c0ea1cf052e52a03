"""One Postgres server for all contestants; each gets its own database."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from benchmarks.core.processes import family_cpu_seconds, parent_of
from ingest.postgres.embedded.server import EmbeddedPostgres
from ingest.postgres.migrations import migrate


class Server:
    """The embedded Postgres with pgvector and its default settings (fsync is on)."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn

    @contextmanager
    def database(
        self, name: str, *, migrated: bool = False, template: str | None = None
    ) -> Iterator[str]:
        """The DSN of a new, empty database with pgvector, which is dropped afterwards.

        `template`: the DSN of a database to copy instead; nobody may be connected to it.
        """
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            conn.execute(
                sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))
            )
            conn.execute(
                sql.SQL("create database {} template {}").format(
                    sql.Identifier(name), sql.Identifier(template or "template1")
                )
            )
        dsn = make_conninfo(self.dsn, dbname=name)
        if migrated:
            migrate(dsn)
        else:
            with psycopg.connect(dsn) as conn:
                conn.execute("create extension if not exists vector")
        try:
            yield dsn
        finally:
            with psycopg.connect(self.dsn, autocommit=True) as conn:
                conn.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))

    def settle(self) -> None:
        """Flush what the previous contestant left, so that the next one does not pay for it."""
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            conn.execute("checkpoint")

    def cpu_seconds(self) -> float:
        """Processor time of all server processes so far."""
        return family_cpu_seconds(server_process(self.dsn))

    def version(self) -> str:
        with psycopg.connect(self.dsn) as conn:
            row = conn.execute(
                "select current_setting('server_version'), (select default_version from "
                "pg_available_extensions where name = 'vector')"
            ).fetchone()
        assert row is not None
        return f"PostgreSQL {row[0]}, pgvector {row[1]}"


def server_process(dsn: str) -> int:
    """The parent process of all processes of a local Postgres."""
    with psycopg.connect(dsn) as conn:
        return parent_of(conn.info.backend_pid)


def url(dsn: str, *, scheme: str = "postgresql") -> str:
    """A DSN as a URL for SQLAlchemy and asyncpg; the socket folder becomes `host`."""
    parts: dict[str, Any] = conninfo_to_dict(dsn)
    user, database = quote(str(parts.get("user", "postgres"))), quote(str(parts["dbname"]))
    host, port = quote(str(parts["host"]), safe=""), parts.get("port")
    return f"{scheme}://{user}@/{database}?host={host}" + (f"&port={port}" if port else "")


@contextmanager
def postgres() -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder, EmbeddedPostgres(Path(folder)) as dsn:
        yield Server(dsn)


def drop_slow_indexes(conn: psycopg.Connection[Any]) -> list[bytes]:
    """Drop slow indexes; returns the statements that recreate them.

    Building an index at the end, in memory, takes a tenth of the time.
    """
    rows = conn.execute(
        "select indexrelid::regclass::text, pg_get_indexdef(indexrelid) from pg_index "
        "join pg_class on pg_class.oid = indexrelid join pg_am on pg_am.oid = relam "
        "where amname in ('hnsw', 'gin') and relkind = 'i'"
    ).fetchall()
    for name, _ in rows:
        conn.execute(sql.SQL("drop index {}").format(sql.Identifier(*name.split("."))))
    return [definition.encode() for _, definition in rows]
