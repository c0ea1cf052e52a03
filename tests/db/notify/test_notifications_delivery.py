"""Deliveries on their way: signed, repeated with the same id and body, given up in the end."""

from datetime import timedelta
from typing import cast
from uuid import UUID

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from ingest.errors import LeaseLost
from ingest.handlers.context import Context, Progress
from ingest.handlers.notification import deliver
from ingest.payloads import DeliveryPayload
from ingest.postgres.database import Connection, Pool
from ingest.providers.fetch.fetcher import Fetcher
from ingest.providers.notify.signing import new_secret
from ingest.store.notify import deliveries, webhook_endpoints
from ingest.store.notify.webhook_endpoints import EndpointChange
from ingest.store.queue import jobs
from ingest.ticks.recovery import recover_stale_jobs
from tests.servers.web_server import redirect, response
from tests.servers.webhook_sink import DOWN, verified, webhook_sink
from tests.support.fetchers import Names, fetcher
from tests.support.notification_fixtures import (
    DeliveryContext,
    add_endpoint,
    delivering,
    end_one,
    endpoint_row,
    pass_time,
    rows,
    send_test,
    until_delivery,
)
from tests.support.queue_builders import claim, job_row, upload
from tests.support.running_worker import until


async def test_retried_delivery_has_the_same_body_and_a_new_signature(
    dsn: str,
    pool: Pool,
    conn: Connection,
    application_id: UUID,
    fetch: Fetcher,
) -> None:
    secret = new_secret()
    async with webhook_sink(DOWN, DOWN) as sink, delivering(dsn, pool, fetch):
        endpoint = await add_endpoint(conn, application_id, sink.url, secret=secret)
        await upload(conn, application_id, "a.txt")
        await end_one(conn, "completed")
        [row] = await rows(conn)
        await until_delivery(conn, row["id"], job_status="pending", job_attempts=1)
        # Receivers refuse what was signed more than five minutes ago.
        await conn.execute("update rag.webhook_deliveries set created_at = now() - interval '1 h'")
        await pass_time(conn)
        waiting = await until_delivery(conn, row["id"], job_status="pending", job_attempts=2)
        await pass_time(conn)
        told = await until_delivery(conn, row["id"], status="delivered", job_status="completed")

    assert [verified(request, secret)["type"] for request in sink.requests] == [
        "source.completed"
    ] * 3
    assert {request.body for request in sink.requests} == {row["body"].encode()}
    assert {request.headers["webhook-id"] for request in sink.requests} == {str(row["id"])}
    assert {request.headers["content-type"] for request in sink.requests} == {"application/json"}
    assert (waiting["last_status"], waiting["last_error"]) == (
        503,
        "the receiver responded with HTTP 503: out of order",
    )
    assert (waiting["last_error_code"], waiting["wait_reason"]) == ("delivery_failed", "retry")
    assert (told["attempts"], told["last_status"], told["last_error"]) == (3, 204, None)
    health = await endpoint_row(conn, endpoint.id)
    assert (health["failing_since"], health["failures"], health["retry_at"]) == (None, 0, None)


async def test_the_log_keeps_what_was_sent_and_answered_last(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    secret = new_secret()
    taken = response(b"taken, Bearer abcdefghijklmnop123456\0", status=202)
    async with webhook_sink(DOWN, taken) as sink, delivering(dsn, pool, fetch):
        endpoint = await add_endpoint(conn, application_id, sink.url, secret=secret)
        [id] = await send_test(conn, endpoint)
        await until_delivery(conn, id, job_status="pending", job_attempts=1)
        refused = await deliveries.get(conn, endpoint_id=endpoint.id, id=id)
        await pass_time(conn)
        await until_delivery(conn, id, status="delivered", job_status="completed")
        accepted = await deliveries.get(conn, endpoint_id=endpoint.id, id=id)

    assert refused is not None
    assert accepted is not None
    assert (refused.last_status, refused.answer) == (503, "out of order")
    assert (accepted.last_status, accepted.last_error) == (202, None)
    assert accepted.answer is not None
    assert accepted.answer.startswith("taken")
    assert "abcdefghijklmnop123456" not in accepted.answer
    for kept, request in zip((refused, accepted), sink.requests, strict=True):
        assert kept.headers is not None
        assert kept.headers.items() <= request.headers.items()
        Webhook(secret).verify(kept.body, kept.headers)
        assert secret not in str(kept.headers)


async def test_after_a_rotation_the_old_and_the_new_secret_verify_until_the_old_one_ends(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    old, new = new_secret(), new_secret()
    async with webhook_sink() as sink, delivering(dsn, pool, fetch):
        endpoint = await add_endpoint(conn, application_id, sink.url, secret=old)
        async with conn.transaction():
            await webhook_endpoints.rotate(
                conn, application_id=application_id, id=endpoint.id, secret=new
            )
        await send_test(conn, endpoint)
        await sink.got(1)
        await conn.execute("update rag.webhook_endpoints set previous_secret_until = now()")
        await send_test(conn, endpoint)
        await sink.got(2)

    both, only_new = sink.requests
    for secret in (old, new):
        assert verified(both, secret)
    assert verified(only_new, new)
    with pytest.raises(WebhookVerificationError):
        verified(only_new, old)


async def test_a_redirect_is_not_followed_and_counts_as_a_failure(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    async with webhook_sink(redirect("/elsewhere")) as sink, delivering(dsn, pool, fetch):
        endpoint = await add_endpoint(conn, application_id, sink.url)
        [id] = await send_test(conn, endpoint)
        row = await until_delivery(conn, id, job_status="pending", job_attempts=1)

    assert row["last_status"] == 302
    assert sink.web.paths == ["/hook"]


async def test_webhook_to_a_private_address_is_refused_at_delivery(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    names = Names(hook_test=[["127.0.0.1"]])
    async with (
        webhook_sink() as sink,
        fetcher(allow=(), names=names) as guarded,
        delivering(dsn, pool, guarded),
    ):
        url = sink.web.url("/hook", host="hook.test")
        endpoint = await add_endpoint(conn, application_id, url)
        [id] = await send_test(conn, endpoint)
        row = await until_delivery(conn, id, job_status="pending", job_attempts=1)

    assert sink.web.connections == 0
    assert (row["last_status"], row["last_error"]) == (
        None,
        "hook.test has an address that is not public",
    )


async def test_the_last_attempt_ends_the_delivery_and_a_replay_begins_it_again(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    async with webhook_sink(DOWN) as sink, delivering(dsn, pool, fetch):
        endpoint = await add_endpoint(conn, application_id, sink.url)
        async with conn.transaction():
            [id] = await send_test(conn, endpoint)
            await conn.execute(
                "update rag.processing_jobs set attempts = 7 where type = 'notification'"
            )
        await until_delivery(conn, id, status="failed", job_status="failed")
        async with conn.transaction():
            replayed = await deliveries.replay(
                conn, application_id=application_id, endpoint_id=endpoint.id, id=id
            )
            await webhook_endpoints.allow_attempt(conn, endpoint.id)
        assert replayed is not None
        await until_delivery(conn, id, status="delivered")

    first, second = sink.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == str(id)
    assert first.body == second.body


async def test_retry_after_of_a_receiver_is_obeyed_up_to_the_next_step(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    busy = [response(status=429, headers={"Retry-After": wish}) for wish in ("60", "86400")]
    async with webhook_sink(*busy) as sink, delivering(dsn, pool, fetch):
        waits = []
        for _ in busy:
            endpoint = await add_endpoint(conn, application_id, sink.url)
            [id] = await send_test(conn, endpoint)
            row = await until_delivery(conn, id, job_status="pending", job_attempts=1)
            waits.append(row["run_at"] - row["last_attempt_at"])

    assert timedelta(seconds=60) <= waits[0] < timedelta(seconds=75)
    assert timedelta(minutes=5) <= waits[1] < timedelta(minutes=5, seconds=15)


async def test_a_deleted_or_disabled_endpoint_gets_nothing_more(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    async with webhook_sink() as sink:
        deleted = await add_endpoint(conn, application_id, sink.url)
        disabled = await add_endpoint(conn, application_id, sink.url)
        await send_test(conn, deleted)
        [kept] = await send_test(conn, disabled)
        async with conn.transaction():
            await webhook_endpoints.delete(conn, application_id=application_id, id=deleted.id)
        async with conn.transaction():
            await webhook_endpoints.edit(
                conn,
                application_id=application_id,
                id=disabled.id,
                change=EndpointChange(is_enabled=False),
            )
        # Queued by somebody who saw the endpoints as they were.
        orphan = await _orphan(conn, deleted.id, application_id)
        [late] = await send_test(conn, disabled)
        async with delivering(dsn, pool, fetch):
            await until_delivery(conn, late, status="failed")
            await until(lambda: _ended(conn, orphan))

    assert sink.requests == []
    assert [row["status"] for row in await rows(conn)] == ["failed", "failed"]
    assert kept in [row["id"] for row in await rows(conn)]


async def test_worker_lost_after_delivery_repeats_the_same_message(
    pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    async with webhook_sink() as sink:
        endpoint = await add_endpoint(conn, application_id, sink.url)
        [id] = await send_test(conn, endpoint)
        context = cast(Context, DeliveryContext(pool, fetch, None))
        [job] = await claim(conn, types=["notification"])
        await deliver(job, context, Progress(job))  # and nobody commits its outcome
        await recover_stale_jobs(pool, stale_after=timedelta(minutes=1))
        await pass_time(conn)
        [again] = await claim(conn, types=["notification"])
        with pytest.raises(LeaseLost):
            await deliver(job, context, Progress(job))
        await deliver(again, context, Progress(again))

    first, second = sink.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == str(id)
    assert first.body == second.body
    [row] = await rows(conn)
    assert (row["status"], row["attempts"]) == ("pending", 2)


async def _ended(conn: Connection, job_id: UUID) -> bool:
    return bool((await job_row(conn, job_id))["status"] == "completed")


async def _orphan(conn: Connection, endpoint_id: UUID, application_id: UUID) -> UUID:
    [id] = await jobs.enqueue(
        conn,
        [
            jobs.NewJob(
                application_id=application_id,
                type="notification",
                payload=DeliveryPayload(delivery_id=endpoint_id),
            )
        ],
    )
    return id
