"""Migrations and the start-up check, each on a database of its own."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from harness.postgres import postgres_in
from ingest.errors import SetupError
from ingest.postgres import migrations
from ingest.postgres.migrations import Migration, load_migrations, migrate, pending_migrations
from ingest.postgres.server_check import check_server


def test_ten_processes_that_start_at_once_migrate_once(empty_database: str) -> None:
    with ThreadPoolExecutor(10) as pool:
        applied = list(pool.map(lambda _: migrate(empty_database), range(10)))

    assert sum(1 for done in applied if done) == 1
    assert pending_migrations(empty_database) == []
    with psycopg.connect(empty_database) as conn:
        names = conn.execute("select name from app.applications").fetchall()
    assert names == [("default",)]


def test_failed_migration_rolls_back_all(
    empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Migration(version=9999, name="broken", sql=b"create table rag.half (); select 1/0")
    monkeypatch.setattr(migrations, "load_migrations", lambda: [*load_migrations(), broken])

    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate(empty_database)

    with psycopg.connect(empty_database) as conn:
        row = conn.execute("select to_regclass('rag.half'), to_regclass('app.applications')")
        assert row.fetchone() == (None, None)


def test_a_migration_that_was_changed_after_it_was_applied_stops_the_start(
    empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(empty_database)
    [first, *rest] = load_migrations()
    changed = Migration(version=first.version, name=first.name, sql=first.sql + b"\n-- changed")
    monkeypatch.setattr(migrations, "load_migrations", lambda: [changed, *rest])

    with pytest.raises(SetupError, match="was changed"):
        migrate(empty_database)


def test_pending_migrations_are_those_not_applied(empty_database: str) -> None:
    before = pending_migrations(empty_database)
    migrate(empty_database)

    assert before == load_migrations()
    assert pending_migrations(empty_database) == []


def test_versions_are_dense_and_unique() -> None:
    versions = [migration.version for migration in load_migrations()]

    assert versions == list(range(1, len(versions) + 1))


def test_a_good_server_passes_the_check(server: str) -> None:
    check_server(server)


def test_a_server_out_of_reach_is_one_line_without_the_password() -> None:
    with pytest.raises(SetupError) as caught:
        check_server("postgresql://me:hunter2@127.0.0.1:1/none")

    assert str(caught.value).startswith("DATABASE_URL: cannot connect")
    assert "\n" not in str(caught.value)
    assert "hunter2" not in str(caught.value)


class _Server:
    """What `check_server` asks a server that is too old, or lacks the extension."""

    def __init__(self, version: int, pgvector: str | None) -> None:
        self.info = self
        self.server_version = version
        self._pgvector = pgvector

    def __enter__(self) -> "_Server":
        return self

    def __exit__(self, *_: Any) -> None: ...

    def execute(self, _: str) -> "_Server":
        return self

    def fetchone(self) -> tuple[str | None]:
        return (self._pgvector,)


@pytest.mark.parametrize(
    ("version", "pgvector", "message"),
    [
        (140010, "0.8.0", "Postgres 14 is too old; 15 or later"),
        (150001, None, "no pgvector extension"),
        (150001, "0.6.2", "pgvector 0.6.2 is too old; 0.7 or later"),
    ],
)
def test_missing_server_features_are_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, version: int, pgvector: str | None, message: str
) -> None:
    monkeypatch.setattr(psycopg, "connect", lambda *_, **__: _Server(version, pgvector))

    with pytest.raises(SetupError, match=message):
        check_server("host=old")


def test_a_database_whose_encoding_cannot_hold_all_texts_is_refused(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(
            "create database latin template template0 encoding 'LATIN1' "
            "locale_provider libc locale 'C'"
        )
        try:
            with pytest.raises(SetupError, match="encoding is LATIN1"):
                check_server(make_conninfo(server, dbname="latin"))
        finally:
            conn.execute("drop database latin with (force)")


def test_a_replica_is_refused(tmp_path: Path) -> None:
    replica = postgres_in(tmp_path)
    with replica:
        pass
    (tmp_path / "postgres/cluster/standby.signal").touch()
    with replica as dsn, pytest.raises(SetupError, match="a read-only replica"):
        check_server(dsn)
