"""Commit the ends of attempts: what was written, the job's state, the source's, the events.

Jobs that end at about the same time share a transaction. If that fails, each gets its own, so that
one job's trouble is never another's.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import structlog

from ingest import metrics, tracing
from ingest.db import Connection, Pool, is_out_of_reach, transaction
from ingest.handlers.context import GroupedWrite, Write
from ingest.store import announce, documents, job_logs, jobs, sources
from ingest.store.documents import NewDocument
from ingest.store.job_logs import LogLine
from ingest.store.jobs import Ended
from ingest.tasks import end
from ingest.worker.batches import BatchCompletion

log = structlog.get_logger()

_LARGEST_GROUP = 50
# While one transaction waits for Postgres, the other is being written.
_COMMITTERS = 2
# How long to wait before the database is tried again with a finished job in hand.
_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """An attempt that has ended, with what it has to write."""

    ended: Ended
    write: Write | None = None
    grouped: Sequence[GroupedWrite] = ()
    documents: Sequence[NewDocument] = ()
    lines: Sequence[LogLine] = ()


class Finisher:
    """Commits in a few tasks; attempts that end meanwhile go into the next transaction together."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._batches = BatchCompletion(pool)
        self._queue: asyncio.Queue[tuple[Finished, asyncio.Future[bool]]] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._run(), name=f"committer {number}")
            for number in range(_COMMITTERS)
        ]
        self._batches.start()

    async def close(self) -> None:
        """Stop after what was handed in is committed."""
        await self._queue.join()
        await end(*self._tasks)
        await self._batches.close()

    async def finish(self, finished: Finished) -> bool:
        """Commit; False when the job was no longer ours and nothing of it was written.

        Raises what the write raised. While the database is out of reach it is tried again: the
        caller gives up, by cancelling, when the lease is lost.
        """
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((finished, done))
        return await done

    async def _run(self) -> None:
        while True:
            group = [await self._queue.get()]
            while len(group) < _LARGEST_GROUP and not self._queue.empty():
                group.append(self._queue.get_nowait())
            try:
                await self._commit_group(group)
            finally:
                for _ in group:
                    self._queue.task_done()

    async def _commit_group(self, group: list[tuple[Finished, asyncio.Future[bool]]]) -> None:
        wanted = [(finished, done) for finished, done in group if not done.cancelled()]
        try:
            held = await commit(self._pool, [finished for finished, _ in wanted])
        except Exception as error:
            if len(wanted) > 1:
                for pair in wanted:
                    await self._commit_group([pair])
            elif is_out_of_reach(error):
                log.warning("finish.database_lost", error=type(error).__name__)
                asyncio.get_running_loop().call_later(_PAUSE_SECONDS, self._again, wanted[0])
            elif not wanted[0][1].cancelled():
                wanted[0][1].set_exception(error)
        else:
            self._batches.jobs_ended(
                finished.ended.job.batch_id
                for finished, _ in wanted
                if finished.ended.job.batch_id and finished.ended.status != "pending"
            )
            for finished, done in wanted:
                if not done.cancelled():
                    done.set_result(finished.ended.job.id in held)

    def _again(self, pair: tuple[Finished, asyncio.Future[bool]]) -> None:
        self._queue.put_nowait(pair)


async def commit(pool: Pool, group: Sequence[Finished]) -> set[UUID]:
    """One transaction for all; the ids of the jobs that were still ours."""
    if not group:
        return set()
    started = time.monotonic()
    async with transaction(pool) as conn:
        held = await jobs.hold(conn, [finished.ended.job for finished in group])
        ours = [finished for finished in group if finished.ended.job.id in held]
        # What writes lock beside their jobs belongs to a source: one order for all transactions.
        ours.sort(key=lambda finished: str(finished.ended.job.knowledge_source_id))
        if any(finished.grouped for finished in ours):
            await sources.lock(conn, {id for finished in ours if (id := _source(finished))})
        for finished in ours:
            if finished.write is not None:
                # What it queues belongs to the trace of what queued this one.
                with tracing.within(finished.ended.job.traceparent):
                    await finished.write(conn)
        await _write_grouped(conn, ours)
        await documents.replace(conn, [new for finished in ours for new in finished.documents])
        await jobs.finish(conn, [finished.ended for finished in ours])
        spent = timedelta(seconds=time.monotonic() - started)
        lines = [line for finished in ours for line in _lines(finished, spent, shared_by=len(ours))]
        types = {finished.ended.job.id: finished.ended.job.type for finished in ours}
        await job_logs.add_logs(conn, lines)
        await announce.ended(conn, [finished.ended for finished in ours])
        # After the sources' locks: of two last children, the later one sees the other's end.
        await jobs.resume_parents(conn, [finished.ended for finished in ours])
    for line in lines:
        if line.stage and line.duration:
            type = types[line.job_id]
            metrics.stage_ended(type, line.stage, seconds=line.duration.total_seconds())
    return held


def _source(finished: Finished) -> UUID | None:
    return finished.ended.job.knowledge_source_id


async def _write_grouped(conn: Connection, group: Sequence[Finished]) -> None:
    by_kind: defaultdict[type[GroupedWrite], list[GroupedWrite]] = defaultdict(list)
    for finished in group:
        for write in finished.grouped:
            by_kind[type(write)].append(write)
    for kind, writes in by_kind.items():
        await kind.write_all(conn, writes)


def _lines(finished: Finished, spent: timedelta, *, shared_by: int) -> list[LogLine]:
    """The job's log, with the store stage, whose transaction it may have shared."""
    if not finished.documents:
        return list(finished.lines)
    job = finished.ended.job
    store = LogLine(
        job_id=job.id,
        attempt=job.attempts,
        stage="store",
        message="store done",
        details={"jobsInTransaction": shared_by},
        duration=spent,
    )
    return [*finished.lines, store]
