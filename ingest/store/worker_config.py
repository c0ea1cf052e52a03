"""Switches of the whole installation: the global pause."""

from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from ingest.db import Connection, load_queries
from ingest.store.jobs import wake

_SQL = load_queries("worker_config.sql")


async def is_paused(conn: Connection) -> bool:
    """Whether the workers claim nothing at all."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["get"], {"key": "paused"})
        return bool(await cur.fetchone())


async def set_paused(conn: Connection, paused: bool) -> None:
    await conn.execute(_SQL["put"], {"key": "paused", "value": Jsonb(paused)})
    await wake(conn)


async def applied_migrations(conn: Connection) -> set[int]:
    """Versions that the database has."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["applied_migrations"])
        return set(await cur.fetchall())
