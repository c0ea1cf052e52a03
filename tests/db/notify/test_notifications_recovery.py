"""When an endpoint recovers, what waits for it goes at once, in order and at a bounded rate."""

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

import pytest
from psycopg import AsyncConnection

from ingest.postgres.database import Connection, Pool
from ingest.providers.fetch.fetcher import Fetcher
from ingest.providers.notify.signing import new_secret
from ingest.store.notify import deliveries, webhook_endpoints
from ingest.store.notify.webhook_endpoints import EndpointChange, WebhookEndpoint
from tests.servers.webhook_sink import DOWN, webhook_sink
from tests.support.notification_fixtures import (
    add_endpoint,
    delivering,
    endpoint_row,
    rows,
    send_test,
    until_delivery,
)

Change = Callable[[Connection, WebhookEndpoint], Awaitable[object]]


async def put_off(
    conn: Connection, endpoint: WebhookEndpoint, *, reason: str, count: int
) -> list[UUID]:
    """Deliveries that wait for hours for an endpoint which fails."""
    async with conn.transaction():  # no worker may see them before
        ids = await send_test(conn, endpoint, count)
        await conn.execute(
            "update rag.processing_jobs set run_at = now() + interval '8 hours', wait_reason = %s "
            "where type = 'notification'",
            [reason],
        )
        await conn.execute(
            "update rag.webhook_endpoints set failing_since = now() - interval '3 hours', "
            "failures = 4, retry_at = now() + interval '8 hours'"
        )
    return ids


async def waits(conn: Connection) -> list[float | None]:
    """For how many seconds each delivery still waits, the oldest first; None: not at all."""
    cursor = await conn.execute(
        "select extract(epoch from job.run_at - now())::float8 from rag.webhook_deliveries as it "
        "join rag.processing_jobs as job on job.id = it.job_id order by it.position"
    )
    return [row[0] for row in await cursor.fetchall()]


async def test_the_first_success_frees_deliveries_that_back_off_after_failures_of_their_own(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    async with webhook_sink() as sink, delivering(dsn, pool, fetch):
        endpoint = await add_endpoint(conn, application_id, sink.url)
        ids = await put_off(conn, endpoint, reason="retry", count=15)
        async with conn.transaction():
            await send_test(conn, endpoint)
            await webhook_endpoints.allow_attempt(conn, endpoint.id)
        for id in ids:
            await until_delivery(conn, id, status="delivered")

    assert len(sink.requests) == 16


async def edit(conn: Connection, endpoint: WebhookEndpoint, **change: object) -> None:
    async with conn.transaction():
        await webhook_endpoints.edit(
            conn,
            application_id=endpoint.application_id,
            id=endpoint.id,
            change=EndpointChange(**change),  # type: ignore[arg-type]  # fields by name
        )


async def rotate(conn: Connection, endpoint: WebhookEndpoint) -> None:
    async with conn.transaction():
        await webhook_endpoints.rotate(
            conn,
            application_id=endpoint.application_id,
            id=endpoint.id,
            secret=new_secret(),
        )


@pytest.mark.parametrize(
    "change",
    [
        lambda conn, endpoint: edit(conn, endpoint, is_enabled=True),
        lambda conn, endpoint: edit(conn, endpoint, url="https://moved.example"),
        rotate,
    ],
    ids=["enable", "url", "secret"],
)
async def test_an_update_of_the_endpoint_frees_what_waits_the_oldest_first_at_a_bounded_rate(
    conn: Connection, application_id: UUID, change: Change
) -> None:
    endpoint = await add_endpoint(conn, application_id, "https://hooks.example")
    await put_off(conn, endpoint, reason="endpoint_failing", count=50)

    await change(conn, endpoint)

    left = await waits(conn)
    later: Sequence[float] = [wait for wait in left if wait is not None]
    assert left[:10] == [None] * 10
    assert len(later) == 40
    assert later == sorted(later)
    assert later[-1] <= 2
    health = await endpoint_row(conn, endpoint.id)
    assert (health["failing_since"], health["failures"], health["retry_at"]) == (None, 0, None)


async def test_description_change_does_not_release_deliveries(
    conn: Connection, application_id: UUID
) -> None:
    endpoint = await add_endpoint(conn, application_id, "https://hooks.example")
    await put_off(conn, endpoint, reason="retry", count=1)

    await edit(conn, endpoint, description="ours")

    assert (await waits(conn))[0] is not None


async def test_missed_delivery_is_retried_soon_after_recovery(
    conn: Connection, application_id: UUID
) -> None:
    endpoint = await add_endpoint(conn, application_id, "https://hooks.example")
    await put_off(conn, endpoint, reason="endpoint_failing", count=3)
    still_failing = await deliveries.release_missed(conn)
    # Put off by workers that saw it fail a moment before another one succeeded.
    await conn.execute("update rag.webhook_endpoints set failing_since = null, retry_at = null")

    assert (still_failing, await deliveries.release_missed(conn)) == (0, 3)
    assert await waits(conn) == [None] * 3


async def test_delivery_in_flight_during_recovery_blocks_no_other(
    dsn: str, conn: Connection, application_id: UUID
) -> None:
    endpoint = await add_endpoint(conn, application_id, "https://hooks.example")
    await put_off(conn, endpoint, reason="endpoint_failing", count=2)
    async with await AsyncConnection.connect(dsn) as other:
        await other.execute("select from rag.processing_jobs order by position limit 1 for update")
        async with conn.transaction():
            await webhook_endpoints.record_success(conn, endpoint.id)
    freed_first = [wait is None for wait in await waits(conn)]
    await deliveries.release_missed(conn)

    assert freed_first == [False, True]
    assert await waits(conn) == [None, None]


async def test_still_failing_endpoint_gets_one_attempt(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    async with webhook_sink(DOWN, DOWN, DOWN) as sink, delivering(dsn, pool, fetch):
        endpoint = await add_endpoint(conn, application_id, sink.url)
        ids = await put_off(conn, endpoint, reason="endpoint_failing", count=5)
        async with conn.transaction():
            assert await deliveries.release_one(conn, endpoint_id=endpoint.id, id=ids[0])
            await webhook_endpoints.allow_attempt(conn, endpoint.id)
        await until_delivery(conn, ids[0], job_status="pending", wait_reason="retry")

    assert len(sink.requests) == 1
    assert [row["attempts"] for row in await rows(conn)] == [1, 0, 0, 0, 0]
    assert min(wait or 0 for wait in (await waits(conn))[1:]) > 3600
