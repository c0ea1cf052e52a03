"""The WebSocket: who may connect, what it understands, and how it ends."""

import asyncio
import random
from typing import Any
from uuid import UUID, uuid4

import httpx
import orjson
import pytest
from fastapi import FastAPI
from websockets.exceptions import InvalidStatus

from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.sources import events
from ingest.store.sources.events import NewEvent
from tests.api.sockets import (
    receive,
    receive_all,
    receive_text,
    receive_until,
    send,
    socket,
)
from tests.support.live_sources import add_source, emit, eventually, seqs


async def test_a_client_follows_a_source_to_its_end(
    address: str, key: str, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    async with socket(address, key) as client:
        await send(client, type="subscribe", knowledgeSourceIds=[str(source)])
        snapshot = await receive(client)
        await emit(conn, source, 2)
        await emit(conn, source, type="done")
        messages = await receive_until(client, type="done")

    assert snapshot["type"] == "snapshot"
    assert {"status", "percent", "total", "name", "uri", "errorCode", "chunkCount"} <= set(snapshot)
    assert [(message["type"], message["seq"]) for message in messages] == [
        ("progress", 1),
        ("progress", 2),
        ("done", 3),
    ]
    assert {message["knowledgeSourceId"] for message in messages} == {str(source)}


async def test_a_client_that_reconnects_at_random_sees_every_number_once_and_in_order(
    address: str, key: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    sources = [await add_source(conn, application_id) for _ in range(2)]
    each = 80

    async def write(source: UUID) -> None:
        for _ in range(each):
            async with transaction(pool) as own:
                await events.emit(own, [NewEvent(source_id=source, type="progress", data={})])

    seen: list[dict[str, Any]] = []
    last = {str(source): 0 for source in sources}
    writing = [asyncio.create_task(write(source)) for source in sources]
    while any(seq < each for seq in last.values()):
        async with socket(address, key) as client:
            await send(client, type="subscribe", knowledgeSourceIds="all", after=last)
            for _ in range(random.randint(1, 40)):
                if all(seq == each for seq in last.values()):
                    break
                message = await receive(client)
                if message["type"] != "snapshot":
                    seen.append(message)
                last[message["knowledgeSourceId"]] = message["seq"]
    await asyncio.gather(*writing)

    assert seqs(seen) == {source: list(range(1, each + 1)) for source in sources}


@pytest.mark.parametrize("query", ["", "?ticket=unknown"])
async def test_websocket_needs_a_valid_key_or_ticket(address: str, query: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with socket(address, None, query=query):
            pass

    assert refused.value.response.status_code == 403


async def test_websocket_ticket_works_once(
    address: str, viewer: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    ticket = (await viewer.post("/api/tickets")).json()["ticket"]
    async with socket(address, None, query=f"?ticket={ticket}") as client:
        await send(client, type="subscribe", knowledgeSourceIds=[str(source)])
        first = await receive(client)
    with pytest.raises(InvalidStatus):
        async with socket(address, None, query=f"?ticket={ticket}"):
            pass

    assert first["knowledgeSourceId"] == str(source)


async def test_subscribing_to_foreign_sources_keeps_the_connection(
    address: str, key: str, conn: Connection, application_id: UUID, other_application: UUID
) -> None:
    foreign, own = await add_source(conn, other_application), await add_source(conn, application_id)
    unknown = uuid4()
    async with socket(address, key) as client:
        await send(client, type="subscribe", knowledgeSourceIds=[str(foreign), str(unknown)])
        errors = [await receive(client), await receive(client)]
        await send(client, type="subscribe", knowledgeSourceIds=[str(own)])
        snapshot = await receive(client)

    assert {(e["type"], e["code"], e["knowledgeSourceId"]) for e in errors} == {
        ("error", "not_found", str(foreign)),
        ("error", "not_found", str(unknown)),
    }
    assert snapshot["knowledgeSourceId"] == str(own)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '"subscribe"',
        '{"type": "dance"}',
        '{"type": "subscribe"}',
        '{"type": "subscribe", "knowledgeSourceIds": "some"}',
        '{"type": "subscribe", "knowledgeSourceIds": ["x"]}',
        '{"type": "subscribe", "knowledge_source_ids": "all"}',
        '{"type": "subscribe", "knowledgeSourceIds": "all", "more": 1}',
        '{"type": "subscribe", "knowledgeSourceIds": "all", "after": {"x": 1}}',
        f'{{"type": "subscribe", "knowledgeSourceIds": "all", "after": {{"{uuid4()}": -1}}}}',
    ],
)
async def test_invalid_message_gets_an_error_and_the_connection_remains_open(
    address: str, key: str, text: str
) -> None:
    async with socket(address, key) as client:
        await client.send(text)
        error = await receive(client)
        await send(client, type="ping")
        answer = await receive(client)

    assert (error["type"], error["code"]) == ("error", "invalid_message")
    assert answer == {"type": "pong"}


async def test_binary_websocket_message_is_invalid(address: str, key: str) -> None:
    async with socket(address, key) as client:
        await client.send(b'{"type": "ping"}')
        error = await receive(client)

    assert error["code"] == "invalid_message"


async def test_too_many_invalid_messages_end_the_connection(address: str, key: str) -> None:
    async with socket(address, key) as client:
        for _ in range(21):
            await client.send("nonsense")
        answers, code = await receive_all(client)

    assert {answer["code"] for answer in answers} <= {"invalid_message"}
    assert code == 4400


async def test_a_connection_follows_a_limited_number_of_named_sources(
    address: str, key: str
) -> None:
    async with socket(address, key) as client:
        first, second = [[str(uuid4()) for _ in range(6000)] for _ in range(2)]
        await send(client, type="subscribe", knowledgeSourceIds=first)
        for _ in first:
            assert (await receive(client))["code"] == "not_found"
        await send(client, type="subscribe", knowledgeSourceIds=second)
        refused = await receive(client)

    assert refused["code"] == "too_many_subscriptions"


async def test_unsubscribing_ends_the_messages_of_a_source(
    address: str, key: str, conn: Connection, application_id: UUID
) -> None:
    first, second = [await add_source(conn, application_id) for _ in range(2)]
    async with socket(address, key) as client:
        await send(client, type="subscribe", knowledgeSourceIds=[str(first), str(second)])
        await receive(client)
        await receive(client)
        await send(client, type="unsubscribe", knowledgeSourceIds=[str(first)])
        await send(client, type="ping")
        await receive_until(client, type="pong")
        await emit(conn, first)
        await emit(conn, second)
        messages = await receive_until(client, knowledgeSourceId=str(second), seq=1)

    assert seqs(messages) == {second: [1]}


async def test_a_client_that_does_not_read_is_closed_with_4408_and_can_resume(
    app: FastAPI, address: str, key: str, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    feeds = app.state.hub._feeds

    async def is_dropped() -> bool:
        return not feeds.has_subscribers(application_id, source)

    async with socket(address, key, max_queue=4) as client:
        await send(client, type="subscribe", knowledgeSourceIds=[str(source)])
        await receive(client)
        for _ in range(12):
            async with conn.transaction():
                big = NewEvent(source_id=source, type="progress", data={"x": "y" * 10_000})
                await events.emit(conn, [big] * 200)
        await eventually(is_dropped)
        seen, code = await receive_all(client)
    async with socket(address, key) as client:
        last = seen[-1]["seq"]
        await send(
            client,
            type="subscribe",
            knowledgeSourceIds=[str(source)],
            after={str(source): last},
        )
        seen += (await receive_until(client, seq=2400))[1:]

    assert code == 4408
    assert seqs(seen) == {source: list(range(1, 2401))}


async def test_event_is_serialised_once_for_all_sockets(
    address: str, key: str, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    async with socket(address, key) as one, socket(address, key) as another:
        for client in (one, another):
            await send(client, type="subscribe", knowledgeSourceIds=[str(source)])
            await receive(client)
        await emit(conn, source)
        texts = {await receive_text(client) for client in (one, another)}

    [text] = texts
    assert orjson.loads(text)["seq"] == 1
