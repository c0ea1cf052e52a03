"""Processor time that was spent on each application's files. A day starts at midnight UTC."""

from collections.abc import Mapping
from uuid import UUID

from psycopg.rows import scalar_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("limits/cpu_usage.sql")


async def charge(conn: Connection, seconds: Mapping[UUID, float]) -> None:
    """Add CPU seconds to today's of each application."""
    await conn.execute(_SQL["charge"], {"ids": list(seconds), "seconds": list(seconds.values())})


async def today(conn: Connection, application_id: UUID) -> float:
    """CPU seconds of parsers and of a local embedder, charged in the last ten seconds or before."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["today"], {"application_id": application_id})
        seconds: float | None = await cur.fetchone()
    return seconds or 0.0
