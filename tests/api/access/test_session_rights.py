"""What a session of the dashboard may do, and what others see of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI
from psycopg.errors import InsufficientPrivilege

from ingest.postgres.database import Connection, Pool, transaction
from ingest.runtime import Runtime
from ingest.settings.operator_key import OperatorKey
from ingest.store.tenants import sessions
from tests.api.access.limited_keys import limited_key
from tests.api.access.routes import RANKS, ROLES, call, nobodys, seen
from tests.api.access.test_collections import files, make
from tests.api.browsers import browser
from tests.api.conftest import MakeKey, connect, serve

# ---------------------------------------------------------------- what it may do


@pytest.mark.parametrize("role", ["viewer", "editor", "admin"])
async def test_it_may_do_what_the_role_of_its_key_may(
    app: FastAPI, application_id: UUID, make_key: MakeKey, role: str
) -> None:
    key = await make_key(application_id, role)  # type: ignore[arg-type]
    async with browser(app, key=key) as page:
        answers = {
            route: await call(page, route, nobodys(route))
            for route in ROLES
            if route != "GET /upload/url"
        }

    refused = {route for route, answer in answers.items() if answer.status_code == 403}
    assert refused == {
        route
        for route, needed in ROLES.items()
        if RANKS.index(needed) > RANKS.index(role) and route in answers
    }
    assert {answer.status_code for answer in answers.values()} & {401, 500} == set()


async def test_the_operators_session_names_an_application_and_others_may_not(
    app: FastAPI,
    boss: httpx.AsyncClient,
    application_id: UUID,
    other_application: UUID,
    make_key: MakeKey,
) -> None:
    theirs = {"X-Application-Id": str(other_application)}
    me = (await boss.get("/api/me", headers=theirs)).json()
    async with browser(app, key=await make_key(application_id, "admin")) as page:
        refused = await page.get("/api/me", headers=theirs)
        own = await page.get("/api/me", headers={"X-Application-Id": str(application_id)})

    assert (me["application"]["name"], me["isOperator"]) == ("somebody else", True)
    assert me["expiresAt"] is not None
    assert (seen(refused), own.status_code) == ((404, "not_found"), 200)


async def test_a_limited_key_stays_limited(
    app: FastAPI,
    editor: httpx.AsyncClient,
    admin: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
) -> None:
    collection = await make(editor, "shown")
    [shown] = await files(editor, conn, "shown heron", collectionId=collection)
    await files(editor, conn, "hidden heron")
    key = await limited_key(admin, application_id, collection)
    async with browser(app, key=key) as page:
        me = (await page.get("/api/me")).json()
        sources = (await page.get("/api/knowledge-sources")).json()["items"]
        refused = await page.get("/api/usage")

    assert (me["collectionIds"], me["role"]) == ([collection], "viewer")
    assert [source["id"] for source in sources] == [shown]
    assert seen(refused) == (403, "forbidden")


async def test_a_key_in_the_header_counts_before_the_cookie(
    boss: httpx.AsyncClient, application_id: UUID, make_key: MakeKey
) -> None:
    async def role(authorization: str) -> str | int:
        answer = await boss.get("/api/me", headers={"Authorization": authorization})
        return str(answer.json()["keyName"]) if answer.is_success else answer.status_code

    assert await role(f"Bearer {await make_key(application_id, 'viewer')}") == "a viewer"
    assert await role("Bearer rk_wrong") == 401
    # What a proxy with a password of its own lets browsers send.
    assert await role("Basic dXNlcjpwYXNz") == "None"


async def test_its_requests_count_as_those_of_its_key(
    runtime: Runtime, application_id: UUID, make_key: MakeKey
) -> None:
    settings = runtime.settings.model_copy(update={"requests_per_minute": 3})
    key = await make_key(application_id, "viewer")
    async with serve(replace(runtime, settings=settings)) as app, browser(app, key=key) as page:
        statuses = [(await page.get("/api/me")).status_code for _ in range(3)]
        async with connect(app, key) as program:
            statuses.append((await program.get("/api/me")).status_code)

    assert statuses == [200, 200, 429, 429]


# ---------------------------------------------------------------- behind the second wall


async def test_other_applications_see_no_session_and_make_none(
    pool: Pool, application_id: UUID, other_application: UUID, app: FastAPI, make_key: MakeKey
) -> None:
    async def visible(own: Pool) -> Sequence[Any]:
        async with transaction(own) as conn:
            return await (await conn.execute("select application_id from app.sessions")).fetchall()

    async with (
        browser(app, key=await make_key(application_id, "viewer")),
        browser(app, key=await make_key(other_application, "viewer")),
    ):
        assert await visible(pool.of(application_id)) == [(application_id,)]
        assert await visible(pool.of(other_application)) == [(other_application,)]
        assert await visible(pool.of(application_id).limited_to([])) == []
        async with transaction(pool.of(application_id)) as conn:
            with pytest.raises(InsufficientPrivilege):
                await sessions.add(
                    conn, application_id=other_application, key_id=None, seal=OperatorKey("k").seal
                )


async def test_a_row_that_somebody_writes_is_no_session_of_the_operator(
    boss: httpx.AsyncClient, conn: Connection
) -> None:
    """Nor is a copy: the seal belongs to one secret."""
    for secret, seal in (("forged", "'\\x00'::bytea"), ("copied", "operator_seal")):
        await conn.execute(
            "insert into app.sessions (session_hash, application_id, operator_seal, expires_at) "
            f"select sha256(%s), application_id, {seal}, expires_at from app.sessions limit 1",
            [secret.encode()],
        )

    statuses = [
        (await boss.get("/api/me", headers={"Cookie": f"ingest={secret}"})).status_code
        for secret in ("forged", "copied")
    ]

    assert statuses == [401, 401]
