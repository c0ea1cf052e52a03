"""Commit outcomes of attempts: the handler's write, job and source state, and events."""

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from ingest.handlers.context import GroupedWrite, Write
from ingest.observability import metrics, tracing
from ingest.postgres.database import Connection, Pool, show, transaction
from ingest.store.documents import documents
from ingest.store.documents.documents import NewDocument
from ingest.store.queue import job_logs, jobs
from ingest.store.queue.job_logs import LogLine
from ingest.store.queue.jobs import Ended
from ingest.store.sources import job_events, sources


@dataclass(slots=True, kw_only=True)
class Finished:
    """An attempt that has ended, and everything to write for it.

    Not frozen: every job builds one, and a frozen dataclass costs more than twice as much.
    """

    ended: Ended
    write: Write | None = None
    grouped: Sequence[GroupedWrite] = ()
    documents: Sequence[NewDocument] = ()
    lines: Sequence[LogLine] = ()
    losses: int = 0
    """How often the connection was lost while this outcome alone was being written."""

    @property
    def updates_job_only(self) -> bool:
        """Whether only the job's own row has to be written."""
        writes = self.write or self.grouped or self.documents or self.lines
        return self.ended.updates_job_only and not writes

    @property
    def characters(self) -> int:
        """Total length of its documents' texts."""
        return sum(len(new.document.text) for new in self.documents)


async def commit(pool: Pool, group: Sequence[Finished]) -> set[int]:
    """Commit all in one transaction; returns the positions of the jobs that we still held."""
    if not group:
        return set()
    if all(finished.updates_job_only for finished in group):
        return await jobs.complete(pool, [finished.ended.job for finished in group])
    started = time.monotonic()
    async with transaction(pool) as conn:
        held = await jobs.hold(conn, [finished.ended.job for finished in group])
        ours = [finished for finished in group if finished.ended.job.id in held]
        # A write only locks rows of its own source, so writes sorted by source cannot deadlock.
        ours.sort(key=lambda finished: str(finished.ended.job.knowledge_source_id))
        if any(finished.grouped for finished in ours):
            await sources.lock(conn, {id for finished in ours if (id := _source(finished))})
        await _write_each(conn, ours)
        await _write_grouped(conn, ours)
        await documents.replace(conn, [new for finished in ours for new in finished.documents])
        await jobs.finish(conn, [finished.ended for finished in ours])
        spent = timedelta(seconds=time.monotonic() - started)
        lines = [line for finished in ours for line in _lines(finished, spent, shared_by=len(ours))]
        types = {finished.ended.job.id: finished.ended.job.type for finished in ours}
        await job_logs.add_logs(conn, lines)
        await job_events.attempts_ended(conn, [finished.ended for finished in ours])
        # After locking the sources: of the last two children, the later sees the other's end.
        await jobs.resume_parents(conn, [finished.ended for finished in ours])
    for line in lines:
        if line.stage and line.duration:
            type = types[line.job_id]
            metrics.stage_ended(type, line.stage, seconds=line.duration.total_seconds())
    return {finished.ended.job.position for finished in ours}


def _source(finished: Finished) -> UUID | None:
    return finished.ended.job.knowledge_source_id


async def _write_each(conn: Connection, group: Sequence[Finished]) -> None:
    """Each write sees the rows of its job's application only."""
    shown = None
    for finished in group:
        if finished.write is None:
            continue
        job = finished.ended.job
        if shown != job.application_id:
            shown = job.application_id
            await show(conn, shown)
        # Jobs that it queues join the trace of this job.
        with tracing.within(job.traceparent):
            await finished.write(conn)
    if shown is not None:
        await show(conn, None)


async def _write_grouped(conn: Connection, group: Sequence[Finished]) -> None:
    by_kind: defaultdict[type[GroupedWrite], list[GroupedWrite]] = defaultdict(list)
    for finished in group:
        for write in finished.grouped:
            by_kind[type(write)].append(write)
    for kind, writes in by_kind.items():
        await kind.write_all(conn, writes)


def _lines(finished: Finished, spent: timedelta, *, shared_by: int) -> list[LogLine]:
    """The job's log, plus its store stage, whose transaction other jobs may share."""
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
