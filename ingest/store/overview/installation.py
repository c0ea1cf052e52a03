"""The database that an installation runs on."""

from dataclasses import dataclass

from psycopg.rows import class_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("overview/installation.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    version: str
    pgvector_version: str | None
    size_bytes: int | None
    """None: the role may not ask."""
    migration: int | None
    """The newest one that was applied."""


async def database(conn: Connection) -> Database:
    async with conn.cursor(row_factory=class_row(Database)) as cur:
        [row] = await (await cur.execute(_SQL["database"])).fetchall()
    return row
