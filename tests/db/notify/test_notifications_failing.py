"""Endpoints that fail: one delivery at a time tries them, and in the end they are disabled."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from ingest.postgres.database import Connection, Pool
from ingest.providers.fetch.fetcher import Fetcher
from ingest.store.notify import outbox, webhook_endpoints
from ingest.store.notify.webhook_endpoints import EndpointChange
from tests.servers.web_server import response
from tests.servers.webhook_sink import DOWN, webhook_sink
from tests.support.notification_fixtures import (
    add_endpoint,
    delivering,
    endpoint_row,
    pass_time,
    rows,
    send_test,
    until_delivery,
)
from tests.support.queue_builders import job_row
from tests.support.running_worker import until


async def test_endpoint_answering_410_is_disabled_at_once(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    async with webhook_sink(response(status=410)) as sink, delivering(dsn, pool, fetch):
        endpoint = await add_endpoint(conn, application_id, sink.url)
        [id] = await send_test(conn, endpoint)
        row = await until_delivery(conn, id, status="failed", job_status="failed")

    health = await endpoint_row(conn, endpoint.id)
    assert (health["is_enabled"], health["disabled_reason"]) == (
        False,
        "the receiver responded with 410 Gone",
    )
    assert (row["attempts"], row["last_error_code"]) == (1, "delivery_failed")


@pytest.mark.parametrize(
    ("past", "reason"),
    [
        ("failing_since = now() - interval '25 hours'", "nothing was delivered for a day"),
        ("failures = 99, failing_since = now()", "100 attempts in a row have failed"),
    ],
)
async def test_an_endpoint_that_fails_for_too_long_is_disabled_with_all_that_waits_for_it(
    dsn: str,
    pool: Pool,
    conn: Connection,
    application_id: UUID,
    fetch: Fetcher,
    past: str,
    reason: str,
) -> None:
    async with webhook_sink(DOWN) as sink:
        endpoint = await add_endpoint(conn, application_id, sink.url)
        await conn.execute(f"update rag.webhook_endpoints set retry_at = now(), {past}".encode())
        ids = await send_test(conn, endpoint, 3)
        async with delivering(dsn, pool, fetch):
            ended = [await until_delivery(conn, id, status="failed") for id in ids]

            async def all_over() -> bool:
                states = [(await job_row(conn, row["job_id"]))["status"] for row in ended]
                # One that begins between the disabling and the cancelling fails by itself.
                return "failed" in states and set(states) <= {"cancelled", "failed"}

            await until(all_over)

    assert len(sink.requests) == 1
    health = await endpoint_row(conn, endpoint.id)
    assert not health["is_enabled"]
    assert health["disabled_reason"] == f"{reason}: the receiver responded with HTTP 503"
    assert await _open_jobs(conn) == 0


async def test_failing_endpoint_is_probed_by_one_delivery(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    async with webhook_sink(DOWN, DOWN) as sink, delivering(dsn, pool, fetch):
        endpoint = await add_endpoint(conn, application_id, sink.url)
        [first] = await send_test(conn, endpoint)
        await until_delivery(conn, first, job_status="pending", job_attempts=1)
        others = await send_test(conn, endpoint, 3)
        for id in others:
            await until_delivery(conn, id, wait_reason="endpoint_failing", job_attempts=0)
        assert len(sink.requests) == 1
        await pass_time(conn)
        await sink.got(2)
        await until(lambda: _waiting(conn, 4))
        assert len(sink.requests) == 2  # one of the four had the turn
        await pass_time(conn)
        await sink.got(3)
        await until(lambda: _all_delivered(conn, 4))

    assert len(sink.requests) == 6


async def test_a_success_lets_all_that_waits_for_its_endpoint_go_at_once(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    async with webhook_sink(DOWN) as sink, delivering(dsn, pool, fetch):
        endpoint = await add_endpoint(conn, application_id, sink.url)
        [first] = await send_test(conn, endpoint)
        await until_delivery(conn, first, job_status="pending", job_attempts=1)
        neighbour = await add_endpoint(conn, application_id, sink.url)
        await conn.execute(
            "update rag.webhook_endpoints set failing_since = now(), "
            "retry_at = now() + interval '8 hours'"
        )
        [elsewhere] = await send_test(conn, neighbour)
        others = await send_test(conn, endpoint, 20)
        for id in (elsewhere, *others):
            await until_delivery(conn, id, wait_reason="endpoint_failing", job_status="pending")
        async with conn.transaction():
            await outbox.queue_test(conn, endpoint)
            await webhook_endpoints.allow_attempt(conn, endpoint.id)
        told = [await until_delivery(conn, id, status="delivered") for id in others]
        left = await until_delivery(conn, elsewhere, wait_reason="endpoint_failing")

    assert {row["attempts"] for row in told} == {1}
    assert left["run_at"] - left["created_at"] > timedelta(hours=7)


async def test_an_endpoint_that_is_enabled_gets_at_once_what_waits_for_it(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    async with webhook_sink() as sink, delivering(dsn, pool, fetch):
        endpoint = await add_endpoint(conn, application_id, sink.url)
        await conn.execute(
            "update rag.webhook_endpoints set failing_since = now(), "
            "retry_at = now() + interval '8 hours'"
        )
        [id] = await send_test(conn, endpoint)
        await until_delivery(conn, id, wait_reason="endpoint_failing", job_status="pending")
        async with conn.transaction():
            await webhook_endpoints.edit(
                conn,
                application_id=application_id,
                id=endpoint.id,
                change=EndpointChange(is_enabled=True),
            )
        await until_delivery(conn, id, status="delivered")

    assert len(sink.requests) == 1


async def test_hanging_endpoint_does_not_delay_others(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    async with webhook_sink() as slow, webhook_sink() as quick, delivering(dsn, pool, fetch):
        slow.gate = asyncio.Event()
        hanging = await add_endpoint(conn, application_id, slow.url)
        neighbour = await add_endpoint(conn, application_id, quick.url)
        await conn.execute(
            "update rag.webhook_endpoints set failing_since = now(), retry_at = now() "
            "where id = %s",
            [hanging.id],
        )
        await send_test(conn, hanging, 6)
        [id] = await send_test(conn, neighbour)
        await until_delivery(conn, id, status="delivered")
        assert len(slow.requests) == 1
        slow.gate.set()
        await until(lambda: _all_delivered(conn, 7))


async def _all_delivered(conn: Connection, count: int) -> bool:
    """Whether so many are; time passes for those that came while another one tried."""
    await pass_time(conn)
    return [row["status"] for row in await rows(conn)] == ["delivered"] * count


async def _waiting(conn: Connection, count: int) -> bool:
    cursor = await conn.execute(
        "select count(*) from rag.processing_jobs where status = 'pending' and run_at is not null"
    )
    return await cursor.fetchone() == (count,)


async def _open_jobs(conn: Connection) -> int:
    cursor = await conn.execute(
        "select from rag.processing_jobs where status in ('pending', 'processing')"
    )
    return cursor.rowcount
