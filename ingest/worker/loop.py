"""The claim loop: keep all slots full, run attempts, hand their outcomes to the finisher."""

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

from ingest import metrics, tracing
from ingest.db import Pool, transaction
from ingest.errors import LeaseLost
from ingest.handlers.context import Context, Progress
from ingest.handlers.registry import Handler
from ingest.listen import Listener
from ingest.store import claims
from ingest.store.jobs import ClaimedJob
from ingest.tasks import end, is_set_within
from ingest.worker.attempt import attempt, failed, given_back
from ingest.worker.calls import Calls
from ingest.worker.claiming import CONTENDED, Claiming
from ingest.worker.finish import Finished, Finisher
from ingest.worker.heartbeat import Heartbeat
from ingest.worker.slots import Slot
from ingest.worker.watch import watch

log = structlog.get_logger()

# Notifications can be lost, so an idle worker looks by itself; sooner when nobody would tell it.
_POLL: Final = timedelta(seconds=10)
_POLL_DEAF: Final = timedelta(seconds=1)
GRACE: Final = timedelta(seconds=5)
# For what else a process has to close.
_REST_OF_STOP: Final = timedelta(seconds=10)


def _give_up() -> None:
    """A handler never lets go, of the event loop or of itself: only a new process can go on.

    Its jobs are recovered, at the cost of an attempt, so one that does this to every worker ends.
    """
    os._exit(os.EX_SOFTWARE)


def _end_soon() -> None:
    """A handler that was told to end and did not would keep the process for ever."""
    timer = threading.Timer(_REST_OF_STOP.total_seconds(), _give_up)
    timer.daemon = True
    timer.start()


class Worker:
    """Runs up to `concurrency` jobs at once in the current event loop."""

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
    ) -> None:
        self.id = uuid4()
        self._pool = pool
        self._listener = listener
        self._context = context
        self._handlers = handlers
        self._concurrency = concurrency
        self._slots: dict[UUID, Slot] = {}
        self._claiming = Claiming(worker=self.id, handlers=handlers)
        self._wake = asyncio.Event()
        self._check = asyncio.Event()
        self._is_stopping = False
        self._calls = Calls()
        self._finisher = Finisher(pool)
        self._heartbeat = Heartbeat(
            dsn,
            worker_id=self.id,
            every=heartbeat,
            stale_after=stale_after,
            running=lambda: len(self._slots),
            ask=self._call_in_loop,
            on_lost=lambda: self._call_in_loop(self._drop_all),
            on_stuck=_give_up,
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: list[asyncio.Task[None]] = []
        listener.subscribe("rag_jobs", self._notified)
        listener.on_reconnect(self.wake)

    async def start(self) -> None:
        """Register and begin to claim. Raises psycopg.OperationalError without a database."""
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._heartbeat.start)
        self._finisher.start()
        watching = watch(self._pool, worker=self.id, slots=self._slots, check=self._check)
        self._tasks = [
            asyncio.create_task(self._claim_forever(), name="claim"),
            asyncio.create_task(watching, name="watch"),
        ]
        log.info("worker.started", worker_id=str(self.id), concurrency=self._concurrency)

    async def stop(self, *, grace: timedelta = GRACE) -> None:
        """Claim nothing more; jobs that do not end within `grace` go back, no attempt spent."""
        self._is_stopping = True
        self._heartbeat.draining = True
        self.wake()
        slots = list(self._slots.values())
        if slots:
            await asyncio.wait([slot.task for slot in slots], timeout=grace.total_seconds())
        for slot in slots:
            if not slot.is_finishing:
                slot.task.cancel()
        if slots:
            await asyncio.wait([slot.task for slot in slots], timeout=grace.total_seconds())
        await end(*self._tasks)
        await self._finisher.close()
        await asyncio.to_thread(self._heartbeat.stop)
        if self._calls.left_behind:
            _end_soon()
        log.info("worker.stopped", worker_id=str(self.id))

    def wake(self) -> None:
        """Look for work now."""
        self._wake.set()

    def _notified(self, payload: str) -> None:
        if payload == "cancel":
            self._check.set()
        self.wake()

    def _call_in_loop(self, callback: Callable[[], None]) -> None:
        """From the heartbeat's thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(callback)

    def _drop_all(self) -> None:
        for slot in self._slots.values():
            slot.lose()

    async def _claim_forever(self) -> None:
        while not self._is_stopping:
            self._wake.clear()
            try:
                pause = await self._fill_slots()
            except psycopg.Error as error:
                log.warning("claim.failed", error=type(error).__name__)
                pause = _POLL_DEAF
            except Exception as error:
                # A worker that looks alive and claims nothing would be worse than any fault here.
                log.error("claim.failed", exc_info=error)
                pause = _POLL_DEAF
            if pause > timedelta(0):
                seconds = pause.total_seconds() * random.uniform(0.8, 1.0)  # noqa: S311
                await is_set_within(self._wake, seconds)

    async def _fill_slots(self) -> timedelta:
        """Claim for the free slots; how long to wait before the next look."""
        free = self._concurrency - len(self._slots)
        if free <= 0 or not self._heartbeat.is_alive:
            return _POLL_DEAF
        started = time.monotonic()
        async with transaction(self._pool) as conn:
            claimed = await self._claiming.take(conn, free)
        metrics.claimed(len(claimed), seconds=time.monotonic() - started)
        for job in claimed:
            self._begin(job)
        return timedelta(0) if claimed else await self._pause_when_idle()

    async def _pause_when_idle(self) -> timedelta:
        """Bring in jobs whose time has come; without any, wait for the next one."""
        async with transaction(self._pool) as conn:
            if await claims.promote(conn):
                return timedelta(0)
            again = await self._claiming.pause(conn)
            if again is not None:
                return again
            due = await claims.next_due(conn)
        poll = _POLL if self._listener.is_connected else _POLL_DEAF
        return poll if due is None else min(poll, max(due, CONTENDED))

    def _begin(self, job: ClaimedJob) -> None:
        progress = Progress(job)
        task = asyncio.create_task(self._run(job, progress), name=f"job {job.id}")
        self._slots[job.id] = Slot(job=job, progress=progress, task=task)

    async def _run(self, job: ClaimedJob, progress: Progress) -> None:
        started = time.monotonic()
        slot = self._slots[job.id]
        status, code, given_back = "dropped", None, False
        try:
            with tracing.job_span(
                job.type, attempt=job.attempts, traceparent=job.traceparent
            ) as span:
                finished = await self._attempt(slot)
                slot.is_finishing = True
                if finished is not None and await self._commit(finished, slot):
                    ended = finished.ended
                    status, code, given_back = ended.status, ended.error_code, ended.refund
                span.set_attribute("job.status", status)
                if code is not None:
                    tracing.failed(span, code)
        except asyncio.CancelledError:
            # The lease was lost while the outcome waited to be written.
            pass
        finally:
            del self._slots[job.id]
            self.wake()
        seconds = time.monotonic() - started
        metrics.attempt_ended(
            job.type, status=status, code=code, given_back=given_back, seconds=seconds
        )
        log.info(
            "job.end",
            job_id=str(job.id),
            type=job.type,
            attempt=job.attempts,
            source_id=str(job.knowledge_source_id) if job.knowledge_source_id else None,
            application_id=str(job.application_id),
            status=status,
            error_code=code,
            seconds=round(seconds, 3),
        )

    async def _attempt(self, slot: Slot) -> Finished | None:
        """The attempt's outcome; None when the job is not ours any more."""
        try:
            return await attempt(
                slot.job,
                self._claiming.types[slot.job.type],
                handlers=self._handlers,
                context=self._context,
                progress=slot.progress,
                calls=self._calls,
            )
        except asyncio.CancelledError:
            if slot.is_lost or not self._is_stopping:
                return None
            return given_back(slot.job, slot.progress)

    async def _commit(self, finished: Finished, slot: Slot) -> bool:
        try:
            return await self._finisher.finish(finished)
        except LeaseLost:
            return False
        except Exception as error:
            # The write itself was refused: the attempt has failed after all.
            job_type = self._claiming.types[slot.job.type]
            return await self._finisher.finish(failed(slot.job, job_type, slot.progress, error))
