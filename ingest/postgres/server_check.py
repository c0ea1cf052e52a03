"""The check at start: whether the server meets our requirements."""

from typing import Any, Final

import psycopg

from ingest.errors import SetupError

OLDEST_POSTGRES: Final = 150000
OLDEST_PGVECTOR: Final = (0, 7)


def check_server(dsn: str) -> None:
    """Check at start that the database is reachable and meets our requirements.

    Raises SetupError with one line that says what to change.
    """
    try:
        with psycopg.connect(dsn, connect_timeout=10) as conn:
            lacking = _missing_requirement(conn)
    except psycopg.Error as error:
        raise SetupError(f"DATABASE_URL: cannot connect to Postgres: {_one_line(error)}") from None
    if lacking is not None:
        raise SetupError(f"DATABASE_URL: {lacking}")


def _missing_requirement(conn: psycopg.Connection[Any]) -> str | None:
    version = conn.info.server_version
    if version < OLDEST_POSTGRES:
        return f"Postgres {version // 10000} is too old; 15 or later is needed"
    row = conn.execute(
        "select coalesce((select extversion from pg_extension where extname = 'vector'), "
        "(select default_version from pg_available_extensions where name = 'vector'))"
    ).fetchone()
    found = row[0] if row else None
    if found is None:
        return "the server has no pgvector extension; install pgvector"
    if tuple(int(part) for part in found.split(".")[:2]) < OLDEST_PGVECTOR:
        return f"pgvector {found} is too old; 0.7 or later is needed"
    # Asked, because poolers do not report it.
    row = conn.execute("select current_setting('server_encoding'), pg_is_in_recovery()").fetchone()
    encoding, is_replica = row or ("unknown", False)
    if encoding != "UTF8":
        return (
            f"the database's encoding is {encoding}, which cannot hold all texts; create it as UTF8"
        )
    if is_replica:
        return "the server is a read-only replica; use the primary"
    return _hidden_extension(conn)


def _hidden_extension(conn: psycopg.Connection[Any]) -> str | None:
    row = conn.execute(
        "select format('%I to %I', nspname, current_user) from pg_extension "
        "join pg_namespace as namespace on namespace.oid = extnamespace "
        "where extname = 'vector' and not has_schema_privilege(namespace.oid, 'usage')"
    ).fetchone()
    return None if row is None else f"run `grant usage on schema {row[0]}`, where pgvector is"


def lacks_right(error: psycopg.errors.InsufficientPrivilege) -> SetupError:
    """The error for a role that may not do what the service does."""
    return SetupError(
        f"DATABASE_URL: the role lacks a right: {error.diag.message_primary}; "
        "docs/postgres.md has the statements for a database administrator"
    )


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
