"""Webhook deliveries: queued with the change they announce, sent by jobs, kept as a log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb
from pydantic import Field

from ingest.payloads import DeliveryPayload
from ingest.postgres.database import Connection, load_queries, new_id
from ingest.store.queue import job_control, jobs
from ingest.store.view import UtcTime, View

_SQL = load_queries("notify/deliveries.sql")

NOTIFICATION: Final = "notification"
"""Type of the jobs that deliver. Their own results trigger no notifications."""

DeliveryStatus = Literal["pending", "delivered", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDelivery:
    endpoint_id: UUID
    application_id: UUID
    event: str
    dedupe_key: str
    """Identifies the event: each endpoint gets it once."""
    body: str
    """Fixed: every attempt sends exactly this text, as UTF-8."""
    id: UUID = field(default_factory=new_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDelivery:
    """A delivery to attempt, with its endpoint."""

    id: UUID
    application_id: UUID
    event: str
    body: str
    status: DeliveryStatus
    endpoint_id: UUID
    url: str
    secret: str
    previous_secret: str | None
    """None if it no longer signs."""
    is_enabled: bool
    failing_for: timedelta | None
    """How long the endpoint has been failing; None if it works."""
    wait: timedelta | None
    """Time until a failing endpoint may be tried again; negative: it may be tried now."""
    at: datetime
    """Current time of the database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What was sent, and what came back."""

    headers: Mapping[str, str] | None
    """None: by e-mail."""
    status: int | None
    """HTTP or SMTP status; None: no response."""
    answer: str
    """The beginning of the response's body."""


class Delivery(View):
    id: UUID
    position: int = Field(exclude=True)
    event: str
    status: DeliveryStatus
    attempts: int
    last_status: int | None
    """HTTP or SMTP status; null: no response."""
    last_error: str | None
    last_attempt_at: UtcTime | None
    delivered_at: UtcTime | None
    created_at: UtcTime
    job_id: UUID | None


class DeliveryWithBody(Delivery):
    body: str
    """The exact text that is sent."""
    headers: dict[str, str] | None
    """Of the last attempt that ended, with the signature; null: none did, or by e-mail."""
    answer: str | None
    """The beginning of what the receiver answered to it."""


async def queue(conn: Connection, new: Sequence[NewDelivery]) -> None:
    """Queue deliveries in the caller's transaction; skips events an endpoint already has.

    The caller locks the endpoints (`for key share`), so that they are not deleted meanwhile.
    """
    if not new:
        return
    cursor = await conn.execute(
        _SQL["add"],
        {
            "ids": [delivery.id for delivery in new],
            "endpoint_ids": [delivery.endpoint_id for delivery in new],
            "application_ids": [delivery.application_id for delivery in new],
            "events": [delivery.event for delivery in new],
            "dedupe_keys": [delivery.dedupe_key for delivery in new],
            "bodies": [delivery.body for delivery in new],
            "job_ids": [new_id() for _ in new],
        },
    )
    await jobs.enqueue(
        conn,
        [
            _job(id, job_id=job_id, application_id=application_id)
            for id, job_id, application_id in await cursor.fetchall()
        ],
    )


async def get_due(conn: Connection, id: UUID) -> DueDelivery | None:
    """A delivery with its endpoint; None if it was deleted."""
    async with conn.cursor(row_factory=class_row(DueDelivery)) as cur:
        await cur.execute(_SQL["get_due"], {"id": id})
        return await cur.fetchone()


async def record_attempt(conn: Connection, id: UUID) -> None:
    """Count an attempt that is about to be made."""
    await conn.execute(_SQL["record_attempt"], {"id": id})


async def record_success(conn: Connection, id: UUID, attempt: Attempt) -> None:
    """Record success; the caller has checked that it still owns the job."""
    await conn.execute(_SQL["record_success"], _values(id, attempt))


async def record_failure(conn: Connection, id: UUID, attempt: Attempt, *, error: str) -> None:
    """Record a failed attempt. The end of the job decides whether it was the last one."""
    await conn.execute(_SQL["record_failure"], {**_values(id, attempt), "last_error": error})


def _values(id: UUID, attempt: Attempt) -> dict[str, Any]:
    headers = None if attempt.headers is None else Jsonb(dict(attempt.headers))
    return {
        "id": id,
        "last_status": attempt.status,
        "headers": headers,
        "answer": attempt.answer or None,
    }


async def fail_pending(conn: Connection, job_ids: Sequence[UUID]) -> None:
    """Fail pending deliveries whose jobs ended without success."""
    if job_ids:
        await conn.execute(_SQL["fail_pending"], {"job_ids": list(job_ids)})


async def end_pending(
    conn: Connection,
    *,
    application_id: UUID,
    endpoint_id: UUID,
    reason: str,
    but: UUID | None = None,
) -> None:
    """Cancel the pending deliveries of an endpoint, except that of job `but`.

    Call before locking the endpoint (docs/locks.md).
    """
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["pending_jobs"],
            {"application_id": application_id, "endpoint_id": endpoint_id, "but": but},
        )
        job_ids = await cur.fetchall()
    if job_ids:
        await job_control.cancel(
            conn, application_id=application_id, job_ids=job_ids, reason=reason
        )
        await fail_pending(conn, job_ids)


async def release(conn: Connection, *, endpoint_id: UUID, if_failing: bool = False) -> int:
    """Make deliveries that wait for an endpoint ready; returns how many.

    With `if_failing`, only if the endpoint fails. Call before locking the endpoint (docs/locks.md).
    """
    done = await conn.execute(
        _SQL["release"], {"endpoint_id": endpoint_id, "if_failing": if_failing}
    )
    if done.rowcount:
        await jobs.wake(conn)
    return done.rowcount


async def release_one(conn: Connection, *, endpoint_id: UUID, id: UUID) -> bool:
    """Make the next attempt of a delivery ready now; False if it is not waiting for one."""
    done = await conn.execute(_SQL["release_one"], {"endpoint_id": endpoint_id, "id": id})
    if done.rowcount:
        await jobs.wake(conn)
    return done.rowcount == 1


async def release_missed(conn: Connection) -> int:
    """Make deliveries that still wait for a working endpoint ready; returns how many."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["endpoints_with_missed"])
        endpoint_ids = await cur.fetchall()
    return sum([await release(conn, endpoint_id=id) for id in endpoint_ids])


async def list_deliveries(
    conn: Connection,
    *,
    endpoint_id: UUID,
    status: DeliveryStatus | None,
    limit: int,
    before: int | None,
) -> list[Delivery]:
    """The deliveries of an endpoint, newest first.

    Here and below, the caller has checked which application owns the endpoint.
    """
    async with conn.cursor(row_factory=class_row(Delivery)) as cur:
        await cur.execute(
            _SQL["list"],
            {"endpoint_id": endpoint_id, "status": status, "limit": limit, "before": before},
        )
        return await cur.fetchall()


async def get(conn: Connection, *, endpoint_id: UUID, id: UUID) -> DeliveryWithBody | None:
    async with conn.cursor(row_factory=class_row(DeliveryWithBody)) as cur:
        await cur.execute(_SQL["get"], {"endpoint_id": endpoint_id, "id": id})
        return await cur.fetchone()


async def replay(
    conn: Connection, *, application_id: UUID, endpoint_id: UUID, id: UUID
) -> Delivery | None:
    """Queue a delivery again with the same id and body; None if it is missing or pending."""
    job_id = new_id()
    async with conn.cursor(row_factory=class_row(Delivery)) as cur:
        await cur.execute(_SQL["replay"], {"endpoint_id": endpoint_id, "id": id, "job_id": job_id})
        replayed = await cur.fetchone()
    if replayed is not None:
        await jobs.enqueue(conn, [_job(id, job_id=job_id, application_id=application_id)])
    return replayed


def _job(id: UUID, *, job_id: UUID, application_id: UUID) -> jobs.NewJob:
    return jobs.NewJob(
        id=job_id,
        application_id=application_id,
        type=NOTIFICATION,
        payload=DeliveryPayload(delivery_id=id),
    )
