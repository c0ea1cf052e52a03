"""The WebSocket: how long a key is good for, and how much one client may send."""

from contextlib import suppress
from uuid import uuid4

import pytest
from fastapi import FastAPI
from websockets.exceptions import ConnectionClosed

from api.live.messages import MAX_SUBSCRIPTION
from api.live.websocket import MAX_MESSAGE_BYTES
from ingest.postgres.database import Connection
from tests.api.conftest import OPERATOR_KEY, connect
from tests.api.sockets import receive, receive_all, receive_ping, send, socket


@pytest.mark.parametrize("by_ticket", [False, True])
async def test_a_connection_ends_with_4401_when_its_key_is_revoked(
    app: FastAPI,
    address: str,
    key: str,
    conn: Connection,
    monkeypatch: pytest.MonkeyPatch,
    by_ticket: bool,
) -> None:
    monkeypatch.setattr("api.live.websocket._PING_SECONDS", 0.05)
    async with connect(app, key) as viewer:
        ticket = (await viewer.post("/api/tickets")).json()["ticket"]
    given, query = (None, f"?ticket={ticket}") if by_ticket else (key, "")
    async with socket(address, given, query=query) as client:
        for _ in range(3):
            await receive_ping(client)
        await conn.execute("update app.api_keys set revoked_at = now()")
        _, code = await receive_all(client)

    assert code == 4401


async def test_the_operators_connection_outlives_the_checks_of_keys(
    address: str, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.live.websocket._PING_SECONDS", 0.02)
    async with socket(address, OPERATOR_KEY) as client:
        await conn.execute("update app.api_keys set revoked_at = now()")
        for _ in range(4):
            await receive_ping(client)


@pytest.mark.parametrize(
    "text",
    [
        f'{{"type": "{"t" * 5000}"}}',
        f'{{"type": "ping", "{"k" * 5000}": 1}}',
        f'{{"type": "subscribe", "knowledgeSourceIds": "all", "after": {{"{"x" * 5000}": 1}}}}',
    ],
)
async def test_an_error_repeats_little_of_what_the_client_sent(
    address: str, key: str, text: str
) -> None:
    async with socket(address, key) as client:
        await client.send(text)
        error = await receive(client)

    assert error["code"] == "invalid_message"
    assert len(error["detail"]) <= 202


async def test_the_largest_subscription_is_understood_and_a_larger_message_is_not(
    address: str, key: str
) -> None:
    ids = [str(uuid4()) for _ in range(MAX_SUBSCRIPTION)]
    async with socket(address, key) as client:
        after = dict.fromkeys(ids, 2**63 - 1)
        await send(client, type="subscribe", knowledgeSourceIds=ids, after=after)
        answer = await receive(client)
        with suppress(ConnectionClosed):  # it may be gone before all is sent
            await client.send("x" * (MAX_MESSAGE_BYTES + 1))
        _, code = await receive_all(client)

    assert answer["code"] == "not_found"
    # None: the server was gone before the client had sent everything.
    assert code in {1009, None}
