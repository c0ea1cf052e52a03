"""Settings of sessions: set once, or in each transaction if a pooler shares the session."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, cast

import psycopg
import structlog
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, AsyncCursor, AsyncTransaction, IsolationLevel, sql
from psycopg.pq import TransactionStatus
from psycopg.rows import Row

from ingest.postgres.poolers import DIRECT, Pooling, detect_pooling, is_relayed
from ingest.postgres.queries import load_queries

log = structlog.get_logger()

Prepare = Callable[[AsyncConnection[Any]], Awaitable[None]]
"""Makes a new connection ready for use."""

_SQL = load_queries("session.sql")
# Later connections may reach the server in another way than the first ones.
_DETECT_AGAIN_SECONDS: Final = 60.0


async def begin_session(conn: AsyncConnection[Any]) -> None:
    """Override settings of server, database and role on a new connection of our own session."""
    await conn.execute(_SQL["begin"], {"apply": True, "local": False})


def begin_sync_session(conn: psycopg.Connection[Any]) -> None:
    """Like `begin_session`, for a synchronous connection.

    `conn` must be in autocommit mode, or the first transaction starts before the settings apply."""
    conn.execute(_SQL["begin"], {"apply": True, "local": False})


def fix_isolation(conn: psycopg.Connection[Any]) -> None:
    """Begin transactions as read committed, read-write, whatever the role's default is."""
    conn.isolation_level = IsolationLevel.READ_COMMITTED
    conn.read_only = False


def begin_sync_transaction(conn: psycopg.Connection[Any]) -> None:
    """Like `begin_session`, for the current transaction; it leaves nothing behind in a pooler.

    `fix_isolation` before the transaction does what cannot be done within."""
    conn.execute(_SQL["begin"], {"apply": True, "local": True})


class PoolConnection(AsyncConnection[Row]):
    """Sets `local_settings` at the start of each transaction."""

    local_settings: bytes | None = None
    shares_session = False

    @asynccontextmanager
    async def transaction(
        self, savepoint_name: str | None = None, force_rollback: bool = False
    ) -> AsyncIterator[AsyncTransaction]:
        is_outermost = self.info.transaction_status == TransactionStatus.IDLE
        async with super().transaction(savepoint_name, force_rollback) as opened:
            if self.local_settings is not None and is_outermost:
                await self.execute(self.local_settings)
            yield opened


async def begin_transaction(conn: AsyncConnection[Any], steps: bytes) -> None:
    """Begin a transaction with these statements, in one message."""
    local = conn.local_settings if isinstance(conn, PoolConnection) else None
    begin = (b"begin", steps) if local is None else (b"begin", local, steps)
    # Not the cursor of the connection, which may begin a transaction itself.
    await AsyncCursor(conn).execute(b"; ".join(begin), prepare=False)


def needs_local_settings(conn: AsyncConnection[Any]) -> bool:
    """Whether each transaction on this connection has to begin with `begin_transaction`."""
    return isinstance(conn, PoolConnection) and conn.local_settings is not None


def shares_session(conn: AsyncConnection[Any]) -> bool:
    """Whether each transaction may run in another session: behind a pooler, or not known."""
    return not isinstance(conn, PoolConnection) or conn.shares_session


class _LocalCursor(AsyncCursor[Row]):
    """Runs single statements in a transaction, so that `local_settings` apply."""

    async def execute(self, *args: Any, **kwargs: Any) -> Any:
        if self.connection.info.transaction_status != TransactionStatus.IDLE:
            return await super().execute(*args, **kwargs)
        async with self.connection.transaction():
            return await super().execute(*args, **kwargs)


class SessionSetup:
    """Prepares new connections of a process's pools, in the way that suits a pooler in between."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._lock = asyncio.Lock()
        self._pooling = DIRECT
        self._detected_at = float("-inf")
        self._local_names: list[str] = []

    async def __call__(self, conn: AsyncConnection[Any]) -> None:
        pooling = await self._pooling_of(conn)
        if pooling.shares_sessions:
            names = await _share_session(cast(PoolConnection[Any], conn), pooling)
            if names != self._local_names:
                log.info("pooler.local_settings", names=names)
                self._local_names = names
        else:
            await begin_session(conn)
        await register_vector_async(conn)
        # A pooler may hand us notifications of a LISTEN by others; psycopg would collect them.
        conn.add_notify_handler(lambda _: None)
        await conn.commit()

    async def _pooling_of(self, conn: AsyncConnection[Any]) -> Pooling:
        row = await (await conn.execute(_SQL["identity"])).fetchone()
        if row is None or not is_relayed(conn, row[0]):
            return DIRECT
        async with self._lock:
            if time.monotonic() - self._detected_at > _DETECT_AGAIN_SECONDS:
                found = await asyncio.to_thread(detect_pooling, self._dsn)
                if found.shares_sessions and found.is_certain and found != self._pooling:
                    log.warning("pooler.transaction_mode", prepared_statements=found.keeps_prepared)
                self._pooling = found
                self._detected_at = time.monotonic()
            return self._pooling


async def _share_session(conn: PoolConnection[Any], pooling: Pooling) -> list[str]:
    """Prepare a connection without a session of its own; returns what each transaction sets."""
    conn.shares_session = True
    if not pooling.keeps_prepared:
        conn.prepare_threshold = None
    cursor = await conn.execute(_SQL["begin"], {"apply": False, "local": False})
    wanted = [
        (name, value) for name, value, is_default, _ in await cursor.fetchall() if not is_default
    ]
    if wanted:
        conn.local_settings = _set_local(wanted).as_bytes(conn)
        conn.cursor_factory = _LocalCursor
    return [name for name, _ in wanted]


def _set_local(settings: Sequence[tuple[str, str]]) -> sql.Composed:
    """One message; the defaults of transactions are too late for the one that has begun."""
    isolation = sql.SQL("set transaction isolation level read committed, read write")
    each = [
        sql.SQL("set_config({}, {}, true)").format(sql.Literal(name), sql.Literal(value))
        for name, value in settings
    ]
    return sql.SQL("{}; select {}").format(isolation, sql.SQL(", ").join(each))
