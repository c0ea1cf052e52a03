"""Webhook endpoints: their event subscriptions, secrets and health."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from uuid import UUID

from psycopg.rows import class_row
from pydantic import Field

from ingest.errors import Conflict
from ingest.postgres.database import Connection, load_queries, new_id
from ingest.store.notify import deliveries
from ingest.store.view import UtcTime, View

_SQL = load_queries("notify/webhook_endpoints.sql")

NotificationEvent = Literal[
    "source.completed",
    "source.partial",
    "source.failed",
    "source.review_needed",
    "batch.completed",
    "rescrape.completed",
    "job.failed",
]

MAILED_EVENTS: Final[frozenset[NotificationEvent]] = frozenset(
    {"batch.completed", "rescrape.completed", "job.failed"}
)
"""Events sent by e-mail: one message per file would be too many."""

MOST_ENDPOINTS: Final = 20
"""Per application."""
OVERLAP: Final = timedelta(hours=24)
"""How long the old secret signs along with the new one."""


class WebhookEndpoint(View):
    """An endpoint, without its secrets."""

    id: UUID
    application_id: UUID = Field(exclude=True)
    url: str
    events: list[NotificationEvent]
    description: str
    is_enabled: bool
    disabled_reason: str | None
    failing_since: UtcTime | None
    failures: int
    """Consecutive failed attempts."""
    previous_secret_until: UtcTime | None
    created_at: UtcTime
    updated_at: UtcTime

    @property
    def is_mailbox(self) -> bool:
        return is_mailbox(self.url)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointChange:
    """Changes to an endpoint; None leaves a field unchanged."""

    url: str | None = None
    description: str | None = None
    events: Sequence[NotificationEvent] | None = None
    is_enabled: bool | None = None

    @property
    def resets_failures(self) -> bool:
        """Whether the change resets the endpoint's failures, so that it is tried at once."""
        return self.is_enabled is True or (self.url is not None and self.is_enabled is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointHealth:
    failures: int
    failing_for: timedelta


def is_mailbox(url: str) -> bool:
    return url.startswith("mailto:")


async def add(
    conn: Connection,
    *,
    application_id: UUID,
    url: str,
    description: str,
    events: Sequence[NotificationEvent],
    secret: str,
) -> WebhookEndpoint:
    """Add an endpoint. Raises Conflict if the application already has `MOST_ENDPOINTS`."""
    await conn.execute(_SQL["lock_application"], {"application_id": application_id})
    added = await _one(
        conn,
        "add",
        id=new_id(),
        application_id=application_id,
        url=url,
        description=description,
        events=list(events),
        secret=secret,
        most=MOST_ENDPOINTS,
    )
    if added is None:
        raise Conflict(
            f"an application has at most {MOST_ENDPOINTS} webhook endpoints",
            code="too_many_endpoints",
        )
    return added


async def get(conn: Connection, *, application_id: UUID, id: UUID) -> WebhookEndpoint | None:
    return await _one(conn, "get", application_id=application_id, id=id)


async def is_secret_in_use(conn: Connection, *, application_id: UUID, secret: str) -> bool:
    """Whether an endpoint of the application signs with this secret, as current or previous one."""
    asked = {"application_id": application_id, "secret": secret}
    row = await (await conn.execute(_SQL["is_secret_in_use"], asked)).fetchone()
    return row is not None and bool(row[0])


async def list_endpoints(
    conn: Connection, *, application_id: UUID, limit: int, before: tuple[datetime, UUID] | None
) -> list[WebhookEndpoint]:
    """The endpoints of an application, newest first."""
    time, id = before or (None, None)
    async with conn.cursor(row_factory=class_row(WebhookEndpoint)) as cur:
        await cur.execute(
            _SQL["list"],
            {
                "application_id": application_id,
                "before_time": time,
                "before_id": id,
                "limit": limit,
            },
        )
        return await cur.fetchall()


async def edit(
    conn: Connection, *, application_id: UUID, id: UUID, change: EndpointChange
) -> WebhookEndpoint | None:
    """Change an endpoint; None if it does not exist.

    Disabling cancels pending deliveries; enabling or changing the URL sends them.
    """
    if change.is_enabled is False:
        await deliveries.end_pending(
            conn, application_id=application_id, endpoint_id=id, reason="the endpoint was disabled"
        )
    elif change.resets_failures and await get(conn, application_id=application_id, id=id):
        await deliveries.release(conn, endpoint_id=id)
    return await _one(
        conn,
        "edit",
        application_id=application_id,
        id=id,
        url=change.url,
        description=change.description,
        events=None if change.events is None else list(change.events),
        is_enabled=change.is_enabled,
        resets_failures=change.resets_failures,
    )


async def delete(conn: Connection, *, application_id: UUID, id: UUID) -> bool:
    """Remove an endpoint with its deliveries; False if it does not exist."""
    await deliveries.end_pending(
        conn, application_id=application_id, endpoint_id=id, reason="the endpoint was deleted"
    )
    done = await conn.execute(_SQL["delete"], {"application_id": application_id, "id": id})
    return done.rowcount == 1


async def rotate(
    conn: Connection, *, application_id: UUID, id: UUID, secret: str
) -> WebhookEndpoint | None:
    """Sign with `secret` from now on, and for `OVERLAP` with the old one too.

    Deliveries that wait for the endpoint are sent.
    """
    if await get(conn, application_id=application_id, id=id):
        await deliveries.release(conn, endpoint_id=id)
    return await _one(
        conn, "rotate", application_id=application_id, id=id, secret=secret, overlap=OVERLAP
    )


async def allow_attempt(conn: Connection, id: UUID) -> None:
    """Allow an attempt at a failing endpoint now."""
    await conn.execute(_SQL["allow_attempt"], {"id": id})


async def reserve_probe(conn: Connection, id: UUID) -> bool:
    """Whether the caller may try a failing endpoint now; blocks other attempts for a minute."""
    return (await conn.execute(_SQL["reserve_probe"], {"id": id})).rowcount == 1


async def record_failure(
    conn: Connection, id: UUID, *, is_probe: bool, pause: timedelta
) -> EndpointHealth | None:
    """Record a failed attempt and pause the endpoint for `pause`; None if it was deleted."""
    async with conn.cursor(row_factory=class_row(EndpointHealth)) as cur:
        await cur.execute(_SQL["record_failure"], {"id": id, "is_probe": is_probe, "pause": pause})
        return await cur.fetchone()


async def record_success(conn: Connection, id: UUID) -> None:
    """Record a successful attempt; makes deliveries that waited for the endpoint ready."""
    await deliveries.release(conn, endpoint_id=id, if_failing=True)
    await conn.execute(_SQL["record_success"], {"id": id})


async def disable(conn: Connection, id: UUID, *, reason: str) -> None:
    """Disable an endpoint. Call `deliveries.end_pending` afterwards to cancel its deliveries."""
    await conn.execute(_SQL["disable"], {"id": id, "reason": reason})


async def _one(conn: Connection, query: str, **values: Any) -> WebhookEndpoint | None:
    async with conn.cursor(row_factory=class_row(WebhookEndpoint)) as cur:
        await cur.execute(_SQL[query], values)
        return await cur.fetchone()
