"""Live workers. The heartbeat runs in a thread of its own, so what it needs is synchronous."""

import os
import socket
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("queue/workers.sql")

SyncConnection = psycopg.Connection[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """All workers together, by their heartbeats and the database's clock."""

    alive: int
    draining: int
    """Of those, the ones that are stopping."""
    running: int
    """Slots of live workers that are in use."""
    silent_seconds: float | None
    """Since the last one was alive; 0 while one is, None if none ever was."""
    is_here: bool
    """Whether this very process has a live one."""


def register(conn: SyncConnection, *, id: UUID, host: str, pid: int) -> None:
    """Announce a worker; before this its claims would be taken for those of a dead one."""
    conn.execute(_SQL["register"], {"id": id, "host": host, "pid": pid})


def renew(conn: SyncConnection, *, id: UUID, running: int, draining: bool) -> bool:
    """Say that the worker lives; False when its row is gone and it must register again."""
    done = conn.execute(_SQL["renew"], {"id": id, "running": running, "draining": draining})
    return done.rowcount == 1


def deregister(conn: SyncConnection, *, id: UUID) -> None:
    """Say goodbye after a graceful stop; anything it still held is stale at once."""
    conn.execute(_SQL["deregister"], {"id": id})


async def forget_silent(conn: Connection) -> int:
    """Remove rows of workers that have been silent for a day; how many."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["forget_silent"])
        return int(await cur.fetchone() or 0)


async def summary(conn: Connection, *, stale_after: timedelta) -> Workers:
    """How the workers are; one that was silent for `stale_after` is dead."""
    async with conn.cursor(row_factory=class_row(Workers)) as cur:
        await cur.execute(
            _SQL["summary"],
            {"stale_after": stale_after, "host": socket.gethostname(), "pid": os.getpid()},
        )
        [summary] = await cur.fetchall()
    return summary
