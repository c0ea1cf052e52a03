"""Migrations: numbered SQL files, each applied once, in one transaction, under a lock."""

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import psycopg

from ingest.errors import SetupError
from ingest.postgres.queries import load_queries
from ingest.postgres.sessions import begin_sync_transaction, fix_isolation

# Any number that no other program uses. A transaction-level lock, so it works through a pooler.
_LOCK = 7_245_110_381
_ROW_SECURITY = load_queries("row_security.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    version: int
    name: str
    sql: bytes

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql).hexdigest()


def load_migrations() -> list[Migration]:
    """Load all migrations of this version of the code, in order."""
    packaged = Path(str(files("ingest"))) / "_migrations"
    folder = packaged if packaged.is_dir() else Path(__file__).parents[2] / "migrations"
    return [
        Migration(version=int(path.name[:4]), name=path.stem[5:], sql=path.read_bytes())
        for path in sorted(folder.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    ]


def migrate(dsn: str) -> list[Migration]:
    """Apply all pending migrations and return them.

    Safe to call from many processes at once: one applies, the rest wait and find nothing pending.
    """
    with psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as conn:
        fix_isolation(conn)
        with conn.transaction():
            begin_sync_transaction(conn)
            return _apply(conn)


def _apply(conn: psycopg.Connection) -> list[Migration]:
    conn.execute("select pg_advisory_xact_lock(%s)", [_LOCK])
    _ensure_extension(conn)
    conn.execute("create schema if not exists rag")
    conn.execute(
        "create table if not exists rag.schema_migrations (version integer primary key, "
        "name text not null, checksum text not null, "
        "applied_at timestamptz not null default now())"
    )
    rows = conn.execute("select version, checksum from rag.schema_migrations").fetchall()
    applied: dict[int, str] = dict(rows)
    pending = []
    for migration in load_migrations():
        known = applied.get(migration.version)
        if known is None:
            pending.append(migration)
        elif known != migration.checksum:
            raise SetupError(
                f"migration {migration.version:04d}_{migration.name} was changed after it was "
                "applied to this database; restore the file and add a new migration"
            )
    for migration in pending:
        conn.execute(migration.sql)
        conn.execute(
            "insert into rag.schema_migrations (version, name, checksum) values (%s, %s, %s)",
            [migration.version, migration.name, migration.checksum],
        )
    conn.execute(_ROW_SECURITY["protect"])
    conn.execute(_ROW_SECURITY["grant_own_role"])
    return pending


def pending_migrations(dsn: str) -> list[Migration]:
    """The migrations that `migrate` would apply; for the readiness check and `ingest api`."""
    with psycopg.connect(dsn) as conn:
        row = conn.execute("select to_regclass('rag.schema_migrations')").fetchone()
        if row is None or row[0] is None:
            return load_migrations()
        applied = {
            version for (version,) in conn.execute("select version from rag.schema_migrations")
        }
    return [migration for migration in load_migrations() if migration.version not in applied]


def _ensure_extension(conn: psycopg.Connection) -> None:
    # Check first: a role that may not create extensions can still use an existing one.
    if conn.execute("select 1 from pg_extension where extname = 'vector'").fetchone():
        return
    try:
        conn.execute("create extension vector")
    except psycopg.errors.InsufficientPrivilege:
        raise SetupError(
            "DATABASE_URL: this role may not create the pgvector extension; "
            "run `create extension vector` as a superuser once"
        ) from None
