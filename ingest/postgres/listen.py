"""LISTEN on one dedicated connection per process, shared by all subscribers.

Notifications are only hints: they are lost while the connection is down. So subscribers also poll,
and are called after a reconnect. Whether notifications arrive is tried out: the pool sends one of
our own, first after each connect, then every few seconds. Through a pooler in transaction mode,
LISTEN succeeds and nothing ever arrives.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final, Literal, NoReturn
from uuid import uuid4

import psycopg
import structlog

from ingest.asynchronous.tasks import cancel_all, is_set_within, run_both
from ingest.observability import metrics
from ingest.postgres.database import Connection, Pool, has_lost_connection, transaction
from ingest.postgres.poolers import detect_pooling
from ingest.postgres.queries import load_queries
from ingest.postgres.sessions import begin_session

log = structlog.get_logger()

_NOTIFY: Final = load_queries("session.sql")["notify"]

Callback = Callable[[str], None]
"""Called with the payload, in the event loop; must not block."""

ListenerProblem = Literal["not_connected", "transaction_pooler", "not_delivered"]
"""Why no notifications arrive: no connection, or one that delivers none; `transaction_pooler`: a
pooler in transaction mode does not. INGEST_LISTEN_URL can name a direct address."""

# Time between two trials, and for a notification to arrive.
_TRY_OUT: Final = timedelta(seconds=15)
_DELIVERY: Final = timedelta(seconds=5)
_CONNECT_SECONDS: Final = 10
_LONGEST_PAUSE: Final = 10.0
# A new connection that delivers nothing will hardly do so soon.
_PAUSE_AFTER_NOT_DELIVERED: Final = 60.0


class _NotDelivered(Exception):
    pass


class Listener:
    """Receives notifications until closed; reconnects with backoff and jitter."""

    def __init__(
        self,
        dsn: str,
        *,
        channels: Sequence[str],
        pool: Pool,
        try_out: timedelta = _TRY_OUT,
        delivery: timedelta = _DELIVERY,
    ) -> None:
        """`pool` sends the notifications of trials: the database of those that we wait for."""
        self._dsn = dsn
        self._channels = channels
        self._pool = pool
        self._try_out = try_out.total_seconds()
        self._delivery = delivery.total_seconds()
        self._own_channel = f"rag_self_{uuid4().hex}"
        self._awaited = ""
        self._arrived = asyncio.Event()
        self._callbacks: defaultdict[str, list[Callback]] = defaultdict(list)
        self._on_reconnect: list[Callable[[], None]] = []
        self._task: asyncio.Task[None] | None = None
        self.problem: ListenerProblem | None = "not_connected"

    @property
    def is_connected(self) -> bool:
        """Whether notifications arrive."""
        return self.problem is None

    def subscribe(self, channel: str, callback: Callback) -> None:
        """Call `callback` for each notification on `channel`, one of the listener's channels."""
        self._callbacks[channel].append(callback)

    def on_reconnect(self, callback: Callable[[], None]) -> None:
        """Call `callback` after each connect and reconnect: notifications may have been missed."""
        self._on_reconnect.append(callback)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="listener")

    async def close(self) -> None:
        if self._task is not None:
            await cancel_all(self._task)

    async def _run(self) -> None:
        failures = 0
        while True:
            pause = min(_LONGEST_PAUSE, 0.1 * 2 ** min(failures, 10))
            try:
                async with await psycopg.AsyncConnection.connect(
                    self._dsn,
                    autocommit=True,
                    prepare_threshold=None,
                    connect_timeout=_CONNECT_SECONDS,
                    application_name="rag-ingest listener",
                ) as conn:
                    await self._check_delivery(conn)
                    failures = 0
                    await self._listen(conn)
            except _NotDelivered:
                if self.is_connected:
                    log.warning("listener.lost", error="NotDelivered", failures=failures)
                    self._set_problem("not_connected")
                else:
                    await self._explain()
                    pause = _PAUSE_AFTER_NOT_DELIVERED
            except (psycopg.Error, OSError, TimeoutError) as error:
                failures += 1
                log.warning("listener.lost", error=type(error).__name__, failures=failures)
                self._set_problem("not_connected")
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311

    def _set_problem(self, problem: ListenerProblem | None) -> None:
        self.problem = problem
        metrics.listening(problem is None)

    async def _explain(self) -> None:
        """Find out why a new connection delivers nothing; warn once."""
        pooling = await asyncio.to_thread(detect_pooling, self._dsn)
        is_shared = pooling.shares_sessions and pooling.is_certain
        problem: ListenerProblem = "transaction_pooler" if is_shared else "not_delivered"
        if problem != self.problem:
            log.warning(
                "listener.deaf",
                problem=problem,
                consequence="work and progress are found by polling, a little later",
                remedy="set INGEST_LISTEN_URL to an address of the same database without pooler",
            )
        self._set_problem(problem)

    async def _check_delivery(self, conn: Connection) -> None:
        """Raise _NotDelivered unless a notification of our own arrives on a new connection.

        Before anything else: through a pooler in transaction mode, LISTEN and settings would stay
        behind in a session of others. Only we know this channel.
        """
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await _listen_to(conn, self._own_channel)
        except psycopg.Error as error:
            if has_lost_connection(error):
                raise
            raise _NotDelivered from None  # some poolers refuse LISTEN
        await self._send()
        async for notification in conn.notifies(timeout=self._delivery):
            if self._has_arrived(notification.channel, notification.payload):
                return
        raise _NotDelivered

    async def _listen(self, conn: Connection) -> None:
        async with asyncio.timeout(_CONNECT_SECONDS):
            await begin_session(conn)
            for channel in self._channels:
                await _listen_to(conn, channel)
        self._set_problem(None)
        log.debug("listener.connected")
        for callback in self._on_reconnect:
            callback()
        await run_both(self._receive(conn), self._try_out_forever())

    async def _receive(self, conn: Connection) -> None:
        async for notification in conn.notifies():
            if not self._has_arrived(notification.channel, notification.payload):
                for heard in self._callbacks[notification.channel]:
                    heard(notification.payload)

    async def _try_out_forever(self) -> NoReturn:
        """Detects a connection that a firewall dropped silently, or that delivers no longer."""
        while True:
            await asyncio.sleep(self._try_out)
            try:
                await self._send()
            except psycopg.Error:
                continue  # not sent, so it says nothing about delivery
            if not await is_set_within(self._arrived, self._delivery):
                raise _NotDelivered

    async def _send(self) -> None:
        self._awaited = uuid4().hex
        self._arrived.clear()
        async with transaction(self._pool) as conn:
            await conn.execute(_NOTIFY, {"channel": self._own_channel, "payload": self._awaited})

    def _has_arrived(self, channel: str, payload: str) -> bool:
        if channel != self._own_channel:
            return False
        if payload == self._awaited:
            self._arrived.set()
        return True


async def _listen_to(conn: Connection, channel: str) -> None:
    await conn.execute(psycopg.sql.SQL("listen {}").format(psycopg.sql.Identifier(channel)))
