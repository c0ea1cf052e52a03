"""Applications and their settings, keys, tickets."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI

from ingest.postgres.database import Connection
from ingest.store.tenants import api_keys, applications
from ingest.store.tenants.applications import ApplicationSettings
from tests.api.conftest import connect
from tests.api.helpers import count

USUAL: Final = {
    "weight": 1,
    "tokensPerDay": None,
    "reviews": ["mass_deletion"],
    "chunking": {"size": None, "overlap": None, "by": None, "leaveOutFurniture": None},
    "quotas": {},
}


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


async def test_plaintext_key_is_never_shown_again_or_stored(
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


async def test_use_of_a_key_is_noted_once_an_hour(
    app: FastAPI, admin: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    keys = f"/api/applications/{application_id}/keys"
    key = (await admin.post(keys, json={"name": "n", "role": "viewer"})).json()

    async def used() -> Any:
        [shown] = [item for item in (await admin.get(keys)).json()["items"] if item["name"] == "n"]
        return shown["lastUsedAt"]

    before = await used()
    async with connect(app, key["key"]) as client:
        await client.get("/api/jobs")
        first = await used()
        await client.get("/api/jobs")
        second = await used()
        await conn.execute("update app.api_keys set last_used_at = now() - interval '61 minutes'")
        old = await used()
        await client.get("/api/jobs")

    assert (key["lastUsedAt"], before) == (None, None)
    assert first == second > old
    assert await used() > first


async def test_keys_of_unknown_application_return_404(
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


async def test_ticket_can_be_used_once(viewer: httpx.AsyncClient, conn: Connection) -> None:
    answer = await viewer.post("/api/tickets")

    ticket = answer.json()["ticket"]
    assert answer.status_code == 201
    assert answer.json()["expiresAt"].endswith("Z")
    first = await api_keys.redeem_ticket(conn, ticket)
    assert first is not None
    assert first.role == "viewer"
    assert await api_keys.redeem_ticket(conn, ticket) is None


async def test_ticket_expires_and_dies_with_its_key(
    viewer: httpx.AsyncClient, conn: Connection
) -> None:
    late = (await viewer.post("/api/tickets")).json()["ticket"]
    await conn.execute("update app.tickets set expires_at = now()")
    of_late = await api_keys.redeem_ticket(conn, late)
    orphan = (await viewer.post("/api/tickets")).json()["ticket"]
    await conn.execute("update app.api_keys set revoked_at = now()")
    of_orphan = await api_keys.redeem_ticket(conn, orphan)

    assert (of_late, of_orphan) == (None, None)


async def test_an_application_has_the_usual_settings_until_it_is_given_others(
    admin: httpx.AsyncClient, application_id: UUID
) -> None:
    shown = (await admin.get(f"/api/applications/{application_id}")).json()

    assert shown["settings"] == USUAL


async def test_settings_are_merged_and_not_replaced(
    operator: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    url = f"/api/applications/{application_id}"
    await operator.patch(url, json={"settings": {"weight": 5}})
    await operator.patch(url, json={"settings": {"tokensPerDay": 1000}, "name": "Acme"})
    reviews = {"reviews": ["low_coverage", "flagged_content"]}
    answer = await operator.patch(url, json={"settings": reviews})

    shown = answer.json()
    assert (answer.status_code, shown["name"]) == (200, "Acme")
    assert shown["settings"] == {
        **USUAL,
        "weight": 5,
        "tokensPerDay": 1000,
        "reviews": ["flagged_content", "low_coverage"],
    }
    assert (await operator.get(url)).json() == shown
    assert await applications.settings_of(conn, application_id) == ApplicationSettings(
        weight=5, tokens_per_day=1000, reviews=frozenset({"flagged_content", "low_coverage"})
    )


async def test_null_removes_a_budget(operator: httpx.AsyncClient, application_id: UUID) -> None:
    url = f"/api/applications/{application_id}"
    await operator.patch(url, json={"settings": {"tokensPerDay": 1000}})
    answer = await operator.patch(url, json={"settings": {"tokensPerDay": None}})

    assert answer.json()["settings"] == USUAL


async def test_admin_changes_name_and_reviews_but_not_weight(
    admin: httpx.AsyncClient, application_id: UUID
) -> None:
    url = f"/api/applications/{application_id}"
    own = await admin.patch(url, json={"name": "ours", "settings": {"reviews": []}})
    shares = [
        await admin.patch(url, json={"name": "x", "settings": share})
        for share in ({"weight": 2}, {"tokensPerDay": None}, {"reviews": [], "weight": 1})
    ]

    assert (own.status_code, own.json()["settings"]["reviews"]) == (200, [])
    assert [answer.status_code for answer in shares] == [403] * 3
    assert (await admin.get(url)).json() == own.json()


async def test_settings_of_another_application_return_404(
    stranger: httpx.AsyncClient, operator: httpx.AsyncClient, application_id: UUID
) -> None:
    url = f"/api/applications/{application_id}"
    answers = [
        await stranger.get(url),
        await stranger.patch(url, json={"name": "mine"}),
        await stranger.patch(url, json={"settings": {"weight": 100}}),
        await operator.get(f"/api/applications/{uuid4()}"),
        await operator.patch(f"/api/applications/{uuid4()}", json={"name": "mine"}),
    ]

    assert [answer.status_code for answer in answers] == [404] * 5


WRONG_SETTINGS: Final[Sequence[tuple[dict[str, Any], str]]] = (
    ({"settings": {"weight": 0}}, "body.settings.weight"),
    ({"settings": {"weight": 101}}, "body.settings.weight"),
    ({"settings": {"weight": None}}, "body.settings.weight"),
    ({"settings": {"weight": 1.5}}, "body.settings.weight"),
    ({"settings": {"tokensPerDay": 0}}, "body.settings.tokensPerDay"),
    ({"settings": {"tokensPerDay": -1}}, "body.settings.tokensPerDay"),
    ({"settings": {"reviews": ["everything"]}}, "body.settings.reviews.0"),
    ({"settings": {"reviews": None}}, "body.settings.reviews"),
    ({"settings": {"color": "red"}}, "body.settings.color"),
    ({"settings": None}, "body.settings"),
    ({"name": ""}, "body.name"),
    ({"isDefault": True}, "body.isDefault"),
)


async def test_a_wrong_setting_is_a_422_that_names_it(
    operator: httpx.AsyncClient, application_id: UUID
) -> None:
    url = f"/api/applications/{application_id}"
    for body, field in WRONG_SETTINGS:
        answer = await operator.patch(url, json=body)

        assert answer.status_code == 422, body
        assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert (await operator.get(url)).json()["settings"] == USUAL


@pytest.mark.parametrize(
    "stored",
    [
        [],
        "text",
        None,
        {"weight": "heavy", "tokensPerDay": "all", "reviews": "all"},
        {"weight": True, "tokensPerDay": -1, "reviews": {"low_coverage": True}},
        {"weight": -3, "tokensPerDay": 0.5, "reviews": None, "other": 1},
    ],
)
def test_invalid_stored_settings_are_ignored_field_by_field(stored: Any) -> None:
    assert ApplicationSettings.from_json(stored) == ApplicationSettings()


def test_valid_fields_of_invalid_stored_settings_are_kept() -> None:
    stored = {"weight": 1000, "reviews": ["low_coverage", "nothing", 3, {}]}

    assert ApplicationSettings.from_json(stored) == ApplicationSettings(
        weight=100, reviews=frozenset({"low_coverage"})
    )


async def test_settings_written_by_hand_can_be_replaced(
    operator: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    await conn.execute("update app.applications set settings = '[1]'")
    url = f"/api/applications/{application_id}"
    answer = await operator.patch(url, json={"settings": {"weight": 3}})

    assert answer.json()["settings"] == {**USUAL, "weight": 3}


async def test_jobs_waiting_for_tokens_resume_when_the_budget_is_raised(
    operator: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    await operator.post("/upload/url", json={"url": "https://site.example"})
    await conn.execute(
        "update rag.processing_jobs set wait_reason = 'budget_exceeded', "
        "run_at = now() + interval '1 day'"
    )
    url = f"/api/applications/{application_id}"
    ready = "rag.processing_jobs where run_at is null and wait_reason is null"
    await operator.patch(url, json={"name": "n", "settings": {"weight": 2}})
    before = await count(conn, ready)
    await operator.patch(url, json={"settings": {"tokensPerDay": 10}})

    assert (before, await count(conn, ready)) == (0, 1)
