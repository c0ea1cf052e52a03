"""A real server in the test's event loop, and clients that follow sources over it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import orjson
import uvicorn
from fastapi import FastAPI
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed

from api.live import messages
from api.live.websocket import MAX_MESSAGE_BYTES
from harness.patience import PATIENCE


@asynccontextmanager
async def listening(app: FastAPI) -> AsyncIterator[str]:
    """`host:port` of a server for an application whose lifespan was entered already."""
    config = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=0,
        lifespan="off",
        log_level="error",
        ws_ping_interval=20,
        ws_max_size=MAX_MESSAGE_BYTES,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server._serve())
    async with asyncio.timeout(PATIENCE):
        while not server.started:  # noqa: ASYNC110 there is nothing to wait for
            await asyncio.sleep(0.005)
    try:
        host, port = server.servers[0].sockets[0].getsockname()[:2]
        yield f"{host}:{port}"
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def socket(
    address: str, key: str | None, *, query: str = "", max_queue: int | None = None
) -> AsyncIterator[ClientConnection]:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    async with open_socket(
        f"ws://{address}/api/ws{query}",
        additional_headers=headers,
        max_queue=max_queue,
        compression=None,
    ) as client:
        yield client


async def send(client: ClientConnection, **command: Any) -> None:
    await client.send(orjson.dumps(command).decode())


async def receive_text(client: ClientConnection) -> str:
    """The next message that is not a ping: the server sends those by its own clock, and on a slow
    machine they come before any other message."""
    async with asyncio.timeout(PATIENCE):
        while (text := await client.recv(decode=True)) == messages.PING.text:
            pass
    return text


async def receive(client: ClientConnection) -> dict[str, Any]:
    """The next message that is not a ping."""
    message: dict[str, Any] = orjson.loads(await receive_text(client))
    return message


async def receive_ping(client: ClientConnection) -> None:
    """The next message, which must be a ping."""
    async with asyncio.timeout(PATIENCE):
        assert await client.recv(decode=True) == messages.PING.text


async def receive_until(client: ClientConnection, **wanted: Any) -> list[dict[str, Any]]:
    """All messages but pings, up to one that has these fields."""
    received = [await receive(client)]
    while any(received[-1].get(name) != value for name, value in wanted.items()):
        received.append(await receive(client))
    return received


async def receive_all(client: ClientConnection) -> tuple[list[dict[str, Any]], int | None]:
    """All messages but pings until the server closes, and its close code."""
    received = []
    try:
        while True:
            received.append(await receive(client))
    except ConnectionClosed as closed:
        return received, closed.rcvd.code if closed.rcvd else None


async def frames(
    address: str, path: str, key: str, *, headers: dict[str, str] | None = None
) -> AsyncIterator[dict[str, Any]]:
    """Server-sent events as `id`, `event` and `data`, until the server ends them."""
    everything = {"Authorization": f"Bearer {key}", **(headers or {})}
    async with (
        httpx.AsyncClient(base_url=f"http://{address}", headers=everything) as client,
        client.stream("GET", path) as response,
    ):
        assert response.status_code == 200, await response.aread()
        frame: dict[str, Any] = {}
        async for line in response.aiter_lines():
            name, _, value = line.partition(": ")
            if name == "data":
                frame[name] = orjson.loads(value)
            elif name:
                frame[name] = value
            elif frame:
                yield frame
                frame = {}
