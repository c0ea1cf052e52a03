"""Through PgBouncer: what works is used, what does not work is done without."""

import asyncio
import re
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import scalar_row
from structlog.testing import capture_logs

from harness.patience import PATIENCE
from harness.pgbouncer import PROGRAM, PgBouncer
from ingest.postgres import poolers
from ingest.postgres.database import (
    Connection,
    Pool,
    across_applications,
    open_pool,
    transaction,
)
from ingest.postgres.listen import Listener
from ingest.postgres.migrations import load_migrations, migrate, pending_migrations
from ingest.postgres.poolers import DIRECT, UNCERTAIN, Pooling, detect_pooling, pooling_of
from ingest.worker.heartbeat import Heartbeat
from tests.support.running_worker import truth_of, until

needs_pgbouncer = pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not installed")

_LEAKABLE = ("statement_timeout", "enable_seqscan", "plan_cache_mode", "search_path", "TimeZone")


@pytest.fixture
def transaction_mode(dsn: str) -> Iterator[str]:
    # Two sessions: whatever is left behind in one is found by the next client.
    with PgBouncer(dsn, mode="transaction", size=2) as pooler:
        yield pooler


@pytest.fixture
async def shared_pool(transaction_mode: str) -> AsyncIterator[Pool]:
    async with open_pool(transaction_mode, size=6, application_name="shared") as connections:
        yield across_applications(connections)


def _tracks_prepared() -> bool:
    assert PROGRAM is not None
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"(\d+)\.(\d+)", version.stdout)
    assert found is not None
    return (int(found[1]), int(found[2])) >= (1, 24)  # on by default since then


def _left_behind(dsn: str) -> list[dict[str, str]]:
    """The settings that other clients of the pooler get, from both of its sessions."""
    with (
        psycopg.connect(dsn, prepare_threshold=None) as one,
        psycopg.connect(dsn, prepare_threshold=None) as other,
    ):
        query = "select name, setting from pg_settings where name = any(%s)"
        return [dict(conn.execute(query, [list(_LEAKABLE)]).fetchall()) for conn in (one, other)]


def test_direct_connection_is_never_taken_for_a_shared_one(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        found = pooling_of(conn, "host=/nowhere")  # not asked: one look at the process id suffices

    assert (found, detect_pooling(dsn)) == (DIRECT, DIRECT)


def test_if_nothing_can_be_tried_out_nothing_is_relied_on() -> None:
    assert detect_pooling("host=127.0.0.1 port=1") == UNCERTAIN


@needs_pgbouncer
def test_session_mode_is_like_a_direct_connection(dsn: str) -> None:
    with PgBouncer(dsn, mode="session") as pooler:
        assert detect_pooling(pooler) == DIRECT


@needs_pgbouncer
@pytest.mark.parametrize("settings", [{}, {"server_round_robin": "1"}])
def test_transaction_mode_is_found_out(dsn: str, settings: dict[str, str]) -> None:
    with PgBouncer(dsn, mode="transaction", size=3, **settings) as pooler:
        found = detect_pooling(pooler)

    assert found == Pooling(shares_sessions=True, keeps_prepared=_tracks_prepared())


@needs_pgbouncer
def test_one_session_is_found_to_be_shared_and_its_statements_are_not_relied_on(dsn: str) -> None:
    with PgBouncer(dsn, mode="transaction", size=1) as pooler:
        assert detect_pooling(pooler) == Pooling(shares_sessions=True, keeps_prepared=False)


@needs_pgbouncer
def test_pooler_without_a_free_session_leaves_it_uncertain(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poolers, "_LIMIT_SECONDS", 1)
    with PgBouncer(dsn, mode="session", size=1) as pooler, psycopg.connect(pooler) as holder:
        holder.execute("select 1")
        assert detect_pooling(pooler) == UNCERTAIN


@needs_pgbouncer
async def test_statements_of_many_connections_are_not_mixed_up(shared_pool: Pool) -> None:
    async def ask(number: int) -> None:
        async with transaction(shared_pool) as conn:
            one = await (await conn.execute("select %s::integer", [number])).fetchone()
            other = await (await conn.execute("select %s::text, 1", [str(number)])).fetchone()
        assert (one, other) == ((number,), (str(number), 1))

    for first in range(0, 120, 12):  # psycopg prepares what it has executed five times
        await asyncio.gather(*[ask(first + number) for number in range(12)])


@needs_pgbouncer
async def test_statements_run_alone_have_their_scope_and_leave_none_behind(
    shared_pool: Pool,
) -> None:
    seen = b"select coalesce(current_setting('app.application_id', true), '')"
    owners = [uuid4() for _ in range(20)]

    found = await asyncio.gather(
        *(shared_pool.of(owner).run_alone(seen, {}, row_factory=scalar_row) for owner in owners)
    )

    assert found == [[str(owner)] for owner in owners]
    async with shared_pool.session() as conn:
        assert await (await conn.execute(seen)).fetchall() == [("",)]


@needs_pgbouncer
async def test_shared_sessions_are_warned_of_once_and_left_as_they_were(
    transaction_mode: str, dsn: str
) -> None:
    before = _left_behind(transaction_mode)
    with capture_logs() as logs:
        async with open_pool(transaction_mode, size=4, application_name="shared") as pool:
            conns = [await pool.open.getconn() for _ in range(4)]
            for conn in conns:
                await pool.open.putconn(conn)

    assert _left_behind(transaction_mode) == before
    assert [line["event"] for line in logs if line["log_level"] == "warning"] == [
        "pooler.transaction_mode"
    ]


@needs_pgbouncer
async def test_settings_of_the_role_are_overridden_in_each_transaction(
    dsn: str, transaction_mode: str
) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("create role guest login superuser")
        for name, value in {
            "timezone": "Pacific/Kiritimati",
            "datestyle": "German",
            "search_path": "nowhere",
            "default_transaction_isolation": "serializable",
            "default_transaction_read_only": "on",
            "statement_timeout": "5s",
        }.items():
            set_it = psycopg.sql.SQL("alter role guest set {} = {}")
            conn.execute(set_it.format(psycopg.sql.Identifier(name), psycopg.sql.Literal(value)))
    guest = make_conninfo(transaction_mode, user="guest")
    try:
        async with open_pool(guest, size=2, application_name="guest") as pool:
            async with pool.open.connection() as single:
                alone = await _seen(single)
            async with transaction(across_applications(pool)) as inside:
                within = await _seen(inside)
        left = _left_behind(guest)
    finally:
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute(
                "select pg_terminate_backend(pid, 5000) from pg_stat_activity "
                "where usename = 'guest'"
            )
            conn.execute("drop role guest")

    assert alone == within == ("UTC", "public", "read committed", "off", "0")
    assert [row["search_path"] for row in left] == ["nowhere", "nowhere"]
    assert [row["statement_timeout"] for row in left] == ["5000", "5000"]


async def _seen(conn: Connection) -> tuple[Any, ...]:
    cursor = await conn.execute(
        "select current_setting('TimeZone'), current_setting('search_path'), "
        "current_setting('transaction_isolation'), current_setting('transaction_read_only'), "
        "current_setting('statement_timeout')"
    )
    row = await cursor.fetchone()
    assert row is not None
    return tuple(row)


@needs_pgbouncer
def test_two_starters_migrate_through_a_pooler_once(
    empty_database: str, transaction_mode: str
) -> None:
    theirs = make_conninfo(transaction_mode, dbname=conninfo_to_dict(empty_database)["dbname"])
    with ThreadPoolExecutor(2) as starters:
        applied = list(starters.map(migrate, [theirs, theirs]))

    assert sorted(len(found) for found in applied) == [0, len(load_migrations())]
    assert pending_migrations(theirs) == []


@needs_pgbouncer
def test_heartbeat_renews_through_a_pooler_and_leaves_its_time_limit_to_nobody(
    dsn: str, transaction_mode: str
) -> None:
    before = _left_behind(transaction_mode)
    beats = threading.Event()

    def answer(callback: Callable[[], None]) -> None:
        callback()
        beats.set()

    heartbeat = Heartbeat(
        transaction_mode,
        worker_id=uuid4(),
        every=timedelta(seconds=1),
        stale_after=timedelta(minutes=1),
        slots=4,
        running=lambda: 0,
        call_in_loop=answer,
        on_lost=lambda: None,
        on_stuck=lambda: None,
    )
    heartbeat.start()
    assert beats.wait(PATIENCE)
    left = _left_behind(transaction_mode)
    with psycopg.connect(dsn) as conn:
        alive = conn.execute("select count(*) from rag.workers").fetchone()
    heartbeat.stop()
    with psycopg.connect(dsn) as conn:
        gone = conn.execute("select count(*) from rag.workers").fetchone()

    assert (alive, gone) == ((1,), (0,))
    assert left == before


@needs_pgbouncer
async def test_listener_names_the_pooler_and_hears_at_a_direct_address(
    dsn: str, transaction_mode: str, shared_pool: Pool
) -> None:
    soon = timedelta(milliseconds=200)
    through = Listener(transaction_mode, channels=["rag_jobs"], pool=shared_pool, delivery=soon)
    direct = Listener(dsn, channels=["rag_jobs"], pool=shared_pool)
    heard: list[str] = []
    direct.subscribe("rag_jobs", heard.append)
    through.start()
    direct.start()
    try:
        await until(lambda: truth_of(through.problem == "transaction_pooler"))
        await until(lambda: truth_of(direct.is_connected))
        async with transaction(shared_pool) as conn:
            await conn.execute("select pg_notify('rag_jobs', 'work')")
        await until(lambda: truth_of(heard == ["work"]))
    finally:
        await through.close()
        await direct.close()

    assert not through.is_connected
