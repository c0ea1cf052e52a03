"""Webhook endpoints: receive events by a signed POST or by e-mail."""

from typing import Annotated
from uuid import UUID

from fastapi.responses import JSONResponse
from pydantic import AfterValidator, Field

from api.authenticated_route import KeyedRouter
from api.dependencies import Admin, PoolDep, RuntimeDep
from api.idempotency import IdempotentDep, Secret
from api.problems import FieldRejected
from api.schema import pagination
from api.schema.json_model import Body, Flag, Text
from api.schema.pagination import Cursor, Limit, Page
from ingest.errors import Conflict, NotFound
from ingest.model import LONGEST_URL
from ingest.postgres.database import Connection, transaction
from ingest.providers.fetch.allowed_addresses import blocked_reason
from ingest.providers.notify.signing import new_secret
from ingest.settings.settings import Settings
from ingest.settings.smtp_url import is_mail_address
from ingest.store.notify import outbox, webhook_endpoints
from ingest.store.notify.webhook_endpoints import (
    MAILED_EVENTS,
    EndpointChange,
    NotificationEvent,
    WebhookEndpoint,
    is_mailbox,
)
from ingest.store.tenants import api_keys
from ingest.store.view import View

router = KeyedRouter(prefix="/api/webhook-endpoints", tags=["webhook endpoints"])


def _each_once(events: list[NotificationEvent]) -> list[NotificationEvent]:
    return list(dict.fromkeys(events))


Url = Annotated[Text, Field(min_length=1, max_length=LONGEST_URL)]
Description = Annotated[Text, Field(max_length=500)]
Events = Annotated[
    list[NotificationEvent], Field(min_length=1, max_length=50), AfterValidator(_each_once)
]


class NewEndpoint(Body):
    url: Url
    events: Events
    description: Description = ""


class EndpointPatch(Body):
    """Fields that are left out stay unchanged."""

    url: Url | None = None
    events: Events | None = None
    description: Description | None = None
    is_enabled: Flag | None = None


class WithSecret(WebhookEndpoint):
    secret: str | None
    """Shown only once. Null for an e-mail address: e-mail is not signed."""


class Queued(View):
    delivery_id: UUID


@router.post("", status_code=201, response_model=WithSecret)
async def add_endpoint(
    body: NewEndpoint, runtime: RuntimeDep, pool: PoolDep, key: Admin, idempotent: IdempotentDep
) -> JSONResponse:
    """Send events to an address. Only this response contains the secret."""
    url = _checked_url(body.url, runtime.settings)
    _check_events(url, body.events)
    secret = _new_secret(runtime.operator_key.current, key.application_id)

    async def work(conn: Connection) -> WithSecret:
        added = await webhook_endpoints.add(
            conn,
            application_id=key.application_id,
            url=url,
            description=body.description,
            events=body.events,
            secret=secret.clear,
        )
        return _with_secret(added, secret.clear)

    return await idempotent.run_once(
        pool, work, application_id=key.application_id, status=201, secret=secret
    )


@router.get("")
async def list_endpoints(
    pool: PoolDep, key: Admin, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[WebhookEndpoint]:
    """The endpoints of the application, newest first."""
    async with transaction(pool) as conn:
        rows = await webhook_endpoints.list_endpoints(
            conn,
            application_id=key.application_id,
            limit=limit + 1,
            before=pagination.time_and_id(cursor),
        )
    return pagination.page(rows, limit, key=lambda row: (row.created_at, row.id))


@router.get("/{id}")
async def get_endpoint(id: UUID, pool: PoolDep, key: Admin) -> WebhookEndpoint:
    """An endpoint and its health."""
    async with transaction(pool) as conn:
        return await find_endpoint(conn, key.application_id, id)


@router.patch("/{id}")
async def edit_endpoint(
    id: UUID, body: EndpointPatch, runtime: RuntimeDep, pool: PoolDep, key: Admin
) -> WebhookEndpoint:
    """Change an endpoint. `isEnabled: true` restarts one that was disabled because it failed."""
    async with transaction(pool) as conn:
        known = await find_endpoint(conn, key.application_id, id)
        url = None if body.url is None else _checked_url(body.url, runtime.settings)
        _check_events(url or known.url, body.events or known.events)
        change = EndpointChange(
            url=url,
            description=body.description,
            events=body.events,
            is_enabled=body.is_enabled,
        )
        edited = await webhook_endpoints.edit(
            conn, application_id=key.application_id, id=id, change=change
        )
    if edited is None:
        raise NotFound("webhook endpoint")
    return edited


@router.delete("/{id}", status_code=204)
async def delete_endpoint(id: UUID, pool: PoolDep, key: Admin) -> None:
    """Delete an endpoint and its log. Waiting deliveries are not sent."""
    async with transaction(pool) as conn:
        if not await webhook_endpoints.delete(conn, application_id=key.application_id, id=id):
            raise NotFound("webhook endpoint")


@router.post("/{id}/rotate-secret", response_model=WithSecret)
async def rotate_secret(
    id: UUID, runtime: RuntimeDep, pool: PoolDep, key: Admin, idempotent: IdempotentDep
) -> JSONResponse:
    """Sign with a new secret, and for 24 hours also with the old one."""
    secret = _new_secret(runtime.operator_key.current, key.application_id)

    async def work(conn: Connection) -> WithSecret:
        if (await find_endpoint(conn, key.application_id, id)).is_mailbox:
            raise Conflict("e-mail notifications are not signed", code="not_signed")
        rotated = await webhook_endpoints.rotate(
            conn, application_id=key.application_id, id=id, secret=secret.clear
        )
        if rotated is None:
            raise NotFound("webhook endpoint")
        return _with_secret(rotated, secret.clear)

    return await idempotent.run_once(
        pool, work, application_id=key.application_id, status=200, secret=secret
    )


@router.post("/{id}/test", status_code=202, response_model=Queued)
async def send_test(id: UUID, pool: PoolDep, key: Admin, idempotent: IdempotentDep) -> JSONResponse:
    """Send the event `endpoint.test` at once, even if the endpoint is failing."""

    async def work(conn: Connection) -> Queued:
        endpoint = await find_enabled_endpoint(conn, key.application_id, id)
        delivery_id = await outbox.queue_test(conn, endpoint)
        await webhook_endpoints.allow_attempt(conn, id)
        return Queued(delivery_id=delivery_id)

    return await idempotent.run_once(pool, work, application_id=key.application_id, status=202)


async def find_endpoint(conn: Connection, application_id: UUID, id: UUID) -> WebhookEndpoint:
    """Find the endpoint; raises NotFound if it is unknown or belongs to another application."""
    endpoint = await webhook_endpoints.get(conn, application_id=application_id, id=id)
    if endpoint is None:
        raise NotFound("webhook endpoint")
    return endpoint


async def find_enabled_endpoint(
    conn: Connection, application_id: UUID, id: UUID
) -> WebhookEndpoint:
    """Find the endpoint; raises Conflict if it is disabled."""
    endpoint = await find_endpoint(conn, application_id, id)
    if not endpoint.is_enabled:
        raise Conflict("the endpoint is disabled", code="endpoint_disabled")
    return endpoint


def _new_secret(operator_key: str, application_id: UUID) -> Secret:
    def derive(seed: str) -> str:
        return new_secret(api_keys.derived(operator_key, purpose="webhook", seed=seed))

    async def is_valid(conn: Connection, secret: str) -> bool:
        return await webhook_endpoints.is_secret_in_use(
            conn, application_id=application_id, secret=secret
        )

    return Secret(member="secret", derive=derive, is_valid=is_valid)


def _with_secret(endpoint: WebhookEndpoint, secret: str) -> WithSecret:
    return WithSecret(**dict(endpoint), secret=None if endpoint.is_mailbox else secret)


def _checked_url(url: str, settings: Settings) -> str:
    """Strip and validate the URL; raises FieldRejected if it is not allowed.

    A host name is resolved and checked at each delivery only.
    """
    url = url.strip()
    if is_mailbox(url):
        if settings.smtp_server is None:
            raise _rejected("url", "mailto: needs a mail server: INGEST_SMTP_URL is not set")
        if not is_mail_address(url.removeprefix("mailto:")):
            raise _rejected("url", "mailto: needs one address, as in mailto:ops@example.com")
        return url
    reason = blocked_reason(url, allow=settings.fetch_allow)
    if reason is not None:
        raise _rejected("url", reason)
    return url


def _check_events(url: str, events: list[NotificationEvent]) -> None:
    unmailed = sorted(set(events) - MAILED_EVENTS)
    if is_mailbox(url) and unmailed:
        raise _rejected("events", f"these events are not sent by e-mail: {', '.join(unmailed)}")


def _rejected(field: str, message: str) -> FieldRejected:
    return FieldRejected(message, loc=("body", field))
