"""The delivery log of a webhook endpoint: deliveries, their outcome, and replay."""

from typing import Annotated
from uuid import UUID

from fastapi import Path, Query
from fastapi.responses import JSONResponse

from api.authenticated_route import KeyedRouter
from api.dependencies import Admin, PoolDep
from api.idempotency import IdempotentDep
from api.routes.webhooks.webhook_endpoints import find_enabled_endpoint, find_endpoint
from api.schema import pagination
from api.schema.pagination import Cursor, Limit, Page
from ingest.errors import Conflict, NotFound
from ingest.postgres.database import Connection, transaction
from ingest.store.notify import deliveries, webhook_endpoints
from ingest.store.notify.deliveries import Delivery, DeliveryStatus, DeliveryWithBody

router = KeyedRouter(
    prefix="/api/webhook-endpoints/{id}/deliveries",
    tags=["webhook endpoints"],
)

DeliveryId = Annotated[UUID, Path(alias="deliveryId")]


@router.get("")
async def list_deliveries(
    id: UUID,
    pool: PoolDep,
    key: Admin,
    *,
    status: Annotated[DeliveryStatus | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Delivery]:
    """The deliveries of the endpoint, newest first."""
    async with transaction(pool) as conn:
        await find_endpoint(conn, key.application_id, id)
        rows = await deliveries.list_deliveries(
            conn,
            endpoint_id=id,
            status=status,
            limit=limit + 1,
            before=pagination.position(cursor),
        )
    return pagination.page(rows, limit, key=lambda row: (row.position,))


@router.get("/{deliveryId}")
async def get_delivery(
    id: UUID, delivery_id: DeliveryId, pool: PoolDep, key: Admin
) -> DeliveryWithBody:
    """A delivery with its body, and the headers and the answer of its last attempt."""
    async with transaction(pool) as conn:
        await find_endpoint(conn, key.application_id, id)
        found = await deliveries.get(conn, endpoint_id=id, id=delivery_id)
    if found is None:
        raise NotFound("delivery")
    return found


@router.post("/{deliveryId}/replay", status_code=202, response_model=Delivery)
async def replay_delivery(
    id: UUID, delivery_id: DeliveryId, pool: PoolDep, key: Admin, idempotent: IdempotentDep
) -> JSONResponse:
    """Send a delivery again, with the same id and body. A delivery that waits is sent now.

    If it succeeds, all waiting deliveries of the endpoint are sent too.
    """

    async def work(conn: Connection) -> Delivery:
        await find_enabled_endpoint(conn, key.application_id, id)
        known = await deliveries.get(conn, endpoint_id=id, id=delivery_id)
        if known is None:
            raise NotFound("delivery")
        replayed = await deliveries.replay(
            conn, application_id=key.application_id, endpoint_id=id, id=delivery_id
        )
        if replayed is None and not await deliveries.release_one(
            conn, endpoint_id=id, id=delivery_id
        ):
            raise Conflict("the delivery is being sent", code="delivery_pending")
        await webhook_endpoints.allow_attempt(conn, id)
        return replayed or Delivery(**dict(known))

    return await idempotent.run_once(pool, work, application_id=key.application_id, status=202)
