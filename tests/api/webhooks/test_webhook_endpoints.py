"""Webhook endpoints over HTTP: made, shown without their secrets, tested, replayed, walled off."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from pydantic import SecretStr

from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from ingest.store.notify import outbox
from tests.api.conftest import MakeKey, connect, serve
from tests.api.helpers import count

ENDPOINTS = "/api/webhook-endpoints"
HOOK = {"url": "https://hooks.example/x?y=1", "events": ["source.completed", "batch.completed"]}
MAILBOX = {"url": "mailto:ops@mail.example", "events": ["batch.completed"]}
# Each in place of a field of HOOK, with the field that is named.
WRONG: Sequence[tuple[dict[str, Any], str]] = (
    ({"url": "http://127.0.0.1:8000/hook"}, "body.url"),
    ({"url": "http://169.254.169.254/latest"}, "body.url"),
    ({"url": "http://[::ffff:10.0.0.1]/"}, "body.url"),
    ({"url": "http://localhost/"}, "body.url"),
    ({"url": "ftp://hooks.example/"}, "body.url"),
    ({"url": "https://user:pass@hooks.example/"}, "body.url"),
    ({"url": "hooks.example"}, "body.url"),
    ({"url": ""}, "body.url"),
    ({"url": "https://hooks.example/" + "x" * 2048}, "body.url"),
    ({"url": "mailto:ops@mail.example"}, "body.url"),
    ({"events": []}, "body.events"),
    ({"events": ["source.exploded"]}, "body.events.0"),
    ({"events": ["endpoint.test"]}, "body.events.0"),
    ({"description": "x" * 501}, "body.description"),
    ({"secret": "mine"}, "body.secret"),
)


@pytest.fixture
async def made(admin: httpx.AsyncClient) -> dict[str, Any]:
    answer = await admin.post(ENDPOINTS, json=HOOK)
    assert answer.status_code == 201
    body: dict[str, Any] = answer.json()
    return body


@pytest.fixture
async def mailing_admin(
    runtime: Runtime, application_id: UUID, make_key: MakeKey
) -> AsyncIterator[httpx.AsyncClient]:
    """An admin of an installation with a mail server."""
    server = {"smtp_url": SecretStr("smtp://mail.example"), "email_from": "rag@mail.example"}
    settings = runtime.settings.model_copy(update=server)
    key = await make_key(application_id, "admin")
    async with serve(replace(runtime, settings=settings)) as app, connect(app, key) as client:
        yield client


def field_of(answer: httpx.Response) -> str:
    assert answer.status_code == 422, answer.text
    field: str = answer.json()["errors"][0]["field"]
    return field


async def test_endpoint_secret_is_shown_only_at_creation(
    admin: httpx.AsyncClient, made: dict[str, Any]
) -> None:
    shown = (await admin.get(f"{ENDPOINTS}/{made['id']}")).json()
    listed = (await admin.get(ENDPOINTS)).json()

    assert made["secret"].startswith("whsec_")
    assert {**shown, "secret": made["secret"]} == made
    assert listed == {"items": [shown], "nextCursor": None}
    assert (shown["url"], shown["events"]) == (HOOK["url"], HOOK["events"])
    assert (shown["isEnabled"], shown["failures"], shown["failingSince"]) == (True, 0, None)


async def test_invalid_endpoint_names_the_field_and_creates_nothing(
    admin: httpx.AsyncClient, conn: Connection
) -> None:
    answers = [await admin.post(ENDPOINTS, json=HOOK | wrong) for wrong, _ in WRONG]

    assert [field_of(answer) for answer in answers] == [field for _, field in WRONG]
    assert await count(conn, "rag.webhook_endpoints") == 0


async def test_the_refusal_of_a_private_address_names_the_setting_that_allows_it(
    admin: httpx.AsyncClient,
) -> None:
    refused = await admin.post(ENDPOINTS, json=HOOK | {"url": "http://10.0.0.5/hook"})

    assert field_of(refused) == "body.url"
    assert "INGEST_FETCH_ALLOW" in refused.json()["errors"][0]["message"]


async def test_email_endpoint_gets_digests_only_and_has_no_secret(
    mailing_admin: httpx.AsyncClient,
) -> None:
    made = await mailing_admin.post(ENDPOINTS, json=MAILBOX)
    for url in ("mailto:a@b.example,c@d.example", "mailto:ops@mail.example?cc=x@y.example"):
        refused = await mailing_admin.post(ENDPOINTS, json=MAILBOX | {"url": url})
        assert field_of(refused) == "body.url"
    of_files = await mailing_admin.post(ENDPOINTS, json=MAILBOX | {"events": ["source.failed"]})
    path = f"{ENDPOINTS}/{made.json()['id']}"
    patched = await mailing_admin.patch(path, json={"events": ["source.failed"]})
    rotated = await mailing_admin.post(f"{path}/rotate-secret")

    assert (made.status_code, made.json()["secret"]) == (201, None)
    assert field_of(of_files) == field_of(patched) == "body.events"
    assert (rotated.status_code, rotated.json()["code"]) == (409, "not_signed")


async def test_an_application_has_at_most_twenty_endpoints(
    admin: httpx.AsyncClient, stranger: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    await conn.execute(
        "insert into rag.webhook_endpoints (id, application_id, url, events, secret) "
        "select gen_random_uuid(), %s, 'https://hooks.example/', '{}', '' "
        "from generate_series(1, 19)",
        [application_id],
    )
    answers = [await admin.post(ENDPOINTS, json=HOOK) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [201, 409]
    assert answers[1].json()["code"] == "too_many_endpoints"
    assert (await stranger.post(ENDPOINTS, json=HOOK)).status_code == 201


async def test_pages_of_endpoints_and_deliveries_follow_one_another(
    admin: httpx.AsyncClient, made: dict[str, Any]
) -> None:
    await admin.post(ENDPOINTS, json=HOOK)
    path = f"{ENDPOINTS}/{made['id']}"
    sent = [(await admin.post(f"{path}/test")).json()["deliveryId"] for _ in range(3)]

    for url, expected in ((ENDPOINTS, 2), (f"{path}/deliveries", 3)):
        found: list[str] = []
        cursor: str | None = None
        while True:
            query = {"limit": "1"} | ({"cursor": cursor} if cursor else {})
            page = (await admin.get(url, params=query)).json()
            found += [item["id"] for item in page["items"]]
            cursor = page["nextCursor"]
            if cursor is None:
                break
        assert len(set(found)) == len(found) == expected
    assert found == sent[::-1]
    assert (await admin.get(f"{path}/deliveries", params={"cursor": "x"})).status_code == 422
    delivered = await admin.get(f"{path}/deliveries", params={"status": "delivered"})
    assert delivered.json()["items"] == []
    assert (await admin.get(f"{path}/deliveries", params={"status": "x"})).status_code == 422


async def test_enabling_an_endpoint_resets_its_failures(
    admin: httpx.AsyncClient, made: dict[str, Any], conn: Connection
) -> None:
    path = f"{ENDPOINTS}/{made['id']}"
    await conn.execute(
        "update rag.webhook_endpoints set is_enabled = false, disabled_reason = 'it failed', "
        "failing_since = now(), failures = 7, retry_at = now() + interval '1 hour'"
    )
    kept = (await admin.patch(path, json={"description": "ours"})).json()
    enabled = (await admin.patch(path, json={"isEnabled": True})).json()
    disabled = (await admin.patch(path, json={"isEnabled": False})).json()

    assert (kept["isEnabled"], kept["disabledReason"], kept["failures"]) == (False, "it failed", 7)
    assert kept["description"] == "ours"
    assert (enabled["isEnabled"], enabled["disabledReason"], enabled["failures"]) == (True, None, 0)
    assert enabled["failingSince"] is None
    assert (disabled["isEnabled"], disabled["disabledReason"]) == (False, "disabled by request")
    assert (await admin.patch(path, json={"url": "http://10.0.0.1/"})).status_code == 422
    assert await count(conn, "rag.webhook_endpoints where retry_at is null") == 1


async def test_a_test_is_queued_and_shown_in_the_log(
    admin: httpx.AsyncClient, made: dict[str, Any], conn: Connection
) -> None:
    path = f"{ENDPOINTS}/{made['id']}"
    queued = await admin.post(f"{path}/test")
    shown = (await admin.get(f"{path}/deliveries/{queued.json()['deliveryId']}")).json()

    assert queued.status_code == 202
    assert (shown["event"], shown["status"], shown["attempts"]) == ("endpoint.test", "pending", 0)
    assert '"type":"endpoint.test"' in shown["body"]
    job = (await admin.get(f"/api/jobs/{shown['jobId']}")).json()
    assert (job["type"], job["status"]) == ("notification", "pending")


async def test_replay_needs_an_ended_delivery_and_an_enabled_endpoint(
    admin: httpx.AsyncClient, made: dict[str, Any], conn: Connection
) -> None:
    path = f"{ENDPOINTS}/{made['id']}"
    delivery = (await admin.post(f"{path}/test")).json()["deliveryId"]
    again = f"{path}/deliveries/{delivery}/replay"
    pending = await admin.post(again)
    await admin.patch(path, json={"isEnabled": False})
    refused = [await admin.post(again), await admin.post(f"{path}/test")]
    ended = (await admin.get(f"{path}/deliveries/{delivery}")).json()
    await admin.patch(path, json={"isEnabled": True})
    replayed = await admin.post(again)

    assert (pending.status_code, pending.json()["code"]) == (409, "delivery_pending")
    assert [(answer.status_code, answer.json()["code"]) for answer in refused] == [
        (409, "endpoint_disabled"),
        (409, "endpoint_disabled"),
    ]
    assert (ended["status"], ended["lastError"]) == ("failed", "it was never sent")
    assert (replayed.status_code, replayed.json()["id"]) == (202, delivery)
    assert replayed.json()["status"] == "pending"
    assert replayed.json()["jobId"] != ended["jobId"]
    assert (await admin.post(f"{path}/deliveries/{uuid4()}/replay")).status_code == 404


async def test_a_replay_sends_a_delivery_that_waits_now_and_lets_its_endpoint_be_tried(
    admin: httpx.AsyncClient, made: dict[str, Any], conn: Connection
) -> None:
    path = f"{ENDPOINTS}/{made['id']}"
    delivery = (await admin.post(f"{path}/test")).json()["deliveryId"]
    await conn.execute(
        "update rag.processing_jobs set run_at = now() + interval '8 hours', wait_reason = 'retry'"
    )
    await conn.execute(
        "update rag.webhook_endpoints set failing_since = now(), "
        "retry_at = now() + interval '8 hours'"
    )
    replayed = await admin.post(f"{path}/deliveries/{delivery}/replay")

    assert (replayed.status_code, replayed.json()["status"]) == (202, "pending")
    job = (await admin.get(f"/api/jobs/{replayed.json()['jobId']}")).json()
    assert (job["runAt"], job["waitReason"]) == (None, None)
    assert await count(conn, "rag.webhook_endpoints where retry_at <= now()") == 1


async def test_secret_rotation_returns_new_secret_and_expiry_of_the_old(
    admin: httpx.AsyncClient, made: dict[str, Any]
) -> None:
    rotated = (await admin.post(f"{ENDPOINTS}/{made['id']}/rotate-secret")).json()

    assert rotated["secret"].startswith("whsec_")
    assert rotated["secret"] != made["secret"]
    assert rotated["previousSecretUntil"] > rotated["updatedAt"]


async def test_deleting_an_endpoint_removes_its_log_and_jobs(
    admin: httpx.AsyncClient, made: dict[str, Any], conn: Connection
) -> None:
    path = f"{ENDPOINTS}/{made['id']}"
    await admin.post(f"{path}/test")

    assert (await admin.delete(path)).status_code == 204
    assert (await admin.delete(path)).status_code == 404
    assert (await admin.get(f"{path}/deliveries")).status_code == 404
    assert await count(conn, "rag.webhook_deliveries") == 0
    assert await count(conn, "rag.processing_jobs where status = 'cancelled'") == 1


async def test_a_delivery_is_found_at_its_own_endpoint_only(
    admin: httpx.AsyncClient, made: dict[str, Any]
) -> None:
    other = (await admin.post(ENDPOINTS, json=HOOK)).json()
    delivery = (await admin.post(f"{ENDPOINTS}/{made['id']}/test")).json()["deliveryId"]

    elsewhere = f"{ENDPOINTS}/{other['id']}/deliveries/{delivery}"
    assert (await admin.get(elsewhere)).status_code == 404
    assert (await admin.post(f"{elsewhere}/replay")).status_code == 404


async def test_a_cancelled_notification_is_a_failed_delivery(
    admin: httpx.AsyncClient, made: dict[str, Any], conn: Connection
) -> None:
    path = f"{ENDPOINTS}/{made['id']}"
    delivery = (await admin.post(f"{path}/test")).json()["deliveryId"]
    shown = (await admin.get(f"{path}/deliveries/{delivery}")).json()

    await admin.post(f"/api/jobs/{shown['jobId']}/cancel")

    assert (await admin.get(f"{path}/deliveries/{delivery}")).json()["status"] == "failed"


async def test_a_batch_shows_when_it_was_completed(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    files = [("files", ("a.txt", b"a"))]
    batch_id = (await editor.post("/upload/documents", files=files)).json()["batchId"]
    before = (await editor.get(f"/api/batches/{batch_id}")).json()
    await editor.post(f"/api/batches/{batch_id}/cancel")
    async with conn.transaction():
        await outbox.complete_batches(conn, [UUID(batch_id)])
    after = (await editor.get(f"/api/batches/{batch_id}")).json()

    assert before["completedAt"] is None
    assert after["completedAt"] is not None
    assert after["cancelled"] == 1
