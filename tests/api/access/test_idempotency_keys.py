"""New secrets are told again to who repeats the request, though no answer keeps them in clear."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Final
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from ingest.settings.operator_key import OperatorKey
from tests.api.conftest import OPERATOR_KEY, MakeKey, connect, serve

HEADERS: Final = {"Idempotency-Key": "k"}
BODY: Final = {"name": "ci", "role": "editor"}


async def add(client: httpx.AsyncClient, application_id: UUID) -> httpx.Response:
    path = f"/api/applications/{application_id}/keys"
    return await client.post(path, json=BODY, headers=HEADERS)


async def dump(conn: Connection, table: str) -> str:
    rows = await (await conn.execute(f"select t::text from {table} as t".encode())).fetchall()
    return "\n".join(row[0] for row in rows)


@pytest.fixture
async def moved(runtime: Runtime) -> AsyncIterator[httpx.AsyncClient]:
    """The operator of the same installation, under a new operator's key."""
    async with (
        serve(replace(runtime, operator_key=OperatorKey("another-operators-key"))) as app,
        connect(app, "another-operators-key") as client,
    ):
        yield client


async def test_repeated_key_creation_returns_the_same_working_key(
    app: FastAPI, admin: httpx.AsyncClient, application_id: UUID
) -> None:
    first, again = await add(admin, application_id), await add(admin, application_id)

    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    async with connect(app, again.json()["key"]) as client:
        assert (await client.get("/api/job-types")).status_code == 200


async def test_api_keys_are_not_stored_in_plaintext(
    admin: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    with_header = (await add(admin, application_id)).json()["key"]
    path = f"/api/applications/{application_id}/keys"
    without = (await admin.post(path, json=BODY)).json()["key"]

    kept = await dump(conn, "app.api_keys") + await dump(conn, "rag.idempotency_keys")
    assert with_header not in kept
    assert without not in kept
    assert kept.count("seed") == 1
    assert OPERATOR_KEY not in kept


async def test_two_keys_are_never_the_same(admin: httpx.AsyncClient, application_id: UUID) -> None:
    path = f"/api/applications/{application_id}/keys"
    keys = {(await admin.post(path, json=BODY)).json()["key"] for _ in range(5)}

    assert len(keys) == 5
    assert all(len(key) == 46 and key.startswith("rk_") for key in keys)


async def test_repeated_request_does_not_return_a_revoked_key(
    admin: httpx.AsyncClient, application_id: UUID
) -> None:
    made = (await add(admin, application_id)).json()
    await admin.delete(f"/api/applications/{application_id}/keys/{made['id']}")
    answer = await add(admin, application_id)

    assert (answer.status_code, answer.json()["code"]) == (409, "secret_lost")


async def test_changed_operator_key_never_returns_a_wrong_key(
    operator: httpx.AsyncClient, moved: httpx.AsyncClient, application_id: UUID
) -> None:
    await add(operator, application_id)
    answer = await add(moved, application_id)

    assert (answer.status_code, answer.json()["code"]) == (409, "secret_lost")


async def test_repeated_request_returns_a_webhook_secret_while_it_signs(
    admin: httpx.AsyncClient, conn: Connection
) -> None:
    hook = {"url": "https://hooks.example", "events": ["job.failed"]}
    added = [
        (await admin.post("/api/webhook-endpoints", json=hook, headers=HEADERS)).json()
        for _ in range(2)
    ]
    kept = await dump(conn, "rag.idempotency_keys")
    rotate = f"/api/webhook-endpoints/{added[0]['id']}/rotate-secret"
    rotated = [
        (await admin.post(rotate, headers={"Idempotency-Key": "r"})).json() for _ in range(2)
    ]
    beside = await admin.post("/api/webhook-endpoints", json=hook, headers=HEADERS)
    await admin.post(rotate)
    ended = await admin.post("/api/webhook-endpoints", json=hook, headers=HEADERS)

    assert added[0] == added[1] == beside.json()
    assert added[0]["secret"].startswith("whsec_")
    assert added[0]["secret"] not in kept
    assert rotated[0] == rotated[1]
    assert rotated[0]["secret"] != added[0]["secret"]
    assert (ended.status_code, ended.json()["code"]) == (409, "secret_lost")


async def test_email_endpoint_has_no_secret_to_repeat(
    runtime: Runtime, application_id: UUID, make_key: MakeKey
) -> None:
    mail = {"smtp_url": SecretStr("smtp://mail.example"), "email_from": "rag@example.com"}
    settings = runtime.settings.model_copy(update=mail)
    hook = {"url": "mailto:ops@example.com", "events": ["job.failed"]}
    async with (
        serve(replace(runtime, settings=settings)) as app,
        connect(app, await make_key(application_id, "admin")) as client,
    ):
        answers = [
            await client.post("/api/webhook-endpoints", json=hook, headers=HEADERS)
            for _ in range(2)
        ]

    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert answers[0].json()["secret"] is None
