"""LISTEN: whether notifications arrive is tried out on each connect, and then again and again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from ingest.postgres import listen
from ingest.postgres.database import Connection, Pool
from ingest.postgres.listen import Listener
from tests.servers.deaf_proxy import DeafProxy
from tests.support.running_worker import truth_of, until

_CHANNEL = "rag_jobs"
_OFTEN = timedelta(milliseconds=50)
# Long enough for a busy machine to deliver, short enough to wait for.
_DELIVERY = timedelta(seconds=1)


@pytest.fixture
async def proxy(dsn: str) -> AsyncIterator[DeafProxy]:
    async with DeafProxy(dsn).running() as proxy:
        yield proxy


@pytest.fixture(autouse=True)
def retries_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listen, "_PAUSE_AFTER_NOT_DELIVERED", 0.1)


class _Heard:
    def __init__(self, listener: Listener) -> None:
        self.payloads: list[str] = []
        self.reconnects = 0
        listener.subscribe(_CHANNEL, self.payloads.append)
        listener.on_reconnect(self._count)

    def _count(self) -> None:
        self.reconnects += 1


@asynccontextmanager
async def _listening(dsn: str, pool: Pool) -> AsyncIterator[tuple[Listener, _Heard]]:
    listener = Listener(dsn, channels=[_CHANNEL], pool=pool, try_out=_OFTEN, delivery=_DELIVERY)
    heard = _Heard(listener)
    listener.start()
    try:
        yield listener, heard
    finally:
        await listener.close()


async def test_notifications_arrive_while_it_is_connected(
    dsn: str, pool: Pool, conn: Connection
) -> None:
    async with _listening(dsn, pool) as (listener, heard):
        before = listener.problem
        await until(lambda: truth_of(listener.is_connected))
        await conn.execute("select pg_notify(%s, 'work')", [_CHANNEL])
        await until(lambda: truth_of(heard.payloads))
        await asyncio.sleep(0)

    assert (before, listener.problem) == ("not_connected", None)
    assert heard.payloads == ["work"]  # its own are nobody's business


async def test_connection_that_never_delivers_is_deaf_and_warned_of_once(
    proxy: DeafProxy, pool: Pool
) -> None:
    proxy.loses_notifications = True
    with capture_logs() as logs:
        async with _listening(proxy.dsn, pool) as (listener, heard):
            await until(lambda: truth_of(listener.problem == "not_delivered"))
            before = proxy.connections
            await until(lambda: truth_of(proxy.connections > before + 2))

    assert (listener.is_connected, heard.reconnects) == (False, 0)
    assert [line["problem"] for line in logs if line["event"] == "listener.deaf"] == [
        "not_delivered"
    ]


async def test_listener_that_becomes_deaf_is_noticed_and_reconnects_when_it_can(
    proxy: DeafProxy, pool: Pool
) -> None:
    async with _listening(proxy.dsn, pool) as (listener, heard):
        await until(lambda: truth_of(listener.is_connected))
        proxy.loses_notifications = True
        await until(lambda: truth_of(listener.problem == "not_delivered"))
        proxy.loses_notifications = False
        await until(lambda: truth_of(listener.is_connected))

    assert heard.reconnects == 2


async def test_half_open_connection_is_replaced(proxy: DeafProxy, pool: Pool) -> None:
    async with _listening(proxy.dsn, pool) as (listener, heard):
        await until(lambda: truth_of(listener.is_connected))
        proxy.silence()
        await until(lambda: truth_of(heard.reconnects == 2))

    assert proxy.connections == 2


async def test_listening_to_another_database_is_deaf(empty_database: str, pool: Pool) -> None:
    async with _listening(empty_database, pool) as (listener, _):
        await until(lambda: truth_of(listener.problem == "not_delivered"))


async def test_pool_without_a_free_connection_says_nothing_about_delivery(
    dsn: str, pool: Pool
) -> None:
    async with _listening(dsn, pool) as (listener, heard):
        await until(lambda: truth_of(listener.is_connected))
        connections = pool.connections.open
        held = [await connections.getconn() for _ in range(connections.max_size)]
        await asyncio.sleep(2 * _DELIVERY.total_seconds())
        for conn in held:
            await connections.putconn(conn)

    assert (listener.is_connected, heard.reconnects) == (True, 1)
