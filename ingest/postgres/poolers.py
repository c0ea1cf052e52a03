"""Detects a pooler between us and Postgres, and what does not work through it.

In transaction mode (PgBouncer, Supavisor, PgCat …), each transaction may run in another session of
the server. Session settings then leak to other clients, LISTEN hears nothing, and prepared
statements are missing or belong to another client, unless the pooler keeps track of them.
"""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import psycopg
import structlog

from ingest.postgres.queries import load_queries

log = structlog.get_logger()

_SQL = load_queries("session.sql")
# A pooler without a free session makes statements wait for minutes.
_LIMIT_SECONDS: Final = 5
_ROUNDS: Final = 8

_Conn = psycopg.Connection[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooling:
    """What a connection to the database may rely on."""

    shares_sessions: bool
    """Each transaction may run in another session: a pooler in transaction mode."""
    keeps_prepared: bool
    is_certain: bool = True
    """False if it could not be tried out: then nothing is relied on."""


DIRECT: Final = Pooling(shares_sessions=False, keeps_prepared=True)
UNCERTAIN: Final = Pooling(shares_sessions=True, keeps_prepared=False, is_certain=False)


def is_relayed(conn: psycopg.BaseConnection[Any], server_pid: int) -> bool:
    """Whether a pooler is in between: it makes up the process id that clients get for cancelling.

    Poolers must, because the session of a client changes, and so does its process id.
    """
    return conn.info.backend_pid != server_pid


def pooling_of(conn: _Conn, dsn: str) -> Pooling:
    """How a new connection in autocommit mode reaches the server; without a pooler, one query."""
    return detect_pooling(dsn) if is_relayed(conn, _session(conn)[0]) else DIRECT


def detect_pooling(dsn: str) -> Pooling:
    """Try it out, with two connections at a time and for up to ten seconds. Blocks."""
    try:
        with _two_connections(dsn) as (one, other):
            if not _shares_sessions(one, other):
                return DIRECT
    except psycopg.Error as error:
        log.warning("pooler.not_tried_out", error=type(error).__name__)
        return UNCERTAIN
    keeps_prepared = False
    with suppress(psycopg.Error), _two_connections(dsn) as (one, other):
        keeps_prepared = _keeps_prepared(one, other)
    return Pooling(shares_sessions=True, keeps_prepared=keeps_prepared)


@contextmanager
def _two_connections(dsn: str) -> Iterator[tuple[_Conn, _Conn]]:
    """Both break off after the time limit."""
    with ExitStack() as stack:
        conns: list[_Conn] = []
        for _ in range(2):
            conn = psycopg.connect(
                dsn,
                autocommit=True,
                prepare_threshold=None,
                connect_timeout=_LIMIT_SECONDS,
                application_name="rag-ingest pooler check",
            )
            stack.callback(conn.close)
            conns.append(conn)
        sockets = [
            stack.enter_context(socket.socket(fileno=os.dup(conn.fileno()))) for conn in conns
        ]

        def break_off() -> None:
            for one in sockets:
                one.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(_LIMIT_SECONDS, break_off)
        timer.start()
        stack.callback(timer.join)
        stack.callback(timer.cancel)
        yield conns[0], conns[1]


def _session(conn: _Conn) -> tuple[int, Any]:
    row = conn.execute(_SQL["identity"]).fetchone()
    return (row[0], row[1]) if row else (0, None)


def _shares_sessions(one: _Conn, other: _Conn) -> bool:
    """Whether one connection's session is given to another one, or changes."""
    for _ in range(_ROUNDS):
        before = _session(one)
        with other.transaction():
            # Most poolers give it the session that was free last. If that is held, `one` moves.
            if _session(other) == before or _session(one) != before:
                return True
    return False


def _keeps_prepared(one: _Conn, other: _Conn) -> bool:
    """Whether prepared statements survive in sessions that are shared.

    The way psycopg uses them: with the same names on each connection, for different statements,
    and DEALLOCATE ALL after a rollback. PgBouncer needs 1.22 for that, and `Close` from libpq 17.
    """
    if not psycopg.capabilities.has_send_close_prepared():
        return False
    one.prepare_threshold = other.prepare_threshold = 0

    def agree(number: int) -> bool:
        ours = one.execute(b"select %s::integer, 'one'", [number]).fetchone()
        theirs = other.execute(b"select 'other', %s::integer", [number]).fetchone()
        return (ours, theirs) == ((number, "one"), ("other", number))

    for number in range(_ROUNDS):
        if not agree(number):
            return False
        with other.transaction():
            # It holds the session that it shared with `one`, which has to take another.
            if not agree(number):
                return False
            if number % 2:
                raise psycopg.Rollback
    return True
