"""Commit the ends of attempts: what was written, the job's state, the source's, the events."""

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from ingest.handlers.context import GroupedWrite, Write
from ingest.observability import metrics, tracing
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.documents import documents
from ingest.store.documents.documents import NewDocument
from ingest.store.queue import job_logs, jobs
from ingest.store.queue.job_logs import LogLine
from ingest.store.queue.jobs import Ended
from ingest.store.sources import announce, sources


@dataclass(slots=True, kw_only=True)
class Finished:
    """An attempt that has ended, with what it has to write.

    Not frozen, as there is one for every job, and that would more than double its cost.
    """

    ended: Ended
    write: Write | None = None
    grouped: Sequence[GroupedWrite] = ()
    documents: Sequence[NewDocument] = ()
    lines: Sequence[LogLine] = ()
    losses: int = 0
    """How often the connection was lost when it was being written by itself."""

    @property
    def is_bare(self) -> bool:
        """Nothing but the job's own row is to be written."""
        writes = self.write or self.grouped or self.documents or self.lines
        return self.ended.is_bare and not writes

    @property
    def characters(self) -> int:
        """Of the texts of its documents."""
        return sum(len(new.document.text) for new in self.documents)


async def commit(pool: Pool, group: Sequence[Finished]) -> set[UUID]:
    """One transaction for all; the ids of the jobs that were still ours."""
    if not group:
        return set()
    if all(finished.is_bare for finished in group):
        async with pool.connection() as conn:  # one statement is a transaction by itself
            return await jobs.complete(conn, [finished.ended.job for finished in group])
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
