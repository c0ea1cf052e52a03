"""Connections that are handed out."""

import pytest
from psycopg_pool import AsyncConnectionPool

from ingest.db import Connection, Pool, open_pool


async def test_a_connection_that_the_server_dropped_is_not_handed_out(
    dsn: str, conn: Connection
) -> None:
    async with open_pool(dsn, size=1, application_name="dropped") as pool:
        async with pool.connection() as ours:
            before = ours.info.backend_pid
        await conn.execute("select pg_terminate_backend(%s, 5000)", [before])

        async with pool.connection() as ours:
            row = await (await ours.execute("select 1")).fetchone()
            assert (row, ours.info.backend_pid != before) == ((1,), True)


async def test_a_connection_that_is_there_is_handed_out_without_a_question(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(_: Connection) -> None:
        raise AssertionError("asked the server")

    monkeypatch.setattr(AsyncConnectionPool, "check_connection", staticmethod(refuse))
    for _ in range(3):
        async with pool.connection() as conn:
            await conn.execute("select 1")
