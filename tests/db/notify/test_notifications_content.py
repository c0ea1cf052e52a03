"""What a delivery says, and what no delivery says."""

import json
from uuid import UUID

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from ingest.payloads import FilePayload
from ingest.postgres.database import Connection, Pool
from ingest.providers.fetch.fetcher import Fetcher
from ingest.providers.notify.signing import new_secret
from tests.servers.webhook_sink import verified, webhook_sink
from tests.support.notification_fixtures import (
    add_endpoint,
    delivering,
    end_one,
    send_test,
)
from tests.support.queue_builders import upload


async def test_a_body_that_was_changed_on_the_way_does_not_verify(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    secret = new_secret()
    async with webhook_sink() as sink, delivering(dsn, pool, fetch):
        endpoint = await add_endpoint(conn, application_id, sink.url, secret=secret)
        await send_test(conn, endpoint)
        await sink.got(1)

    [request] = sink.requests
    assert verified(request, secret)["type"] == "endpoint.test"
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(request.body + b" ", request.headers)


async def test_webhook_body_contains_no_document_text_or_secret(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    secret = new_secret()
    async with webhook_sink() as sink, delivering(dsn, pool, fetch):
        await add_endpoint(conn, application_id, sink.url, secret=secret)
        await upload(conn, application_id, "a.txt")
        job = await end_one(conn, "failed", error_code="corrupt")
        await sink.got(2)

    sent = b"".join(request.body for request in sink.requests).decode()
    assert {*sink.types} == {"source.failed", "job.failed"}
    assert FilePayload.of(job).blob_key not in sent
    assert secret not in sent
    assert all(json.loads(request.body)["data"]["applicationId"] for request in sink.requests)
