"""Progress events for job changes and their sources, written in the transaction of the change.

Webhook notifications (notify/outbox.py) are written along with them.
"""

from collections.abc import Sequence
from typing import Any

from ingest.model import JobStatus
from ingest.postgres.database import Connection
from ingest.store.notify import deliveries, outbox
from ingest.store.notify.outbox import JobEnd
from ingest.store.queue.job_control import ChangedJob
from ingest.store.queue.jobs import ClaimedJob, Ended, Recovered
from ingest.store.sources import events, sources
from ingest.store.sources.sources import Settled


async def jobs_claimed(conn: Connection, taken: Sequence[ClaimedJob]) -> None:
    """Emit events for jobs that have started."""
    by_source = {job.knowledge_source_id: job for job in taken if job.knowledge_source_id}
    settled = await sources.settle(conn, list(by_source))
    await events.emit(
        conn,
        [
            _event(source, {**_job(by_source[source.id]), **_begun(by_source[source.id])})
            for source in settled
        ],
    )


async def attempts_ended(conn: Connection, ends: Sequence[Ended]) -> None:
    """Emit events and notifications for attempts that have ended."""
    by_source = {end.job.knowledge_source_id: end for end in ends if end.job.knowledge_source_id}
    settled = await sources.settle(conn, list(by_source))
    await events.emit(conn, [_event(source, _end(by_source[source.id])) for source in settled])
    await outbox.notify_sources(conn, settled)
    await outbox.notify_jobs(
        conn, [JobEnd(id=end.job.id, type=end.job.type, status=end.status) for end in ends]
    )


async def jobs_recovered(conn: Connection, jobs: Sequence[Recovered]) -> None:
    """Emit events and notifications for jobs recovered from a stale worker."""
    by_source = {job.knowledge_source_id: job for job in jobs if job.knowledge_source_id}
    settled = await sources.settle(conn, list(by_source))
    await events.emit(
        conn,
        [
            _event(
                source,
                {
                    "jobId": str(by_source[source.id].id),
                    "jobType": by_source[source.id].type,
                    "attempt": by_source[source.id].attempts,
                    "jobStatus": by_source[source.id].status,
                    "errorCode": "worker_lost",
                },
            )
            for source in settled
        ],
    )
    await outbox.notify_sources(conn, settled)
    await outbox.notify_jobs(
        conn, [JobEnd(id=job.id, type=job.type, status=job.status) for job in jobs]
    )


async def jobs_changed(
    conn: Connection, changed: Sequence[ChangedJob], *, job_status: JobStatus
) -> list[Settled]:
    """Announce user actions on jobs (job_control.py); returns the new states of their sources."""
    by_source = {job.knowledge_source_id: job for job in changed if job.knowledge_source_id}
    settled = await sources.settle(conn, list(by_source))
    await events.emit(
        conn,
        [
            _event(source, {"jobId": str(by_source[source.id].id), "jobStatus": job_status})
            for source in settled
        ],
    )
    await outbox.notify_sources(conn, settled)
    if job_status == "cancelled":
        await deliveries.fail_pending(conn, [job.id for job in changed])
    return settled


async def sources_reconciled(conn: Connection, settled: Sequence[Settled]) -> None:
    """Announce sources that `reconcile` settled without a job that ended."""
    await events.emit(conn, [_event(source, {}) for source in settled])
    await outbox.notify_sources(conn, settled)


def _event(source: Settled, about_job: dict[str, Any]) -> events.NewEvent:
    is_done = source.status in sources.TERMINAL and source.status != source.was
    data: dict[str, Any] = {
        "status": source.status,
        "errorCode": source.error_code,
        "errorMessage": source.error_message,
        "chunkCount": source.chunk_count,
        **about_job,
    }
    if source.status in sources.TERMINAL:
        data["percent"] = 100 if source.status in ("completed", "partial") else None
    return events.NewEvent(source_id=source.id, type="done" if is_done else "job", data=data)


def _begun(job: ClaimedJob) -> dict[str, Any]:
    # The percentage of a single child job says nothing about the source.
    return {"jobStatus": "processing", "percent": None if job.parent_job_id else 0}


def _job(job: ClaimedJob) -> dict[str, Any]:
    return {"jobId": str(job.id), "jobType": job.type, "attempt": job.attempts}


def _end(end: Ended) -> dict[str, Any]:
    data = {**_job(end.job), "jobStatus": end.status}
    if end.error_code is not None:
        data |= {"errorCode": end.error_code, "errorMessage": end.error_message}
    if end.delay is not None:
        data |= {"retryInSeconds": end.delay.total_seconds(), "waitReason": end.wait_reason}
    return data
