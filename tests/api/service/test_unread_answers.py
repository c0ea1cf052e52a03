"""Clients that do not read their answers: a real server in this process, on loopback only."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import pytest
from fastapi import FastAPI
from fastapi.responses import Response, StreamingResponse

from api.cli.server import http_protocol
from harness.patience import PATIENCE
from tests.api.http_servers import serving

LARGE: Final = 1000 * 1024
"""Bytes of an answer that the application must wait to send."""
_BUFFER: Final = 4096  # bytes that the kernel keeps at either end


@pytest.fixture
async def port() -> AsyncIterator[int]:
    app = FastAPI()

    @app.get("/large")
    async def large() -> StreamingResponse:
        async def parts() -> AsyncIterator[bytes]:
            for _ in range(LARGE // 1024):
                yield b"x" * 1024

        return StreamingResponse(parts())

    @app.get("/small")
    async def small() -> Response:
        return Response(b"x" * 60_000)

    async with serving(app, send_buffer=_BUFFER) as port:
        yield port


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[socket.socket]:
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        client.setblocking(False)
        async with asyncio.timeout(PATIENCE):
            await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", port))
            yield client


async def has_been_reset(client: socket.socket) -> None:
    loop, reset = asyncio.get_running_loop(), asyncio.Event()

    def look() -> None:
        if client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            reset.set()
        else:
            loop.call_later(0.02, look)

    look()
    await reset.wait()


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param("GET /large HTTP/1.1", id="the application waits to send more"),
        pytest.param("GET /small HTTP/1.0", id="the connection only waits for its end"),
        pytest.param("GET /small HTTP/1.1", id="the next request does not come"),
    ],
)
async def test_a_client_that_reads_nothing_is_cut_off(
    port: int, request_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_protocol, "UNREAD_SECONDS", 0.2)
    monkeypatch.setattr(http_protocol, "IDLE_TIMEOUT_SECONDS", 0.2)
    loop = asyncio.get_running_loop()
    async with connected(port) as client:
        await loop.sock_sendall(client, f"{request_}\r\nHost: x\r\n\r\n".encode())
        await has_been_reset(client)


async def test_a_client_that_reads_slowly_gets_all_of_it(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_protocol, "UNREAD_SECONDS", 0.5)
    loop = asyncio.get_running_loop()
    got = b""
    async with connected(port) as client:
        await loop.sock_sendall(client, b"GET /large HTTP/1.0\r\nHost: x\r\n\r\n")
        while part := await loop.sock_recv(client, 8192):
            got += part
            await asyncio.sleep(0.01)

    assert len(got.partition(b"\r\n\r\n")[2]) == LARGE
