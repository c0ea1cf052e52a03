"""The running attempts: one task each, supervised by callbacks."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache, partial
from typing import Final
from uuid import UUID

import structlog

from ingest.errors import LeaseLost, Transient
from ingest.handlers.context import Context, Progress, within
from ingest.handlers.registry import Handler
from ingest.observability import metrics, tracing
from ingest.postgres.database import Pool
from ingest.store.queue.job_types import JobType
from ingest.store.queue.jobs import ClaimedJob
from ingest.worker.attempt import attempt, failed, requeued
from ingest.worker.commit import Finished
from ingest.worker.deadlines import Deadlines
from ingest.worker.group_commit import GroupCommit
from ingest.worker.slot_shares import SlotShares
from ingest.worker.slots import Slot

log = structlog.get_logger()

_GRACE: Final = timedelta(seconds=3)
# Completed jobs without a source that end sooner are not logged: there are thousands of them.
_LOGGED_FROM_SECONDS: Final = 1.0
# Most recent applications whose context is kept: making one takes as long as running a short job.
_CONTEXTS: Final = 1_000


class Running:
    """Runs all jobs of this worker, from claim to commit."""

    def __init__(
        self,
        pool: Pool,
        *,
        handlers: Mapping[str, Handler],
        context: Context,
        on_free: Callable[[], None],
        on_ended: Callable[[Finished], None] = lambda _: None,
        grace: timedelta = _GRACE,
    ) -> None:
        """`on_free` is called when slots were freed, `on_ended` for each committed outcome.

        `grace`: how long a cancelled handler may take to end.
        """
        self.slots: dict[int, Slot] = {}
        """By position of the job: hash and comparison of its id are Python code."""
        self.abandoned: set[asyncio.Task[Finished | None]] = set()
        """Handlers that ignored their cancellation. They hold no slot; the fence blocks writes."""
        self._handlers = handlers
        # By number: hash and comparison of a UUID are Python code.
        self._context_of = lru_cache(_CONTEXTS)(lambda number: within(context, UUID(int=number)))
        self._on_free = on_free
        self._on_ended = on_ended
        self._grace = grace.total_seconds()
        self._group_commit = GroupCommit(pool, on_done=self._committed)
        self.shares = SlotShares(self.slots)
        self._deadlines = Deadlines(self.slots, on_timeout=self._cancel_because)
        self._idle = asyncio.Event()

    def start(self) -> None:
        # Kept, because Python 3.11 makes a system call for each look-up.
        self._loop = asyncio.get_running_loop()
        self._group_commit.start()

    async def close(self) -> None:
        """Commit the outcomes that were handed in."""
        self._deadlines.close()
        await self._group_commit.close()

    async def wait_until_idle(self, seconds: float) -> None:
        """Wait until all slots are free, at most `seconds`."""
        self._idle.clear()
        if self.slots:
            try:
                async with asyncio.timeout(seconds):
                    await self._idle.wait()
            except TimeoutError:
                return

    def begin(self, job: ClaimedJob, job_type: JobType) -> None:
        """Start the handler of a job that was just claimed."""
        progress = Progress(job)
        run = attempt(
            job,
            job_type,
            handlers=self._handlers,
            context=self._context_of(job.application_id.int),
            progress=progress,
        )
        traced = tracing.job_span(job.type, attempt=job.attempts, traceparent=job.traceparent)
        span, context = traced or (None, None)
        task = self._loop.create_task(run, name=f"job {job.position}", context=context)
        slot = Slot(job=job, job_type=job_type, progress=progress, task=task, span=span)
        self.slots[job.position] = slot
        self._deadlines.add(slot)
        task.add_done_callback(partial(self._ended, slot))

    def drop(self, slot: Slot) -> None:
        """Stop the attempt and drop its outcome."""
        if self.slots.get(slot.job.position) is not slot:
            return  # the attempt has ended meanwhile
        slot.is_lost = True
        if slot.is_finishing:
            self._close([(slot, None)])
        else:
            self._cancel(slot)

    def stop(self) -> None:
        """Cancel all handlers; their jobs are requeued, no attempt spent."""
        for slot in list(self.slots.values()):
            if not slot.task.done():
                self._cancel_because(slot, "stopping")

    def _cancel_because(self, slot: Slot, why: Transient | str) -> None:
        slot.cancel_reason = why if isinstance(why, Transient) else "stopping"
        self._cancel(slot)

    def _cancel(self, slot: Slot) -> None:
        slot.task.cancel()
        self._loop.call_later(self._grace, self._abandon, slot)

    def _abandon(self, slot: Slot) -> None:
        task = slot.task
        if task.done() or task in self.abandoned:
            return
        log.error("handler.abandoned", job_id=str(slot.job.id), type=slot.job.type)
        self.abandoned.add(task)
        task.add_done_callback(self.abandoned.discard)
        self._submit(slot, self._interrupted(slot))

    def _ended(self, slot: Slot, task: asyncio.Task[Finished | None]) -> None:
        if not task.cancelled():
            task.exception()  # mark as retrieved; irrelevant if cancelled
        if slot.is_finishing:
            return  # an abandoned handler that has ended by now
        if slot.is_lost or slot.cancel_reason is not None:
            self._submit(slot, self._interrupted(slot))
        else:
            # Cancelled from outside: the event loop is being closed.
            self._submit(slot, None if task.cancelled() else task.result())

    def _interrupted(self, slot: Slot) -> Finished | None:
        """The outcome of a cancelled handler, however it ended."""
        if slot.is_lost or slot.cancel_reason is None:
            return None
        if slot.cancel_reason == "stopping":
            return requeued(slot.job, slot.progress)
        return failed(slot.job, slot.job_type, slot.progress, slot.cancel_reason)

    def _submit(self, slot: Slot, finished: Finished | None) -> None:
        if finished is None:
            self._close([(slot, None)])
        else:
            slot.finished = finished
            self._group_commit.submit(slot, finished)

    def _committed(self, ends: Sequence[tuple[Slot, bool | Exception]]) -> None:
        over: list[tuple[Slot, Finished | None]] = []
        for slot, held in ends:
            if slot.is_lost:
                continue
            if not isinstance(held, Exception):
                over.append((slot, slot.finished if held else None))
            elif isinstance(held, LeaseLost):
                over.append((slot, None))
            elif slot.has_failed_to_commit:
                log.error("job.not_finished", job_id=str(slot.job.id), exc_info=held)
                over.append((slot, None))
            else:
                # The database refused the write: commit a failed attempt instead.
                slot.has_failed_to_commit = True
                self._submit(slot, failed(slot.job, slot.job_type, slot.progress, held))
        self._close(over)

    def _close(self, ends: Sequence[tuple[Slot, Finished | None]]) -> None:
        """Free slots, each with what was committed; None: the outcome was dropped.

        Of all that end together at once: for short jobs, one by one takes a third longer.
        """
        now = time.monotonic()
        seconds: defaultdict[metrics.AttemptKind, list[float]] = defaultdict(list)
        for slot, finished in ends:
            slot.progress.on_progress = None
            if self.slots.get(slot.job.position) is not slot:
                continue  # the lost job was claimed again and has a new slot
            del self.slots[slot.job.position]
            self.shares.charge(slot)
            if finished is not None:
                self._on_ended(finished)
            kind = _kind(slot.job, finished)
            seconds[kind].append(now - slot.started)
            if slot.span is not None:
                tracing.end_job(slot.span, status=kind.status, code=kind.code)
            _log_end(slot, kind, seconds=now - slot.started)
        metrics.attempts_ended(seconds)
        if not self.slots:
            self._idle.set()
        if seconds:
            self._on_free()


def _kind(job: ClaimedJob, finished: Finished | None) -> metrics.AttemptKind:
    if finished is None:
        return metrics.AttemptKind(job.type, "dropped")
    ended = finished.ended
    return metrics.AttemptKind(job.type, ended.status, ended.error_code, ended.refund)


def _log_end(slot: Slot, kind: metrics.AttemptKind, *, seconds: float) -> None:
    job = slot.job
    is_routine = kind.status == "completed" and not job.knowledge_source_id
    if is_routine and seconds < _LOGGED_FROM_SECONDS:
        return
    log.info(
        "job.end",
        job_id=str(job.id),
        type=job.type,
        attempt=job.attempts,
        source_id=str(job.knowledge_source_id) if job.knowledge_source_id else None,
        application_id=str(job.application_id),
        status=kind.status,
        error_code=kind.code,
        seconds=round(seconds, 3),
    )
