"""The statistics by which Postgres chooses plans, while tables grow quickly.

Autovacuum makes them, but looks once a minute. Until then a first bulk load is planned for tables
without rows: each search reads all chunks, each write all rows of its application.
"""

from typing import Final, NamedTuple

from psycopg import sql
from psycopg.rows import class_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("maintenance/table_statistics.sql")

# Fewer rows are read quickly by any plan.
_LEAST: Final = 200


class Table(NamedTuple):
    schema: str
    table: str


async def outdated(conn: Connection) -> list[Table]:
    """Our tables of which most rows are newer than their statistics."""
    async with conn.cursor(row_factory=class_row(Table)) as cur:
        await cur.execute(_SQL["outdated"], {"least": _LEAST})
        return await cur.fetchall()


async def analyze(conn: Connection, table: Table) -> None:
    """Make the statistics of a table, outside of a transaction. Needs its owner's rights."""
    statement = sql.SQL(_SQL["analyze"].decode()).format(table=sql.Identifier(*table))
    await conn.execute(statement, prepare=False)
