"""Everything that ends a session of the dashboard."""

from contextlib import AsyncExitStack
from dataclasses import replace
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from ingest.postgres.database import Connection, Pool, transaction
from ingest.runtime import Runtime
from ingest.settings.operator_key import OperatorKey
from ingest.store.tenants import api_keys, sessions
from ingest.ticks.cleanup import prune_old
from tests.api.access.routes import seen
from tests.api.browsers import browser, cookie_of, new_code
from tests.api.conftest import OPERATOR_KEY, MakeKey, serve
from tests.api.helpers import count
from tests.support.retention_fixtures import clean


async def test_signing_out_ends_it_in_all_tabs_and_may_be_repeated(
    boss: httpx.AsyncClient,
) -> None:
    other_tab = cookie_of(boss)
    first = await boss.delete("/api/session")
    held = dict(boss.cookies)
    late = await boss.delete("/api/session", headers=other_tab)
    never = await boss.delete("/api/session")

    assert [answer.status_code for answer in (first, late, never)] == [204] * 3
    assert held == {}
    assert seen(await boss.get("/api/me", headers=other_tab)) == (401, "unauthorized")


async def test_a_revoked_key_ends_its_sessions_and_no_others(
    app: FastAPI, conn: Connection, application_id: UUID, make_key: MakeKey, boss: httpx.AsyncClient
) -> None:
    revoked, kept = [await make_key(application_id, "editor") for _ in range(2)]
    async with browser(app, key=revoked) as page, browser(app, key=kept) as other:
        await conn.execute(
            "update app.api_keys set revoked_at = now() where key_hash = %s",
            [api_keys.digest(revoked)],
        )
        statuses = [(await client.get("/api/me")).status_code for client in (page, other, boss)]

    assert statuses == [401, 200, 200]


@pytest.mark.parametrize(
    ("previous", "status"), [(None, 401), (OPERATOR_KEY, 200), ("another", 401)]
)
async def test_another_operator_key_ends_the_operators_sessions_and_codes(
    runtime: Runtime,
    operator: httpx.AsyncClient,
    boss: httpx.AsyncClient,
    application_id: UUID,
    make_key: MakeKey,
    previous: str | None,
    status: int,
) -> None:
    code, cookie = await new_code(operator), cookie_of(boss)
    changed = replace(runtime, operator_key=OperatorKey("a new key", previous=previous))
    async with serve(changed) as app, browser(app) as page:
        old = await page.get("/api/me", headers=cookie)
        redeemed = await page.post("/api/session", json={"code": code})
        tenant = await page.post(
            "/api/session", json={"key": await make_key(application_id, "viewer")}
        )

    assert old.status_code == status
    assert redeemed.status_code == (201 if status == 200 else 401)
    assert tenant.status_code == 201


@pytest.mark.parametrize(
    "change",
    ["expires_at = now()", "seen_at = now() - interval '12 hours'"],
)
async def test_it_ends_after_its_time_and_when_it_was_not_used(
    boss: httpx.AsyncClient, conn: Connection, change: str
) -> None:
    await conn.execute(f"update app.sessions set {change}".encode())

    answer = await boss.get("/api/me")

    assert seen(answer) == (401, "unauthorized")
    assert "sign in" in answer.json()["detail"]


async def test_use_keeps_it_alive_but_not_beyond_its_time(
    boss: httpx.AsyncClient, conn: Connection
) -> None:
    async def minutes_unseen() -> float:
        cursor = await conn.execute("select extract(epoch from now() - seen_at) from app.sessions")
        [(seconds,)] = await cursor.fetchall()
        return float(seconds) / 60

    await conn.execute("update app.sessions set seen_at = now() - interval '4 minutes'")
    await boss.get("/api/me")
    unwritten = await minutes_unseen()
    await conn.execute("update app.sessions set seen_at = now() - interval '11 hours'")
    soon = (await boss.get("/api/me")).json()["expiresAt"]
    written = await minutes_unseen()
    await conn.execute("update app.sessions set expires_at = now() + interval '1 hour'")
    last = (await boss.get("/api/me")).json()["expiresAt"]

    assert (round(unwritten), round(written)) == (4, 0)
    assert last < soon


@pytest.mark.parametrize("is_operator", [True, False])
async def test_one_sign_in_too_many_ends_the_session_that_was_not_used_for_the_longest_time(
    app: FastAPI,
    pool: Pool,
    conn: Connection,
    application_id: UUID,
    make_key: MakeKey,
    is_operator: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sessions, "PER_KEY", 3)
    others = [await make_key(application_id, "viewer"), OPERATOR_KEY]
    key = OPERATOR_KEY if is_operator else others[0]
    async with AsyncExitStack() as stack:
        other, first, second, third = [
            await stack.enter_async_context(browser(app, key=secret))
            for secret in (others[not is_operator], key, key, key)
        ]
        await conn.execute("update app.sessions set seen_at = seen_at - interval '1 hour'")
        await first.get("/api/me")  # the oldest is in use
        await stack.enter_async_context(browser(app, key=key))
        clients = (other, first, second, third)
        statuses = [(await client.get("/api/me")).status_code for client in clients]

    assert statuses == [200, 200, 401, 200]


async def test_ended_sessions_and_codes_are_removed(
    pool: Pool, conn: Connection, boss: httpx.AsyncClient, operator: httpx.AsyncClient
) -> None:
    await new_code(operator)
    await conn.execute("update app.sign_in_codes set expires_at = now() - interval '1 s'")
    await new_code(operator)
    for number in range(3):
        await conn.execute(
            "insert into app.sessions (session_hash, application_id, operator_seal, seen_at, "
            "expires_at) select sha256(%s), id, '', now() - interval '13 hours', "
            "now() + interval '6 days' from app.applications",
            [str(number).encode()],
        )

    async with transaction(pool) as own:
        first = await sessions.forget(own, limit=2)
    rest = (await clean(pool))["sessions"]
    await prune_old(pool)

    assert (first, rest) == (2, 1)
    assert [await count(conn, f"app.{name}") for name in ("sessions", "sign_in_codes")] == [1, 1]
    assert (await boss.get("/api/me")).status_code == 200
