"""Access to Postgres: named statements, the pool, transactions and what they may see."""

import random
import select
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from uuid import UUID

import psycopg
import structlog
from psycopg import AsyncConnection
from psycopg.rows import AsyncRowFactory
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from ingest.errors import IngestError, NoConnections
from ingest.postgres.queries import fill_in as fill_in  # every store imports both from here
from ingest.postgres.queries import load_queries as load_queries
from ingest.postgres.sessions import (
    PoolConnection,
    Prepare,
    SessionSetup,
    begin_transaction,
    needs_local_settings,
)

log = structlog.get_logger()

Connection = AsyncConnection[Any]

_PATIENCE_SECONDS: Final = 10.0
# SQLSTATE classes: connection, rollback (deadlock), resources, object in use, operator, system.
_UNAVAILABLE: Final = frozenset({"08", "40", "53", "55", "57", "58"})
# Of these: connection lost, or ended by an administrator or a server crash.
_CONNECTION_LOST: Final = frozenset({"08", "57"})
# `statement_timeout` or an administrator, `lock_timeout`, and the time limits of a transaction.
_TIMED_OUT: Final = (
    psycopg.errors.QueryCanceled,
    psycopg.errors.LockNotAvailable,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.TransactionTimeout,
)


def new_id() -> UUID:
    """A UUIDv7: ids created one after another are close together in an index."""
    stamp = time.time_ns() // 1_000_000
    # Ids are not secret, and random bytes from the kernel would nearly double the cost.
    high, low = divmod(random.getrandbits(74), 1 << 62)
    return UUID(int=stamp << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low)


_ROW_SECURITY: Final = load_queries("row_security.sql")
_OWN_ROLE: Final = _ROW_SECURITY["own_role"]
_SET_SCOPE: Final = _ROW_SECURITY["set_scope"]
_BEGIN_SCOPE: Final = _ROW_SECURITY["begin_scope"]

T = TypeVar("T")


async def _check(conn: Connection) -> None:
    """Raise if the server has dropped the connection.

    An idle connection only has input if it was closed, so we query only then: a query per checkout
    would be a quarter of all statements.
    """
    if _has_input(conn.fileno()):
        await AsyncConnectionPool.check_connection(conn)


def _has_input(descriptor: int) -> bool:
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(0))


@dataclass(frozen=True, slots=True)
class Connections:
    """The open connections of a process, not yet limited to an application or to all of them."""

    open: AsyncConnectionPool[Connection]
    role: str | None
    """The role of transactions, which may only read and write rows; with `_all` at its end, the one
    across applications. None: there is none."""
    limited_role: str | None = None
    """The role of keys that are limited to collections, which only reads. None: there is none."""


@asynccontextmanager
async def open_pool(
    dsn: str, *, size: int, application_name: str, prepare: Prepare | None = None
) -> AsyncIterator[Connections]:
    """Up to `size` connections with vector types; `prepare`: a SessionSetup that pools share.

    Raises NoConnections.
    """
    pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
        dsn,
        min_size=min(2, size),
        max_size=size,
        connection_class=PoolConnection,
        configure=prepare or SessionSetup(dsn),
        # Finds a dropped connection at checkout, not in the middle of a request.
        check=_check,
        # Transactions start with the statement of their Pool.
        kwargs={"application_name": application_name, "autocommit": True},
        open=False,
        timeout=_PATIENCE_SECONDS,
        # The pool retries with growing pauses for this long. Then the next request for a connection
        # starts over, so the pool recovers seconds after the database does.
        reconnect_timeout=_PATIENCE_SECONDS,
    )
    try:
        await pool.open(wait=True)
    except PoolTimeout:
        await pool.close()
        raise NoConnections from None
    try:
        yield Connections(pool, *await _own_roles(pool))
    finally:
        await pool.close()


async def _own_roles(pool: AsyncConnectionPool[Connection]) -> tuple[str | None, str | None]:
    async with pool.connection() as conn:
        [(role, is_exempt, has_limited)] = await (await conn.execute(_OWN_ROLE)).fetchall()
    if role is None and is_exempt:
        log.warning("row_security.not_enforced", hint="docs/postgres.md, Row-level security")
    if role is None:
        return None, None
    return str(role), f"{role}_collections" if has_limited else None


class LimitedRoleMissing(IngestError):
    """The database has no role that confines keys which are limited to collections."""

    code = "limited_keys_not_enforced"

    def __init__(self) -> None:
        super().__init__(
            "keys that are limited to collections need the roles of row-level security: "
            "docs/postgres.md, Row-level security"
        )


class Pool:
    """Transactions that see the rows of one application, or of all.

    Row-level security (docs/decisions.md) reads `app.application_id`. It is set with the role in
    the message that begins the transaction, and only for it: a pooler may give the next transaction
    another session.
    """

    def __init__(
        self,
        connections: Connections,
        scope: UUID | None,
        *,
        collection_ids: Sequence[UUID] | None = None,
    ) -> None:
        """`scope`: the application; None: all. Use `across_applications`, `of` and `limited_to`."""
        self.connections = connections
        self._scope = scope
        role = connections.role
        # Bytes, not psycopg.sql, which takes ten times as long: a request or job makes a Pool.
        steps = f"set local app.application_id = '{_visible(scope)}'"
        if collection_ids is not None:
            role = connections.limited_role
            if role is None:
                raise LimitedRoleMissing
            ids = ",".join(str(id) for id in collection_ids)
            steps = f"{steps}; set local app.collection_ids = '{{{ids}}}'"
        elif role is not None and scope is None:
            role += "_all"
        if role is not None:
            steps = f'set local role "{role}"; {steps}'
        self._steps = steps.encode()
        self._is_limited = collection_ids is not None
        self._scope_values = {"role": role, "scope": _visible(scope)}

    def of(self, application_id: UUID) -> "Pool":
        """Transactions that see the rows of this application only."""
        return Pool(self.connections, application_id)

    def limited_to(self, collection_ids: Sequence[UUID]) -> "Pool":
        """Transactions that only read, and see only the sources of these collections.

        Raises LimitedRoleMissing.
        """
        return Pool(self.connections, self._scope, collection_ids=collection_ids)

    @asynccontextmanager
    async def transaction(self, *, wait_seconds: float | None = None) -> AsyncIterator[Connection]:
        """`wait_seconds`: how long to wait for a connection; None: the usual time."""
        # At the end, the connection commits, or rolls back on errors.
        async with self.connections.open.connection(wait_seconds) as conn:
            await begin_transaction(conn, self._steps)
            yield conn

    async def run_alone(
        self,
        query: bytes,
        parameters: Mapping[str, Any],
        *,
        row_factory: AsyncRowFactory[T],
        options: bytes | None = None,
    ) -> list[T]:
        """Run one statement as a transaction of its own, and return its rows.

        In one round trip, which takes half the processor time of `transaction`. `options`: a
        statement that sets options of the transaction.
        """
        async with self.connections.open.connection() as conn:
            if self._is_limited or needs_local_settings(conn):  # which take several messages
                await begin_transaction(conn, self._steps)
                if options is not None:
                    await conn.execute(options)
                cursor = conn.cursor(row_factory=row_factory)
                return await (await cursor.execute(query, parameters)).fetchall()
            # What is sent together is one transaction; an error ends all of it.
            cursor = conn.cursor(row_factory=row_factory)
            async with conn.pipeline():
                await conn.execute(_BEGIN_SCOPE, self._scope_values, prepare=True)
                if options is not None:
                    await conn.execute(options, prepare=True)
                await cursor.execute(query, parameters)
            return await cursor.fetchall()

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Connection]:
        """A connection to keep, outside of transactions, with the rights of the login role.

        It sees no rows of applications, except in `begin`, unless the login role is exempt from
        row-level security.
        """
        async with self.connections.open.connection() as conn:
            yield conn

    @asynccontextmanager
    async def begin(self, conn: Connection) -> AsyncIterator[None]:
        """A transaction on the connection of a `session`."""
        await begin_transaction(conn, self._steps)
        try:
            yield
        except BaseException:
            with suppress(psycopg.Error):  # the connection may be lost
                await conn.rollback()
            raise
        await conn.commit()


def across_applications(connections: Connections) -> Pool:
    """Transactions that see the rows of all applications.

    For what serves all of them: claims, commits of jobs, scheduled work, the operator. `Pool.of`
    limits it to one application.
    """
    return Pool(connections, None)


def transaction(
    pool: Pool, *, wait_seconds: float | None = None
) -> AbstractAsyncContextManager[Connection]:
    """A connection in a transaction: commits at the end of the block, rolls back on errors."""
    return pool.transaction(wait_seconds=wait_seconds)


async def show(conn: Connection, application_id: UUID | None) -> None:
    """In a transaction across applications: show the rows of one, or those of all again (None)."""
    await conn.execute(_SET_SCOPE, [_visible(application_id)])


def _visible(scope: UUID | None) -> str:
    return "*" if scope is None else str(scope)


def is_timed_out(error: BaseException) -> bool:
    """Whether a time limit ended the statement or its transaction; the database is available."""
    return isinstance(error, _TIMED_OUT)


def is_database_unavailable(error: BaseException) -> bool:
    """Whether the database, not the statement, caused the error, so that a retry may succeed.

    Not every OperationalError does: psycopg also raises it for a row too large for an index.
    """
    if not isinstance(error, psycopg.OperationalError) or is_timed_out(error):
        return False
    return error.sqlstate is None or error.sqlstate[:2] in _UNAVAILABLE


def has_lost_connection(error: BaseException) -> bool:
    """Whether a connection broke during use; False if the pool could not provide one."""
    if not isinstance(error, psycopg.OperationalError) or is_timed_out(error):
        return False
    if isinstance(error, PoolTimeout):
        return False
    return error.sqlstate is None or error.sqlstate[:2] in _CONNECTION_LOST
