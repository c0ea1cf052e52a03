"""The planner's statistics of tables that grow quickly."""

from collections.abc import AsyncIterator
from typing import LiteralString
from uuid import UUID

import pytest

from ingest.postgres.database import Connection, Pool
from ingest.ticks.schedule import analyze_tables

_GROW: LiteralString = """
insert into rag.usage_changes (application_id) select %s from generate_series(1, %s)
"""


async def grow(conn: Connection, application_id: UUID, rows: int) -> None:
    await conn.execute(_GROW, [application_id, rows])
    await conn.execute("select pg_stat_force_next_flush()")


async def rows_known(conn: Connection) -> int:
    """As the planner knows, or -1."""
    cursor = await conn.execute(
        "select reltuples from pg_class where oid = 'rag.usage_changes'::regclass"
    )
    [(count,)] = await cursor.fetchall()
    return int(count)


@pytest.fixture
async def small(conn: Connection) -> AsyncIterator[int]:
    """Rows of a table that has been analyzed, and that autovacuum leaves alone."""
    await conn.execute("alter table rag.usage_changes set (autovacuum_enabled = false)")
    await conn.execute("analyze rag.usage_changes")
    yield await rows_known(conn)
    await conn.execute("alter table rag.usage_changes reset (autovacuum_enabled)")


async def test_a_table_that_has_grown_is_analyzed(
    conn: Connection, pool: Pool, application_id: UUID, small: int
) -> None:
    await grow(conn, application_id, small + 1000)
    assert await analyze_tables(pool) >= 1
    known = await rows_known(conn)
    await grow(conn, application_id, 300)  # less than it has
    await analyze_tables(pool)

    assert known >= 1000
    assert await rows_known(conn) == known


async def test_a_table_whose_indexes_are_changed_is_not_waited_for(
    conn: Connection, pool: Pool, application_id: UUID, small: int
) -> None:
    await grow(conn, application_id, small + 1000)
    async with pool.session() as other:
        await other.execute("begin")
        # As `create index concurrently` locks it.
        await other.execute("lock table rag.usage_changes in share update exclusive mode")
        await analyze_tables(pool)
        await other.execute("rollback")

    assert await rows_known(conn) == small
