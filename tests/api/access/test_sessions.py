"""Sessions of the dashboard: how one begins. Then: test_session_rights.py, test_session_ends.py."""

from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from api.middleware.failed_keys import FailedKeys
from ingest.postgres.database import Connection
from ingest.store.tenants import api_keys
from tests.api.access.routes import seen
from tests.api.browsers import browser, cookie_of, new_code
from tests.api.conftest import OPERATOR_KEY, MakeKey
from tests.api.helpers import count
from tests.support.settable_clock import SettableClock

# ---------------------------------------------------------------- it begins


@pytest.mark.parametrize(
    ("scheme", "name", "flags"),
    [
        ("http", "ingest", {"HttpOnly", "Path=/", "SameSite=strict", "Max-Age=604800"}),
        (
            "https",
            "__Host-ingest",
            {"HttpOnly", "Path=/", "SameSite=strict", "Max-Age=604800", "Secure"},
        ),
    ],
)
async def test_signing_in_sets_a_cookie_that_scripts_and_other_sites_do_not_get(
    app: FastAPI, conn: Connection, scheme: str, name: str, flags: set[str]
) -> None:
    async with browser(app, scheme=scheme) as page:
        answer = await page.post("/api/session", json={"key": OPERATOR_KEY})
        me = await page.get("/api/me")

    cookie, *attributes = answer.headers["set-cookie"].split("; ")
    assert (cookie.partition("=")[0], set(attributes)) == (name, flags)
    assert answer.headers["cache-control"] == "no-store"
    assert me.json() == answer.json()
    secret = cookie.partition("=")[2]
    assert len(secret) >= 43  # 256 bits
    cursor = await conn.execute("select session_hash, operator_seal from app.sessions")
    [(session_hash, seal)] = await cursor.fetchall()
    assert session_hash == api_keys.digest(secret)
    assert OPERATOR_KEY.encode() not in (session_hash, seal)


async def test_it_is_told_who_signed_in_and_what_the_installation_can_do(
    app: FastAPI, operator: httpx.AsyncClient, application_id: UUID, make_key: MakeKey
) -> None:
    async with browser(app, key=await make_key(application_id, "viewer")) as page:
        me = (await page.get("/api/me")).json()
    by_key = (await operator.get("/api/me")).json()

    assert me.pop("expiresAt").endswith("Z")
    assert me == {
        "application": {"id": str(application_id), "name": "default"},
        "role": "viewer",
        "isOperator": False,
        "keyName": "a viewer",
        "collectionIds": None,
        "version": me["version"],
        "features": {
            "ocr": False,
            "firecrawl": False,
            "smtp": False,
            "rerank": False,
            "docs": True,
        },
        "embedder": {"provider": "static", "model": "fake", "dimension": 8},
    }
    assert (by_key["isOperator"], by_key["role"], by_key["keyName"]) == (True, "admin", None)
    assert by_key["expiresAt"] is None


async def test_a_code_signs_in_as_the_operator_once(
    app: FastAPI, operator: httpx.AsyncClient, page: httpx.AsyncClient
) -> None:
    code = await new_code(operator)
    async with browser(app, code=code) as first:
        me = (await first.get("/api/me")).json()
    again = await page.post("/api/session", json={"code": code})

    assert me["isOperator"] is True
    assert seen(again) == (401, "unauthorized")
    assert "set-cookie" not in again.headers


async def test_a_code_expires(
    operator: httpx.AsyncClient, page: httpx.AsyncClient, conn: Connection
) -> None:
    code = await new_code(operator)
    await conn.execute("update app.sign_in_codes set expires_at = now()")

    assert seen(await page.post("/api/session", json={"code": code})) == (401, "unauthorized")


async def test_a_code_and_a_key_are_not_the_same_thing(
    operator: httpx.AsyncClient, page: httpx.AsyncClient
) -> None:
    code = await new_code(operator)
    answers = [
        await page.post("/api/session", json={"code": OPERATOR_KEY}),
        await page.post("/api/session", json={"key": code}),
        await page.get("/api/me", headers={"Cookie": f"ingest={code}"}),
        await page.get("/api/me", headers={"Cookie": f"ingest={OPERATOR_KEY}"}),
    ]

    assert {seen(answer) for answer in answers} == {(401, "unauthorized")}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"key": "k", "code": "c"}, 422),
        ({"key": ""}, 422),
        ({"key": "k" * 501}, 422),
        ({"key": 7}, 422),
        ({"key": "k", "applicationId": "x"}, 422),
        ([], 422),
        ({"key": "k" * 5000}, 413),
    ],
)
async def test_what_is_no_key_and_no_code_is_refused(
    page: httpx.AsyncClient, body: Any, status: int
) -> None:
    assert (await page.post("/api/session", json=body)).status_code == status


@pytest.mark.parametrize("key", ["rk_wrong", OPERATOR_KEY + "x", "ключ", "\0"])
async def test_a_wrong_key_begins_no_session(
    page: httpx.AsyncClient, conn: Connection, key: str
) -> None:
    answer = await page.post("/api/session", json={"key": key})

    assert answer.status_code in (401, 422)
    assert "set-cookie" not in answer.headers
    assert await count(conn, "app.sessions") == 0


@pytest.mark.parametrize("kind", ["key", "code", "cookie"])
async def test_an_address_that_guesses_is_slowed_down_and_the_right_key_still_works(
    app: FastAPI, page: httpx.AsyncClient, kind: str
) -> None:
    app.state.failed_keys = FailedKeys(clock=SettableClock())

    async def guess(number: int) -> httpx.Response:
        if kind == "cookie":
            return await page.get("/api/me", headers={"Cookie": f"ingest=guess{number}"})
        return await page.post("/api/session", json={kind: f"guess{number}"})

    statuses = [(await guess(number)).status_code for number in range(160)]
    last = await guess(0)
    right = await page.post("/api/session", json={"key": OPERATOR_KEY})

    assert statuses == [401] * 150 + [429] * 10
    assert (last.json()["code"], last.headers["Retry-After"]) == ("rate_limited", "60")
    assert right.status_code == 201


async def test_a_secret_that_was_known_before_is_never_the_one_of_a_session(
    page: httpx.AsyncClient,
) -> None:
    """Session fixation: somebody has put a cookie into the browser."""
    planted = {"Cookie": "ingest=planted"}
    answer = await page.post("/api/session", json={"key": OPERATOR_KEY}, headers=planted)

    assert answer.status_code == 201
    assert "planted" not in answer.headers["set-cookie"]
    assert (await page.get("/api/me", headers=planted)).status_code == 401


async def test_signing_in_again_ends_the_session_before(boss: httpx.AsyncClient) -> None:
    before = cookie_of(boss)
    await boss.post("/api/session", json={"key": OPERATOR_KEY})

    assert cookie_of(boss) != before
    assert (await boss.get("/api/me")).status_code == 200
    assert (await boss.get("/api/me", headers=before)).status_code == 401
