"""Live workers. Functions for the heartbeat are synchronous: it runs in a separate thread."""

import os
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("queue/workers.sql")

SyncConnection = psycopg.Connection[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """Totals over all workers, by their heartbeats and the database's clock."""

    alive: int
    draining: int
    """Live workers that are stopping."""
    running: int
    """Slots in use on live workers."""
    silent_seconds: float | None
    """Time since a worker was last alive; 0 while one is, None if none ever was."""
    is_here: bool
    """Whether this process runs a live worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRow:
    id: UUID
    host: str
    pid: int
    started_at: datetime
    heartbeat_at: datetime
    running: int
    slots: int | None
    """Jobs that it runs at once; None: a worker of an earlier version."""
    is_draining: bool
    is_alive: bool
    silent_seconds: float


def register(conn: SyncConnection, *, id: UUID, host: str, pid: int, slots: int) -> None:
    """Register a worker; its jobs would be stale if it claimed before this."""
    conn.execute(_SQL["register"], {"id": id, "host": host, "pid": pid, "slots": slots})


def renew(conn: SyncConnection, *, id: UUID, running: int, draining: bool) -> bool:
    """Write a heartbeat; False if the worker's row is gone and it must register again."""
    done = conn.execute(_SQL["renew"], {"id": id, "running": running, "draining": draining})
    return done.rowcount == 1


def deregister(conn: SyncConnection, *, id: UUID) -> None:
    """Remove a worker after a graceful stop; any jobs it still holds become stale at once."""
    conn.execute(_SQL["deregister"], {"id": id})


async def forget(conn: Connection, id: UUID) -> None:
    """Remove a worker that has ended without a word; its jobs become stale at once."""
    await conn.execute(_SQL["deregister"], {"id": id})


async def forget_silent(conn: Connection) -> int:
    """Remove workers without a heartbeat for a day; returns how many."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["forget_silent"])
        return int(await cur.fetchone() or 0)


async def list_workers(
    conn: Connection,
    *,
    stale_after: timedelta,
    limit: int,
    before: tuple[datetime, UUID] | None = None,
) -> list[WorkerRow]:
    """Workers of the last day, newest first; `before`: start and id of the last one of the page."""
    before_time, before_id = before or (None, None)
    async with conn.cursor(row_factory=class_row(WorkerRow)) as cur:
        await cur.execute(
            _SQL["list"],
            {
                "stale_after": stale_after,
                "limit": limit,
                "before_time": before_time,
                "before_id": before_id,
            },
        )
        return await cur.fetchall()


async def summary(conn: Connection, *, stale_after: timedelta) -> Workers:
    """Totals over all workers; one without a heartbeat for `stale_after` is dead."""
    async with conn.cursor(row_factory=class_row(Workers)) as cur:
        await cur.execute(
            _SQL["summary"],
            {"stale_after": stale_after, "host": socket.gethostname(), "pid": os.getpid()},
        )
        [summary] = await cur.fetchall()
    return summary
