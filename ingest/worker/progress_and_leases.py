"""While jobs run: write their progress, and drop those whose lease is lost."""

import asyncio
import time
from collections.abc import Iterable
from typing import Final
from uuid import UUID

import psycopg
import structlog

from ingest.asynchronous.tasks import is_set_within
from ingest.observability import metrics
from ingest.postgres.database import Pool, transaction
from ingest.store.queue import jobs
from ingest.store.sources import events, job_events
from ingest.worker.running_jobs import Running
from ingest.worker.slots import Slot

log = structlog.get_logger()

# Progress is written for all running jobs in one transaction, and only if it has changed.
_EVERY_SECONDS: Final = 1.0
_STRAYS_EVERY_SECONDS: Final = 10.0


async def watch(pool: Pool, *, worker: UUID, running: Running, check: asyncio.Event) -> None:
    """Report every second until cancelled; at once if `check` signals a cancelled job."""
    strays_looked_for = time.monotonic()
    while True:
        is_asked = await is_set_within(check, _EVERY_SECONDS)
        check.clear()
        try:
            await report(pool, running, include_new=is_asked)
            if time.monotonic() - strays_looked_for > _STRAYS_EVERY_SECONDS:
                await _release_strays(pool, worker, running.slots.values())
                strays_looked_for = time.monotonic()
        except psycopg.Error as error:
            log.warning("watch.failed", error=type(error).__name__)
        except Exception as error:
            log.error("watch.failed", exc_info=error)


async def report(pool: Pool, running: Running, *, include_new: bool) -> None:
    """Write progress of running jobs; drop those that were cancelled, deleted or recovered.

    `include_new`: also check jobs started within the last second that have no progress yet. They
    are skipped otherwise, since most end at once.
    """
    young = float("inf") if include_new else time.monotonic() - _EVERY_SECONDS
    slots = [
        slot
        for slot in running.slots.values()
        if not slot.is_finishing and (slot.started < young or slot.progress.is_under_way)
    ]
    if not slots:
        return
    seen = [(slot.job, slot.progress.stage, slot.progress.percent) for slot in slots]
    async with transaction(pool) as conn:
        held = await jobs.report_progress(conn, seen)
        moved = [
            (slot, (stage, percent))
            for slot, (_, stage, percent) in zip(slots, seen, strict=True)
            if slot.job.id in held and slot.reported != (stage, percent)
        ]
        await events.emit(
            conn,
            [
                _event(slot, source_id, stage, percent)
                for slot, (stage, percent) in moved
                if (source_id := slot.job.knowledge_source_id)
            ],
        )
    for slot, now in moved:
        slot.reported = now
    for slot in slots:
        # A job that the group commit has committed meanwhile is not held either.
        if slot.job.id not in held and not slot.is_finishing:
            running.drop(slot)


async def _release_strays(pool: Pool, worker: UUID, slots: Iterable[Slot]) -> None:
    async with transaction(pool) as conn:
        ids = [slot.job.id for slot in slots]
        strays = await jobs.release_abandoned(conn, worker=worker, running=ids)
        await job_events.jobs_recovered(conn, strays)
    if strays:
        metrics.recovered(len(strays))
        log.warning("worker.strays_released", count=len(strays))


def _event(slot: Slot, source_id: UUID, stage: str | None, percent: int) -> events.NewEvent:
    return events.NewEvent(
        source_id=source_id,
        type="progress",
        data={
            "status": "processing",
            "jobId": str(slot.job.id),
            "jobStatus": "processing",
            "attempt": slot.job.attempts,
            "stage": stage,
            # The percent of one page of many says nothing about the source.
            "percent": None if slot.job.parent_job_id else percent,
        },
    )
