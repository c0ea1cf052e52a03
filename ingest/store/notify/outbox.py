"""Transactional outbox: queues deliveries to subscribed webhook endpoints.

Runs in the transaction of the change, so that change and notification commit together. Without a
terminal state, it reads and writes nothing; without subscribers, it runs one small statement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import orjson
from psycopg.rows import dict_row

from ingest.model import JobStatus, SourceStatus
from ingest.postgres.database import Connection, load_queries, new_id
from ingest.store.notify import deliveries
from ingest.store.notify.deliveries import NOTIFICATION, NewDelivery
from ingest.store.notify.webhook_endpoints import WebhookEndpoint
from ingest.store.sources import batch_views, batches
from ingest.store.sources.batches import CompletedBatch
from ingest.store.sources.sources import Settled

_SQL = load_queries("notify/outbox.sql")

_NOTIFIED: Final[frozenset[SourceStatus]] = frozenset(
    {"completed", "partial", "failed", "review_needed"}
)
_COUNTS: Final = (
    "total",
    "accepted",
    "unchanged",
    "duplicate",
    "rejected",
    "completed",
    "partial",
    "failed",
    "cancelled",
    "processing",
    "pending",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnd:
    """A job and its new status."""

    id: UUID
    type: str
    status: JobStatus


async def notify_sources(conn: Connection, settled: Sequence[Settled]) -> None:
    """Notify of sources that completed, failed or need a review; call after their events."""
    changed = [source for source in settled if source.status != source.was]
    await _queue_deliveries(
        conn, "sources", [source.id for source in changed if source.status in _NOTIFIED]
    )


async def notify_jobs(conn: Connection, ends: Sequence[JobEnd]) -> None:
    """Notify of failed jobs, and of rescrapes that completed or need a review.

    Failed notification jobs trigger no notification; their deliveries are closed.
    """
    failed = [end for end in ends if end.status == "failed"]
    await _queue_deliveries(
        conn, "failed_jobs", [end.id for end in failed if end.type != NOTIFICATION]
    )
    done = [end for end in ends if end.status in ("completed", "review_needed")]
    await _queue_deliveries(conn, "rescrapes", [end.id for end in done if end.type == "rescrape"])
    await deliveries.fail_pending(conn, [end.id for end in failed if end.type == NOTIFICATION])


async def complete_batches(conn: Connection, batch_ids: Sequence[UUID]) -> int:
    """Complete the batches that have ended and notify of them; returns how many.

    Run in a separate short transaction, after those that ended the sources have committed.
    """
    completed = await batches.complete(conn, batch_ids)
    for batch in completed:
        await _queue_batch_deliveries(conn, batch)
    return len(completed)


async def queue_test(conn: Connection, endpoint: WebhookEndpoint) -> UUID:
    """Queue a test delivery; returns its id."""
    id = new_id()
    row = await (await conn.execute(_SQL["now"])).fetchone()
    assert row is not None  # noqa: S101 one row, always
    data = {"applicationId": endpoint.application_id, "endpointId": endpoint.id}
    await deliveries.queue(
        conn,
        [
            NewDelivery(
                id=id,
                endpoint_id=endpoint.id,
                application_id=endpoint.application_id,
                event="endpoint.test",
                dedupe_key=f"test:{id}",
                body=_body("endpoint.test", row[0], data),
            )
        ],
    )
    return id


async def _queue_deliveries(conn: Connection, query: str, ids: Sequence[UUID]) -> None:
    if not ids:
        return
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(_SQL[query], {"ids": list(ids)})
        rows = await cur.fetchall()
    await deliveries.queue(
        conn,
        [
            NewDelivery(
                endpoint_id=row["endpoint_id"],
                application_id=row["application_id"],
                event=row["event"],
                dedupe_key=row["dedupe_key"],
                body=_body(row["event"], row["at"], row["data"]),
            )
            for row in rows
        ],
    )


async def _queue_batch_deliveries(conn: Connection, batch: CompletedBatch) -> None:
    event = "batch.completed"
    cursor = await conn.execute(
        _SQL["subscribers"], {"application_id": batch.application_id, "event": event}
    )
    subscribers = await cursor.fetchall()
    counts = await batch_views.get(conn, application_id=batch.application_id, id=batch.id)
    if not subscribers or counts is None:
        return
    data = {
        "applicationId": batch.application_id,
        "batchId": batch.id,
        **{name: getattr(counts, name) for name in _COUNTS},
        "reviewNeeded": counts.review_needed,
    }
    await deliveries.queue(
        conn,
        [
            NewDelivery(
                endpoint_id=endpoint_id,
                application_id=batch.application_id,
                event=event,
                dedupe_key=f"batch:{batch.id}:{batch.completed_at.isoformat()}",
                body=_body(event, batch.completed_at, data),
            )
            for (endpoint_id,) in subscribers
        ],
    )


def _body(event: str, at: datetime, data: Mapping[str, Any]) -> str:
    """The message in the format of Standard Webhooks."""
    message = {"type": event, "timestamp": at.astimezone(UTC), "data": data}
    return orjson.dumps(message, option=orjson.OPT_UTC_Z).decode()
