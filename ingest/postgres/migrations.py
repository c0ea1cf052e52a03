"""Migrations: numbered SQL files, each applied once, in one transaction, under a lock."""

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import psycopg

from ingest.errors import SetupError
from ingest.postgres.queries import load_queries
from ingest.postgres.server_check import lacks_right
from ingest.postgres.sessions import begin_sync_transaction, fix_isolation

# Any number that no other program uses. A transaction-level lock, so it works through a pooler.
_LOCK = 7_245_110_381
_ROW_SECURITY = load_queries("row_security.sql")
_SCHEMAS = ("rag", "app")
# Removed from the first migration: Postgres refuses it, even if the schema exists, to a role that
# may not create schemas.
_CREATE_SCHEMA = b"create schema if not exists app;"


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
    Raises SetupError with the statement that a database administrator must run.
    """
    try:
        with psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as conn:
            fix_isolation(conn)
            with conn.transaction():
                begin_sync_transaction(conn)
                return _apply(conn)
    except psycopg.errors.InsufficientPrivilege as error:
        raise lacks_right(error) from None


def _apply(conn: psycopg.Connection) -> list[Migration]:
    conn.execute("select pg_advisory_xact_lock(%s)", [_LOCK])
    pending = _pending(conn)
    if pending:
        _ensure_extension(conn)
        _ensure_schemas(conn)
        conn.execute(
            "create table if not exists rag.schema_migrations (version integer primary key, "
            "name text not null, checksum text not null, "
            "applied_at timestamptz not null default now())"
        )
    for migration in pending:
        conn.execute(migration.sql.replace(_CREATE_SCHEMA, b""))
        conn.execute(
            "insert into rag.schema_migrations (version, name, checksum) values (%s, %s, %s)",
            [migration.version, migration.name, migration.checksum],
        )
    conn.execute(_ROW_SECURITY["grant_own_roles"])
    conn.execute(_ROW_SECURITY["protect"])
    return pending


def _pending(conn: psycopg.Connection) -> list[Migration]:
    applied: dict[int, str] = {}
    if _has_migrations(conn):
        applied = dict(conn.execute("select version, checksum from rag.schema_migrations"))
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
    return pending


def pending_migrations(dsn: str) -> list[Migration]:
    """The migrations that `migrate` would apply; for the readiness check and `ingest api`."""
    with psycopg.connect(dsn) as conn:
        if not _has_migrations(conn):
            return load_migrations()
        applied = {
            version for (version,) in conn.execute("select version from rag.schema_migrations")
        }
    return [migration for migration in load_migrations() if migration.version not in applied]


def _has_migrations(conn: psycopg.Connection) -> bool:
    row = conn.execute("select to_regclass('rag.schema_migrations') is not null").fetchone()
    return row == (True,)


def _ensure_extension(conn: psycopg.Connection) -> None:
    # Check first: a role that may not create extensions can still use an existing one.
    if conn.execute("select 1 from pg_extension where extname = 'vector'").fetchone():
        return
    try:
        conn.execute("create extension vector")
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidSchemaName):
        raise SetupError(
            "DATABASE_URL: this role may not create the pgvector extension; "
            "run `create extension vector` as a superuser once"
        ) from None


def _ensure_schemas(conn: psycopg.Connection) -> None:
    """Create the schemas that do not exist; those that do must let us create tables."""
    [(role, may_create, missing, foreign)] = conn.execute(
        "select current_user, has_database_privilege(current_database(), 'create'), "
        "array(select name from unnest(%(names)s::text[]) as name "
        "       where to_regnamespace(name) is null), "
        "array(select name from unnest(%(names)s::text[]) as name "
        "       where not has_schema_privilege(to_regnamespace(name), 'create'))",
        {"names": list(_SCHEMAS)},
    ).fetchall()
    owner = psycopg.sql.Identifier(role).as_string(conn)
    statements = [f"alter schema {name} owner to {owner}" for name in foreign]
    if not may_create:
        statements += [f"create schema {name} authorization {owner}" for name in missing]
    if statements:
        raise SetupError(
            "DATABASE_URL: this role may not create tables in its schemas; a database "
            f"administrator must run once: {'; '.join(statements)}"
        )
    for name in missing:
        conn.execute(psycopg.sql.SQL("create schema {}").format(psycopg.sql.Identifier(name)))
