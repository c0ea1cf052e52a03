"""Connections that ask for nothing are closed: a real server in this process, on loopback only."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import pytest
from fastapi import FastAPI, Request, WebSocket
from fastapi.responses import StreamingResponse
from websockets.asyncio.client import connect as open_socket

from api.cli.server import http_protocol
from harness.patience import PATIENCE
from tests.api.http_servers import serving

IDLE_TIMEOUT_SECONDS: Final = 0.3
POST: Final = b"POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n"

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@pytest.fixture
def app() -> FastAPI:
    app = FastAPI()

    @app.get("/")
    async def root() -> str:
        return "ok"

    @app.post("/refuse", status_code=401)
    async def refuse() -> str:
        return "no"

    @app.post("/count")
    async def count(request: Request) -> int:
        return sum([len(piece) async for piece in request.stream()])

    @app.get("/events")
    async def events() -> StreamingResponse:
        async def frames() -> AsyncIterator[str]:
            for _ in range(2):
                yield "data: x\n\n"
                await asyncio.sleep(3 * IDLE_TIMEOUT_SECONDS)

        return StreamingResponse(frames(), media_type="text/event-stream")

    @app.websocket("/ws")
    async def echo(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(await websocket.receive_text())
        await websocket.close()

    return app


@pytest.fixture
async def port(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    monkeypatch.setattr(http_protocol, "IDLE_TIMEOUT_SECONDS", IDLE_TIMEOUT_SECONDS)
    monkeypatch.setattr(http_protocol, "_MAX_UNREAD_BYTES", 1024 * 1024)
    async with serving(app) as port:
        yield port


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[Streams]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(PATIENCE):
            yield reader, writer
    finally:
        writer.close()


async def drip(writer: asyncio.StreamWriter, text: bytes = b"x" * 10_000) -> None:
    try:
        for byte in text:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(IDLE_TIMEOUT_SECONDS / 10)
    except ConnectionError:
        pass


async def rest(reader: asyncio.StreamReader) -> bytes:
    """What comes until the server closes."""
    try:
        return await reader.read()
    except ConnectionError:
        return b""


async def test_idle_and_slow_connections_are_closed_while_others_are_served(
    port: int,
) -> None:
    async with asyncio.timeout(PATIENCE):
        streams = [await asyncio.open_connection("127.0.0.1", port) for _ in range(240)]
        dripping = [asyncio.create_task(drip(writer)) for _, writer in streams[::2]]
        async with connected(port) as (reader, writer):
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            served = await reader.read()
        ends = await asyncio.gather(*(rest(reader) for reader, _ in streams))
        await asyncio.gather(*dripping)
    for _, writer in streams:
        writer.close()

    assert served.startswith(b"HTTP/1.1 200 OK")
    assert {end[:12] for end in ends[1::2]} == {b""}
    # A connection that is still sent to may be reset before its 408 is read.
    assert {end[:12] for end in ends[::2]} <= {b"", b"HTTP/1.1 408"}


async def test_idle_connections_do_not_displace_requests(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_protocol, "IDLE_TIMEOUT_SECONDS", 60)
    monkeypatch.setattr(http_protocol, "_MAX_IDLE_CONNECTIONS", 20)
    monkeypatch.setattr(http_protocol, "_MIN_IDLE_SECONDS", 0)
    async with connected(port) as (events, asking):
        asking.write(b"GET /events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        begun = await events.readuntil(b"data: x")
        async with asyncio.timeout(PATIENCE):
            idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
            ends = [await rest(reader) for reader, _ in idle[:80]]
        async with connected(port) as (reader, writer):
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            served = await reader.read()
        ended = await events.read()
    for _, writer in idle:
        writer.close()

    assert begun.startswith(b"HTTP/1.1 200")
    assert set(ends) == {b""}
    assert served.startswith(b"HTTP/1.1 200")
    assert b"data: x" in ended


async def test_a_head_that_stops_halfway_is_a_408_problem(port: int) -> None:
    async with connected(port) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nHost: ")
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 408 Request Timeout")
    assert b"content-type: application/problem+json" in head
    assert b'"code":"request_timeout"' in body


async def test_bytes_that_are_no_request_are_a_400_problem(port: int) -> None:
    async with connected(port) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\nBAD\r\n\r\n")
        first, _, second = (await reader.read()).partition(b'"ok"')

    head, _, body = second.partition(b"\r\n\r\n")
    assert first.startswith(b"HTTP/1.1 200")
    assert head.startswith(b"HTTP/1.1 400 Bad Request")
    assert b"content-type: application/problem+json" in head
    assert b'"code":"malformed_body"' in body


async def test_the_second_request_of_a_connection_has_no_more_time_than_the_first(
    port: int,
) -> None:
    async with connected(port) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        first = await reader.readuntil(b'"ok"')
        dripping = asyncio.create_task(drip(writer))
        end = await rest(reader)
        await dripping

    assert first.startswith(b"HTTP/1.1 200")
    assert end[:12] in (b"", b"HTTP/1.1 408")


async def test_unread_body_is_not_waited_for(port: int) -> None:
    async with connected(port) as (reader, writer):
        writer.write(POST)
        answer = await reader.read()
    async with connected(port) as (reader, writer):
        writer.write(POST)
        started = time.monotonic()
        sent = 0
        try:
            while time.monotonic() - started < 20:
                writer.write(b"x" * 65536)
                await writer.drain()
                sent += 65536
        except ConnectionError:
            pass

    assert answer.startswith(b"HTTP/1.1 401")
    # What the kernel's buffers take comes on top.
    assert sent < 64 * 1024 * 1024


async def test_a_client_that_sends_all_before_it_reads_gets_the_answer(port: int) -> None:
    async with connected(port) as (reader, writer):
        writer.write(b"POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n")
        for _ in range(9):
            writer.write(b"x" * 100_000)
            await writer.drain()
            await asyncio.sleep(0.01)
        answer = await reader.readuntil(b'"no"')

    assert answer.startswith(b"HTTP/1.1 401")


async def test_slow_uploads_streams_and_sockets_stay_open(port: int) -> None:
    async with connected(port) as (reader, writer):
        writer.write(b"POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n")
        await drip(writer, b"x" * 20)
        counted = await reader.readuntil(b"\r\n\r\n20")
        writer.write(b"GET /events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        events = await reader.read()
    async with open_socket(f"ws://127.0.0.1:{port}/ws") as client:
        await asyncio.sleep(3 * IDLE_TIMEOUT_SECONDS)
        await client.send("hello")
        echoed = await client.recv()

    assert counted.startswith(b"HTTP/1.1 200")
    assert events.count(b"data: x") == 2
    assert echoed == "hello"
