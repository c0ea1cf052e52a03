"""LISTEN on one dedicated connection per process, shared by all subscribers.

Notifications are only hints: they are lost while the connection is down. So subscribers also poll,
and are called after a reconnect.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

import psycopg
import structlog

from ingest.asynchronous.tasks import cancel_all
from ingest.postgres.database import Connection, begin_session

log = structlog.get_logger()

Callback = Callable[[str], None]
"""Called with the payload, in the event loop; must not block."""

# Interval of probes, which detect a connection that a firewall dropped silently.
_PROBE_SECONDS: Final = 15.0
_LONGEST_PAUSE: Final = 10.0


class Listener:
    """Receives notifications until closed; reconnects with backoff and jitter."""

    def __init__(self, dsn: str, *, channels: Sequence[str]) -> None:
        self._dsn = dsn
        self._channels = channels
        self._callbacks: defaultdict[str, list[Callback]] = defaultdict(list)
        self._on_reconnect: list[Callable[[], None]] = []
        self._task: asyncio.Task[None] | None = None
        self.is_connected = False

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
            try:
                async with await psycopg.AsyncConnection.connect(
                    self._dsn, autocommit=True, application_name="rag-ingest listener"
                ) as conn:
                    failures = 0
                    await self._listen(conn)
            except (psycopg.Error, OSError, TimeoutError) as error:
                failures += 1
                log.warning("listener.lost", error=type(error).__name__, failures=failures)
            finally:
                self.is_connected = False
            pause = min(_LONGEST_PAUSE, 0.1 * 2 ** min(failures, 10))
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311

    async def _listen(self, conn: Connection) -> None:
        await begin_session(conn)
        for channel in self._channels:
            await conn.execute(psycopg.sql.SQL("listen {}").format(psycopg.sql.Identifier(channel)))
        self.is_connected = True
        for callback in self._on_reconnect:
            callback()
        while True:
            async for notification in conn.notifies(timeout=_PROBE_SECONDS):
                for heard in self._callbacks[notification.channel]:
                    heard(notification.payload)
            async with asyncio.timeout(_PROBE_SECONDS):
                await conn.execute("select 1")
