"""What other web sites can make a browser do with the cookie of a session: nothing."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import InvalidStatus

from harness.patience import PATIENCE
from ingest.postgres.database import Connection
from tests.api.access.routes import ROLES, call, nobodys, seen
from tests.api.access.test_authentication_before_body import answer_without_reading
from tests.api.browsers import SAME_ORIGIN, browser, cookie_of
from tests.api.conftest import OPERATOR_KEY
from tests.api.helpers import count
from tests.api.sockets import listening, receive_all, socket

REFUSED = (403, "cross_site_request")


@pytest.fixture
async def boss(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with browser(app, key=OPERATOR_KEY) as client:
        yield client


@pytest.mark.parametrize(
    "sent",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:3000", "X-Ingest-Csrf": "1"},
        {"Origin": "http://evil.example", "X-Ingest-Csrf": "1"},
        {"Origin": "null", "X-Ingest-Csrf": "1"},
        {"X-Ingest-Csrf": "1"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://ingest.test"},
        {},
    ],
    ids=str,
)
async def test_no_route_that_changes_something_takes_the_cookie(
    app: FastAPI, boss: httpx.AsyncClient, conn: Connection, sent: dict[str, str]
) -> None:
    changing = [route for route in ROLES if not route.startswith("GET ")]
    async with browser(app) as other:
        for name in SAME_ORIGIN:
            del other.headers[name]
        other.headers.update({**sent, **cookie_of(boss)})
        answers = {route: await call(other, route, nobodys(route)) for route in changing}

    assert len(changing) > 30
    assert {route: seen(answer) for route, answer in answers.items()} == dict.fromkeys(
        changing, REFUSED
    )
    assert await count(conn, "rag.knowledge_sources") == 0


async def test_a_page_over_plain_http_is_known_by_its_origin(
    app: FastAPI, boss: httpx.AsyncClient
) -> None:
    async with browser(app) as page:
        del page.headers["Sec-Fetch-Site"]
        page.headers.update({"Origin": "http://ingest.test", **cookie_of(boss)})
        answer = await page.post("/api/search", json={"query": "heron"})

    assert answer.status_code == 200


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize(
    "sent",
    [
        {"sec-fetch-site": "cross-site", "x-ingest-csrf": "1"},
        {"origin": "http://evil.example", "x-ingest-csrf": "1"},
        {"sec-fetch-site": "same-origin"},
        {},
    ],
    ids=str,
)
async def test_other_sites_sign_nobody_in_or_out_and_no_byte_of_theirs_is_read(
    app: FastAPI, method: str, sent: dict[str, str]
) -> None:
    """Login CSRF: the victim would work in the attacker's application."""
    assert await answer_without_reading(app, method, "/api/session", **sent) == REFUSED


async def test_reading_is_refused_when_the_browser_names_another_site(
    boss: httpx.AsyncClient,
) -> None:
    statuses = {
        site: (await boss.get("/api/jobs", headers={"Sec-Fetch-Site": site})).status_code
        for site in ("same-origin", "none", "same-site", "cross-site")
    }

    assert statuses == {"same-origin": 200, "none": 200, "same-site": 403, "cross-site": 403}


async def test_a_get_that_starts_work_does_not_take_the_cookie(
    boss: httpx.AsyncClient, conn: Connection
) -> None:
    answer = await boss.get("/upload/url", params={"url": "https://a.example", "crawlLinks": True})

    assert seen(answer) == (401, "unauthorized")
    assert await count(conn, "rag.knowledge_sources") == 0


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    async with listening(app) as address:
        yield address


async def sign_in(address: str) -> dict[str, str]:
    """The cookie of a session at a real server."""
    async with httpx.AsyncClient(base_url=f"http://{address}", headers=SAME_ORIGIN) as page:
        answer = await page.post("/api/session", json={"key": OPERATOR_KEY})
        assert answer.status_code == 201
        return cookie_of(page)


async def test_a_socket_of_another_site_is_refused(address: str) -> None:
    """Cross-site WebSocket hijacking: there is no preflight, and the other site could read."""
    cookie = await sign_in(address)
    for origin in (None, "http://evil.example", "http://127.0.0.1:1", "null"):
        headers = {**cookie, **({} if origin is None else {"Origin": origin})}
        with pytest.raises(InvalidStatus) as refused:
            async with open_socket(f"ws://{address}/api/ws", additional_headers=headers):
                pass
        assert refused.value.response.status_code == 403


@pytest.mark.parametrize("by_ticket", [False, True])
async def test_signing_out_ends_the_sockets(
    address: str, monkeypatch: pytest.MonkeyPatch, by_ticket: bool
) -> None:
    monkeypatch.setattr("api.live.websocket._PING_SECONDS", 0.05)
    cookie = await sign_in(address)
    async with httpx.AsyncClient(
        base_url=f"http://{address}", headers={**SAME_ORIGIN, **cookie}
    ) as page:
        ticket = (await page.post("/api/tickets")).json()["ticket"]
        query, headers = "", {**cookie, "Origin": f"http://{address}"}
        if by_ticket:
            query, headers = f"?ticket={ticket}", {}
        async with open_socket(
            f"ws://{address}/api/ws{query}", additional_headers=headers
        ) as client:
            before = [await asyncio.wait_for(client.recv(), PATIENCE) for _ in range(3)]
            await page.delete("/api/session")
            _, code = await receive_all(client)
        late = await page.get("/api/me")

    assert len(before) == 3
    assert (code, late.status_code) == (4401, 401)


async def test_a_ticket_of_a_session_ends_with_it(address: str) -> None:
    cookie = await sign_in(address)
    async with httpx.AsyncClient(
        base_url=f"http://{address}", headers={**SAME_ORIGIN, **cookie}
    ) as page:
        ticket = (await page.post("/api/tickets")).json()["ticket"]
        await page.delete("/api/session")

    with pytest.raises(InvalidStatus):
        async with socket(address, None, query=f"?ticket={ticket}"):
            pass
