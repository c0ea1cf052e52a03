"""Endpoints, events, and a real worker that only sends deliveries."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast
from uuid import UUID

from psycopg.rows import dict_row

from ingest.handlers.context import Context, Web
from ingest.handlers.notification import deliver
from ingest.postgres.database import Connection, Pool
from ingest.providers.fetch.fetcher import Fetcher
from ingest.providers.notify.mail import Mailer
from ingest.providers.notify.signing import new_secret
from ingest.store.notify import outbox, webhook_endpoints
from ingest.store.notify.webhook_endpoints import NotificationEvent, WebhookEndpoint
from ingest.store.queue import jobs
from ingest.store.queue.jobs import ClaimedJob, Ended
from ingest.store.sources import job_events
from tests.support.queue_builders import claim
from tests.support.running_worker import running_worker, until

ALL: Sequence[NotificationEvent] = (
    "source.completed",
    "source.partial",
    "source.failed",
    "source.review_needed",
    "batch.completed",
    "rescrape.completed",
    "job.failed",
)


class _Web:
    def __init__(self, fetcher: Fetcher) -> None:
        self.fetcher = fetcher


class DeliveryContext:
    def __init__(self, pool: Pool, fetcher: Fetcher, mailer: Mailer | None) -> None:
        self.pool = pool
        self.web = cast(Web, _Web(fetcher))
        self.mailer = mailer


async def add_endpoint(
    conn: Connection,
    application_id: UUID,
    url: str,
    *,
    events: Sequence[NotificationEvent] = ALL,
    secret: str | None = None,
) -> WebhookEndpoint:
    async with conn.transaction():
        return await webhook_endpoints.add(
            conn,
            application_id=application_id,
            url=url,
            description="",
            events=events,
            secret=secret or new_secret(),
        )


@asynccontextmanager
async def delivering(
    dsn: str, pool: Pool, fetcher: Fetcher, *, mailer: Mailer | None = None
) -> AsyncIterator[None]:
    """Run a worker that sends deliveries while the block runs."""
    context = cast(Context, DeliveryContext(pool, fetcher, mailer))
    async with running_worker(dsn, pool, {"notification": deliver}, context=context):
        yield


async def send_test(conn: Connection, endpoint: WebhookEndpoint, count: int = 1) -> list[UUID]:
    """Queue deliveries of the event `endpoint.test`; returns their ids."""
    async with conn.transaction():
        return [await outbox.queue_test(conn, endpoint) for _ in range(count)]


async def end(conn: Connection, job: ClaimedJob, status: str, **columns: Any) -> None:
    """Write what a worker writes at the end of an attempt, without a document."""
    ended = Ended(job=job, status=cast(Any, status), **columns)
    if status in ("completed", "review_needed"):
        await conn.execute(
            "update rag.knowledge_sources set chunk_count = 1 where id = %s",
            [job.knowledge_source_id],
        )
    async with conn.transaction():
        await jobs.finish(conn, [ended])
        await job_events.attempts_ended(conn, [ended])


async def end_one(conn: Connection, status: str, **columns: Any) -> ClaimedJob:
    """Claim the job of a file and end it."""
    [job] = await claim(conn)
    await end(conn, job, status, **columns)
    return job


async def rows(conn: Connection) -> list[dict[str, Any]]:
    """All deliveries, in order."""
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute("select * from rag.webhook_deliveries order by position")
        return await cur.fetchall()


async def events(conn: Connection) -> list[str]:
    """Events of all deliveries, in order."""
    return [row["event"] for row in await rows(conn)]


async def endpoint_row(conn: Connection, id: UUID) -> dict[str, Any]:
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute("select * from rag.webhook_endpoints where id = %s", [id])
        row = await cur.fetchone()
    assert row is not None
    return row


async def pass_time(conn: Connection) -> None:
    """Let the pauses of deliveries and endpoints end now."""
    await conn.execute("update rag.webhook_endpoints set retry_at = now() where retry_at > now()")
    await conn.execute(
        "update rag.processing_jobs set run_at = null, wait_reason = null "
        "where status = 'pending' and type = 'notification'"
    )
    await jobs.wake(conn)


async def until_delivery(conn: Connection, id: UUID, **wanted: Any) -> dict[str, Any]:
    """Wait until a delivery and its job have these values (`job_status`, `wait_reason` …)."""

    async def reached() -> dict[str, Any] | None:
        async with conn.cursor(row_factory=dict_row) as cur:
            await cur.execute(
                "select delivery.*, job.status as job_status, job.wait_reason, "
                "job.attempts as job_attempts, job.last_error_code, job.run_at "
                "from rag.webhook_deliveries as delivery "
                "join rag.processing_jobs as job on job.id = delivery.job_id "
                "where delivery.id = %s",
                [id],
            )
            row = await cur.fetchone()
        assert row is not None
        return row if all(row[name] == value for name, value in wanted.items()) else None

    return cast(dict[str, Any], await until(reached))


async def data_of(conn: Connection, event: str) -> dict[str, Any]:
    [row] = [row for row in await rows(conn) if row["event"] == event]
    message: dict[str, Any] = json.loads(row["body"])
    assert message["type"] == event
    assert message["timestamp"].endswith("Z")
    data: dict[str, Any] = message["data"]
    return data


async def batch_of(conn: Connection, source_id: UUID) -> UUID:
    cursor = await conn.execute(
        "select batch_id from rag.knowledge_sources where id = %s", [source_id]
    )
    row = await cursor.fetchone()
    assert row is not None
    return UUID(str(row[0]))
