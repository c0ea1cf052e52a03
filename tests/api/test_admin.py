"""Applications, keys, tickets, worker switches."""

from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI

from ingest.db import Connection
from ingest.store import access
from tests.api.conftest import connect
from tests.builders import claimable


async def test_the_operator_creates_an_application_and_its_first_key(
    app: FastAPI, operator: httpx.AsyncClient
) -> None:
    made = await operator.post("/api/applications", json={"name": "Acme"})
    keys = f"/api/applications/{made.json()['id']}/keys"
    key = await operator.post(keys, json={"name": "ci", "role": "editor"})

    assert (made.status_code, made.json()["name"]) == (201, "Acme")
    assert key.status_code == 201
    assert key.json()["key"].startswith(key.json()["prefix"])
    assert key.json()["key"].startswith("rk_")
    async with connect(app, key.json()["key"]) as client:
        assert (await client.get("/api/jobs")).status_code == 200
    listed = (await operator.get("/api/applications")).json()["items"]
    assert {item["name"] for item in listed} == {"Acme", "default"}


async def test_a_key_is_never_shown_nor_kept_in_clear_again(
    admin: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    keys = f"/api/applications/{application_id}/keys"
    clear = (await admin.post(keys, json={"name": "n", "role": "viewer"})).json()["key"]

    listed = await admin.get(keys)

    assert clear not in listed.text
    assert "key" not in listed.json()["items"][0]
    rows = await (await conn.execute("select k::text from app.api_keys k")).fetchall()
    assert all(clear not in row[0] for row in rows)


async def test_a_revoked_key_is_refused_from_the_next_request_on(
    app: FastAPI, admin: httpx.AsyncClient, application_id: UUID
) -> None:
    keys = f"/api/applications/{application_id}/keys"
    key = (await admin.post(keys, json={"name": "n", "role": "viewer"})).json()
    async with connect(app, key["key"]) as client:
        before = await client.get("/api/jobs")
        revoked = await admin.delete(f"{keys}/{key['id']}")
        after = await client.get("/api/jobs")

    assert [before.status_code, revoked.status_code, after.status_code] == [200, 204, 401]
    assert (await admin.delete(f"{keys}/{key['id']}")).status_code == 404
    shown = (await admin.get(keys)).json()["items"]
    assert any(item["revokedAt"] for item in shown)


async def test_keys_of_an_application_that_does_not_exist_are_a_404(
    operator: httpx.AsyncClient,
) -> None:
    keys = f"/api/applications/{uuid4()}/keys"

    assert (await operator.get(keys)).status_code == 404
    assert (await operator.post(keys, json={"name": "n", "role": "viewer"})).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "n"},
        {"name": "", "role": "viewer"},
        {"name": "n", "role": "root"},
        {"name": "n", "role": "viewer", "key": "mine"},
        {"name": "n" * 201, "role": "viewer"},
    ],
)
async def test_a_wrong_key_request_is_a_422(
    admin: httpx.AsyncClient, application_id: UUID, body: dict[str, Any]
) -> None:
    answer = await admin.post(f"/api/applications/{application_id}/keys", json=body)

    assert answer.status_code == 422


async def test_a_ticket_is_good_once(viewer: httpx.AsyncClient, conn: Connection) -> None:
    answer = await viewer.post("/api/tickets")

    ticket = answer.json()["ticket"]
    assert answer.status_code == 201
    assert answer.json()["expiresAt"].endswith("Z")
    first = await access.redeem_ticket(conn, ticket)
    assert first is not None
    assert first.role == "viewer"
    assert await access.redeem_ticket(conn, ticket) is None


async def test_a_ticket_ends_with_its_time_and_with_its_key(
    viewer: httpx.AsyncClient, conn: Connection
) -> None:
    late = (await viewer.post("/api/tickets")).json()["ticket"]
    await conn.execute("update app.tickets set expires_at = now()")
    of_late = await access.redeem_ticket(conn, late)
    orphan = (await viewer.post("/api/tickets")).json()["ticket"]
    await conn.execute("update app.api_keys set revoked_at = now()")
    of_orphan = await access.redeem_ticket(conn, orphan)

    assert (of_late, of_orphan) == (None, None)


async def test_the_pause_stops_all_claiming(admin: httpx.AsyncClient, conn: Connection) -> None:
    paused = await admin.put("/api/worker/config", json={"paused": True})
    while_paused = await claimable(conn, "file")
    await admin.put("/api/worker/config", json={"paused": False})
    resumed = await claimable(conn, "file")

    assert paused.json() == {"paused": True}
    assert (while_paused, resumed) == (set(), {"file"})
    assert (await admin.get("/api/worker/config")).json() == {"paused": False}
