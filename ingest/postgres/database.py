"""How code meets Postgres: named statements, the pool, transactions, the start-up check."""

import random
import re
import select
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any, Final
from uuid import UUID

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from ingest.errors import SetupError

Connection = AsyncConnection[Any]
Pool = AsyncConnectionPool[Connection]

OLDEST_POSTGRES: Final = 150000
OLDEST_PGVECTOR: Final = (0, 7)

_PATIENCE_SECONDS: Final = 10.0
# Classes of SQLSTATE: connection, deadlock, resources, object in use, operators, system.
_OUT_OF_REACH: Final = frozenset({"08", "40", "53", "55", "57", "58"})
# Of those: connection, and what an administrator or a crash of the server has ended.
_CONNECTION_LOST: Final = frozenset({"08", "57"})
# By `statement_timeout` or an administrator, `lock_timeout`, and the limits of a transaction.
_TIMED_OUT: Final = (
    psycopg.errors.QueryCanceled,
    psycopg.errors.LockNotAvailable,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.TransactionTimeout,
)
# How libpq finds that out: what was sent, or a probe of an idle connection, is to be acknowledged
# within half a minute. Unix sockets need none of it.
_SILENCE: Final[Mapping[str, Any]] = {
    "keepalives_idle": "20",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}

_NAME = re.compile(rb"^-- name: (\w+)\s*$", re.MULTILINE)


def load_queries(file: str) -> Mapping[str, bytes]:
    """The statements of `ingest/store/<file>` by name; each starts with a line `-- name: x`.

    Bytes, because psycopg takes a constant query as bytes without a cast.
    """
    parts = _NAME.split(files("ingest.store").joinpath(file).read_bytes())
    return {
        name.decode(): body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def new_id() -> UUID:
    """A UUIDv7: ids made one after the other lie together in an index."""
    stamp = time.time_ns() // 1_000_000
    # Ids are no secrets, and asking the kernel for each would nearly double what they cost.
    high, low = divmod(random.getrandbits(74), 1 << 62)
    return UUID(int=stamp << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low)


_BEGIN_SESSION: Final = load_queries("session.sql")["begin"]


async def begin_session(conn: Connection) -> None:
    """Make a new connection independent of what the server, database or role has set."""
    await conn.execute(_BEGIN_SESSION)


def begin_sync_session(conn: psycopg.Connection[Any]) -> None:
    """The same; `conn` has to autocommit, or the first transaction begins before it holds."""
    conn.execute(_BEGIN_SESSION)


async def _configure(conn: Connection) -> None:
    await begin_session(conn)
    await register_vector_async(conn)
    await conn.commit()


async def _check(conn: Connection) -> None:
    """Raise when the server has dropped the connection.

    From one that nobody uses nothing comes, unless it was closed: to ask the server each time would
    be a quarter of all statements.
    """
    if _has_input(conn.fileno()):
        await AsyncConnectionPool.check_connection(conn)


def _has_input(descriptor: int) -> bool:
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(0))


@asynccontextmanager
async def open_pool(dsn: str, *, size: int, application_name: str) -> AsyncIterator[Pool]:
    """A pool of `size` connections that know the vector types. Needs a migrated database."""
    pool: Pool = AsyncConnectionPool(
        dsn,
        min_size=min(2, size),
        max_size=size,
        configure=_configure,
        # A connection that the server dropped is found here, not in the middle of a request.
        check=_check,
        # A single statement is its own transaction: no BEGIN and COMMIT around each read.
        kwargs={"application_name": application_name, "autocommit": True},
        open=False,
        timeout=_PATIENCE_SECONDS,
        # The pool waits longer and longer between its attempts, up to this; whoever needs a
        # connection afterwards begins anew. So it is back seconds after the database is.
        reconnect_timeout=_PATIENCE_SECONDS,
    )
    await pool.open(wait=True)
    try:
        yield pool
    finally:
        await pool.close()


@asynccontextmanager
async def transaction(pool: Pool) -> AsyncIterator[Connection]:
    """A connection in a transaction: committed at the end of the block, rolled back on an error."""
    async with pool.connection() as conn, conn.transaction():
        yield conn


def is_timed_out(error: BaseException) -> bool:
    """Whether a limit of time ended the statement or its transaction; the database is well."""
    return isinstance(error, _TIMED_OUT)


def is_out_of_reach(error: BaseException) -> bool:
    """Whether the database, not the statement, is the trouble: what was asked may be asked again.

    psycopg calls more than that an OperationalError, such as a row that is too large for an index.
    """
    if not isinstance(error, psycopg.OperationalError) or is_timed_out(error):
        return False
    return error.sqlstate is None or error.sqlstate[:2] in _OUT_OF_REACH


def noticing_silence(dsn: str) -> str:
    """The same, with time-outs for a server that is gone without a word; given ones stay.

    Without them a statement that was sent to a machine that is off, or through a firewall that has
    forgotten the connection, waits for a quarter of an hour, and an answer for hours.
    """
    silence: dict[str, Any] = {**_SILENCE, **conninfo_to_dict(dsn)}
    return make_conninfo(**silence)


def has_lost_connection(error: BaseException) -> bool:
    """Whether a connection broke off while it was used; False when none could be had."""
    if not isinstance(error, psycopg.OperationalError) or is_timed_out(error):
        return False
    if isinstance(error, PoolTimeout):
        return False
    return error.sqlstate is None or error.sqlstate[:2] in _CONNECTION_LOST


def check_server(dsn: str) -> None:
    """Prove at the start that the database is there and can do what we need.

    Raises SetupError with one line that says what to change.
    """
    try:
        with psycopg.connect(dsn, connect_timeout=10) as conn:
            lacking = _what_is_lacking(conn)
    except psycopg.Error as error:
        raise SetupError(f"DATABASE_URL: cannot connect to Postgres: {_one_line(error)}") from None
    if lacking is not None:
        raise SetupError(f"DATABASE_URL: {lacking}")


def _what_is_lacking(conn: psycopg.Connection[Any]) -> str | None:
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
    encoding = conn.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        return (
            f"the database's encoding is {encoding}, which cannot hold all texts; create it as UTF8"
        )
    if conn.info.parameter_status("in_hot_standby") == "on":
        return "the server is a replica and takes no writes; name the primary"
    return None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
