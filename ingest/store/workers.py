"""Live workers. The heartbeat runs in a thread of its own, so this module is synchronous."""

from typing import Any
from uuid import UUID

import psycopg

from ingest.db import Connection, load_queries

_SQL = load_queries("workers.sql")

SyncConnection = psycopg.Connection[Any]


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
    return (await conn.execute(_SQL["forget_silent"])).rowcount
