"""The claim loop: keep all slots full, run attempts, pass their outcomes to the group commit."""

import asyncio
import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final
from uuid import UUID, uuid4

import psycopg
import structlog

from ingest.asynchronous.tasks import cancel_all, is_set_within
from ingest.handlers.context import Context
from ingest.handlers.registry import Handler
from ingest.observability import metrics
from ingest.postgres.database import Connection, Pool
from ingest.postgres.listen import Listener
from ingest.store.queue import claims
from ingest.worker.activity_ledger import ActivityLedger
from ingest.worker.claiming import CONTENTION_DELAY, Claiming
from ingest.worker.heartbeat import Heartbeat
from ingest.worker.progress_and_leases import watch
from ingest.worker.running_jobs import Running

log = structlog.get_logger()

# Notifications can be lost, so an idle worker polls; more often while it is not listening.
_POLL: Final = timedelta(seconds=10)
_POLL_NOT_LISTENING: Final = timedelta(seconds=0.5)
_PROMOTE: Final = timedelta(seconds=1)
# While few slots are free, wait for more: a claim for one job costs as much as one for many.
_LINGER: Final = timedelta(milliseconds=5)
# While all slots are taken, look for jobs that may use the reserve at most this often.
_RESERVE_EVERY: Final = timedelta(milliseconds=50)
# With more slots than this, one claim fills half of them; while its jobs end and are committed,
# the other half is claimed.
_MIN_CLAIM_SIZE: Final = 50
_LOOKUPS_EVERY_PER_SLOT: Final = timedelta(milliseconds=2.5)
_LONGEST_LOOKUPS_EVERY: Final = timedelta(milliseconds=125)
GRACE: Final = timedelta(seconds=5)
# Time for the rest of the process to close.
_SHUTDOWN: Final = timedelta(seconds=10)


def _exit() -> None:
    """Exit: a handler blocks the event loop or ignores its cancellation, so only a restart helps.

    Recovering its jobs costs them an attempt, so a job that blocks every worker fails in the end.
    """
    os._exit(os.EX_SOFTWARE)


def _exit_soon() -> None:
    """Exit after a pause: a handler that ignores its cancellation would keep the process alive."""
    timer = threading.Timer(_SHUTDOWN.total_seconds(), _exit)
    timer.daemon = True
    timer.start()


def reserved_slots(concurrency: int) -> int:
    """Further slots, for applications that use few while others hold all of the usual ones."""
    return 0 if concurrency == 1 else max(1, concurrency // 4)


def lookups_every(concurrency: int) -> timedelta:
    """Time between look-ups of vectors, in which a group of jobs collects.

    In proportion to the slots, of all workers together: each of several gets fewer files in the
    same time. At 100 files per second, a quarter of the slots wait at the end of it.
    """
    return min(_LOOKUPS_EVERY_PER_SLOT * concurrency, _LONGEST_LOOKUPS_EVERY)


class Worker:
    """Runs up to `concurrency` jobs at once in the current event loop, and `reserved_slots`."""

    def __init__(
        self,
        *,
        dsn: str,
        pool: Pool,
        listener: Listener,
        context: Context,
        handlers: Mapping[str, Handler],
        concurrency: int,
        heartbeat: timedelta,
        stale_after: timedelta,
        id: UUID | None = None,
    ) -> None:
        self.id = id or uuid4()
        self._pool = pool
        self._listener = listener
        self._context = context
        self._handlers = handlers
        self._concurrency = concurrency
        self._claim_size = max(_MIN_CLAIM_SIZE, concurrency // 2)
        self._wake = asyncio.Event()
        self._check = asyncio.Event()
        self._is_lingering = False
        self._is_stopping = False
        self._promoted_at = float("-inf")
        self._is_reserve_wanted = False
        """A job may have come that may use the reserve."""
        self._reserve_checked_at = 0.0
        self._activity = ActivityLedger(pool, worker_id=self.id)
        self._running = Running(
            pool,
            handlers=handlers,
            context=context,
            on_free=self._on_slot_freed,
            on_ended=self._activity.add,
        )
        self._claiming = Claiming(worker=self.id, handlers=handlers, shares=self._running.shares)
        self._heartbeat = Heartbeat(
            dsn,
            worker_id=self.id,
            every=heartbeat,
            stale_after=stale_after,
            slots=concurrency,
            running=lambda: len(self._running.slots),
            call_in_loop=self._call_in_loop,
            on_lost=lambda: self._call_in_loop(self._drop_all),
            on_stuck=_exit,
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: list[asyncio.Task[None]] = []
        listener.subscribe("rag_jobs", self._notified)
        listener.on_reconnect(self.wake)

    async def start(self) -> None:
        """Register and start to claim. Raises psycopg.OperationalError without a database."""
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._heartbeat.start)
        self._running.start()
        self._activity.start()
        watching = watch(self._pool, worker=self.id, running=self._running, check=self._check)
        self._tasks = [
            asyncio.create_task(self._claim_forever(), name="claim"),
            asyncio.create_task(watching, name="watch"),
        ]
        log.info("worker.started", worker_id=str(self.id), concurrency=self._concurrency)

    async def stop(self, *, grace: timedelta = GRACE) -> None:
        """Stop claiming; jobs that do not end within `grace` are requeued, no attempt spent."""
        self._is_stopping = True
        self._heartbeat.draining = True
        self.wake()
        await self._running.wait_until_idle(grace.total_seconds())
        self._running.stop()
        await self._running.wait_until_idle(grace.total_seconds())
        await cancel_all(*self._tasks)
        await self._running.close()
        await self._activity.close()
        await asyncio.to_thread(self._heartbeat.stop)
        if self._running.abandoned:
            _exit_soon()
        log.info("worker.stopped", worker_id=str(self.id))

    def wake(self) -> None:
        """Claim now."""
        self._wake.set()

    def _notified(self, payload: str) -> None:
        if payload == "cancel":
            self._check.set()
        self._is_reserve_wanted = True
        self.wake()

    def _call_in_loop(self, callback: Callable[[], None]) -> None:
        """Called from the heartbeat's thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(callback)

    def _drop_all(self) -> None:
        for slot in list(self._running.slots.values()):
            self._running.drop(slot)

    def _on_slot_freed(self) -> None:
        """Claim again; wait briefly first, so that one claim serves slots freed together."""
        if self._is_half_free():
            self.wake()
        elif not self._is_lingering:
            self._is_lingering = True
            asyncio.get_running_loop().call_later(_LINGER.total_seconds(), self._wake_after_linger)

    def _wake_after_linger(self) -> None:
        self._is_lingering = False
        self.wake()

    async def _claim_forever(self) -> None:
        while not self._is_stopping:
            try:
                async with self._pool.session() as conn:
                    await self._claim_with(conn)
            except psycopg.Error as error:
                log.warning("claim.failed", error=type(error).__name__)
            except Exception as error:
                # Do not end the loop: a worker that looks alive but claims nothing would be worse.
                log.error("claim.failed", exc_info=error)
            if not self._is_stopping:
                await is_set_within(self._wake, _POLL_NOT_LISTENING.total_seconds())

    async def _claim_with(self, conn: Connection) -> None:
        """Claim until an error occurs. Keeping one connection saves most of a claim's time."""
        while not self._is_stopping:
            self._wake.clear()
            pause = await self._fill_slots(conn)
            if pause > timedelta(0):
                seconds = pause.total_seconds() * random.uniform(0.8, 1.0)  # noqa: S311
                await is_set_within(self._wake, seconds)

    async def _fill_slots(self, conn: Connection) -> timedelta:
        """Claim for the free slots; returns how long to wait before the next claim."""
        free = self._concurrency - len(self._running.slots)
        if not self._heartbeat.is_alive:
            return _POLL_NOT_LISTENING
        if free <= 0:
            return await self._fill_reserve(conn)
        await self._promote_if_due(conn)
        started = time.monotonic()
        asked = min(free, self._claim_size)
        async with self._pool.begin(conn):
            claimed = await self._claiming.take(conn, asked)
        metrics.claimed(len(claimed), seconds=time.monotonic() - started)
        for job in claimed:
            self._running.begin(job, self._claiming.types[job.type])
        if not claimed:
            return await self._pause_when_idle(conn)
        return _LINGER if len(claimed) == asked and not self._is_half_free() else timedelta(0)

    async def _fill_reserve(self, conn: Connection) -> timedelta:
        """All slots are taken: claim a job of an application that uses few of them.

        Returns how long to wait before the next claim.
        """
        free = self._concurrency + reserved_slots(self._concurrency) - len(self._running.slots)
        passed = timedelta(seconds=time.monotonic() - self._reserve_checked_at)
        if free <= 0 or not (self._is_reserve_wanted or passed >= _POLL_NOT_LISTENING):
            return _POLL_NOT_LISTENING
        if passed < _RESERVE_EVERY:
            return _RESERVE_EVERY - passed
        self._is_reserve_wanted = False
        await self._promote_if_due(conn)
        started = time.monotonic()
        async with self._pool.begin(conn):
            claimed = await self._claiming.take_reserved(conn, free=free)
        metrics.claimed(len(claimed), seconds=time.monotonic() - started)
        for job in claimed:
            self._running.begin(job, self._claiming.types[job.type])
        if not claimed:
            self._reserve_checked_at = time.monotonic()
            return _POLL_NOT_LISTENING
        self._is_reserve_wanted = True
        return timedelta(0)

    async def _promote_if_due(self, conn: Connection) -> None:
        """Make due jobs ready once a second, even while there is always something to claim."""
        if time.monotonic() - self._promoted_at >= _PROMOTE.total_seconds():
            self._promoted_at = time.monotonic()
            async with self._pool.begin(conn):
                await claims.set_planner(conn)
                await claims.promote(conn)

    def _is_half_free(self) -> bool:
        return 2 * len(self._running.slots) <= self._concurrency

    async def _pause_when_idle(self, conn: Connection) -> timedelta:
        """Make due jobs ready; returns 0 if there were any, else the time to the next one."""
        async with self._pool.begin(conn):
            await claims.set_planner(conn)
            if await claims.promote(conn):
                return timedelta(0)
            again = await self._claiming.retry_delay(conn)
            if again is not None:
                return again
            due = await claims.next_due(conn)
        poll = _POLL if self._listener.is_connected else _POLL_NOT_LISTENING
        return poll if due is None else min(poll, max(due, CONTENTION_DELAY))
