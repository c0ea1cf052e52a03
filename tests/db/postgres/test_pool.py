"""Connections that are handed out."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import scalar_row
from psycopg_pool import AsyncConnectionPool
from pydantic import SecretStr

from harness.pools import pool_across_applications
from ingest.postgres.database import Connection, Pool, has_lost_connection
from ingest.runtime import database
from ingest.settings.settings import Settings
from tests.support.running_worker import until


async def test_a_connection_that_the_server_dropped_is_not_handed_out(
    dsn: str, conn: Connection
) -> None:
    async with pool_across_applications(dsn, size=1, application_name="dropped") as pool:
        async with pool.session() as ours:
            before = ours.info.backend_pid
        await conn.execute("select pg_terminate_backend(%s, 5000)", [before])

        async with pool.session() as ours:
            row = await (await ours.execute("select 1")).fetchone()
            assert (row, ours.info.backend_pid != before) == ((1,), True)


async def test_pooled_connection_is_used_without_a_check_query(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(_: Connection) -> None:
        raise AssertionError("asked the server")

    monkeypatch.setattr(AsyncConnectionPool, "check_connection", staticmethod(refuse))
    for _ in range(3):
        async with pool.session() as conn:
            await conn.execute("select 1")


async def test_a_statement_run_alone_commits_or_leaves_nothing(
    pool: Pool, application_id: UUID
) -> None:
    rename = b"update app.applications set name = %(name)s where id = %(id)s returning name"

    async def run(query: bytes, name: str) -> list[str]:
        values = {"name": name, "id": application_id}
        return await pool.run_alone(query, values, row_factory=scalar_row)

    for _ in range(10):  # more often than psycopg needs to prepare it
        assert await run(rename, "new") == ["new"]
        with pytest.raises(psycopg.errors.DivisionByZero):
            await run(rename + b", 1 / (name <> 'bad')::integer", "bad")

    assert await run(b"select name from app.applications where id = %(id)s", "") == ["new"]


@pytest.mark.parametrize("ends", ["cancelled", "terminated"])
async def test_a_statement_run_alone_that_is_broken_off_leaves_nothing(
    dsn: str, conn: Connection, application_id: UUID, ends: str
) -> None:
    rename = b"update app.applications set name = 'late' where id = %(id)s returning name"
    async with pool_across_applications(dsn, size=1, application_name="alone") as pool:
        async with pool.session() as ours:
            session = ours.info.backend_pid
        async with conn.transaction():
            await conn.execute("select from app.applications for update")
            values = {"id": application_id}
            blocked = asyncio.create_task(pool.run_alone(rename, values, row_factory=scalar_row))
            await until(lambda: _count(conn, b"pg_locks where not granted"))
            if ends == "cancelled":
                blocked.cancel()
            else:
                await conn.execute("select pg_terminate_backend(%s, 5000)", [session])
            with pytest.raises((asyncio.CancelledError, psycopg.OperationalError)) as broken:
                await blocked

        assert has_lost_connection(broken.value) == (ends == "terminated")
        name = b"select name from app.applications where id = %(id)s"
        assert await pool.run_alone(name, values, row_factory=scalar_row) != ["late"]


async def _count(conn: Connection, what: bytes) -> int:
    [(count,)] = await (await conn.execute(b"select count(*) from " + what)).fetchall()
    return int(count)


async def test_silently_lost_server_is_detected_soon(dsn: str, tmp_path: Path) -> None:
    given = make_conninfo(dsn, keepalives_idle=7)
    settings = Settings(database_url=SecretStr(given), data_dir=tmp_path)
    with database(settings, join=False) as ours:
        async with (
            pool_across_applications(ours, size=1, application_name="silence") as pool,
            pool.session() as conn,
        ):
            used = conn.info.get_parameters()

    # Within half a minute, where the system's defaults are hours; and what was given stays.
    assert (used["keepalives_idle"], used["tcp_user_timeout"]) == ("7", "30000")
    assert conninfo_to_dict(ours).items() >= conninfo_to_dict(given).items()


@pytest.fixture
def guest(dsn: str) -> Iterator[str]:
    """The DSN of a role with settings of its own."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("create role guest login superuser")
        conn.execute("alter role guest set datestyle = 'German'")
        conn.execute("alter role guest set timezone = 'Pacific/Kiritimati'")
        conn.execute("alter role guest set search_path = nowhere")
        conn.execute("alter role guest set default_transaction_isolation = serializable")
        conn.execute("alter role guest set statement_timeout = '5s'")
        conn.execute("alter role guest set lock_timeout = '5s'")
        yield make_conninfo(dsn, user="guest")
        conn.execute("drop role guest")


_SEEN = (
    "DateStyle",
    "TimeZone",
    "search_path",
    "default_transaction_isolation",
    "statement_timeout",
    "lock_timeout",
)


async def _settings(conn: Connection) -> list[str]:
    cursor = await conn.execute(
        "select current_setting(name) from unnest(%s::text[]) with ordinality as seen (name, n)"
        " order by n",
        [list(_SEEN)],
    )
    return [value for (value,) in await cursor.fetchall()]


async def test_a_session_does_not_depend_on_what_the_role_has_set(guest: str) -> None:
    async with (
        pool_across_applications(guest, size=1, application_name="guest") as pool,
        pool.session() as conn,
    ):
        seen = await _settings(conn)

    expected = ["ISO, MDY", "UTC", "public", "read committed", "0", "0"]
    assert seen == expected


async def test_timeouts_in_the_database_url_are_kept(guest: str) -> None:
    given = make_conninfo(guest, options="-c statement_timeout=7s -c datestyle=German")
    async with (
        pool_across_applications(given, size=1, application_name="guest") as pool,
        pool.session() as conn,
    ):
        seen = await _settings(conn)

    expected = ["ISO, MDY", "UTC", "public", "read committed", "7s", "0"]
    assert seen == expected
