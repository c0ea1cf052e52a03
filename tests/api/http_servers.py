"""The real HTTP server in this process, on loopback only."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from api.cli.server.http_server import HttpServer


@asynccontextmanager
async def serving(app: FastAPI, *, send_buffer: int | None = None) -> AsyncIterator[int]:
    """Serve an application; yields the port. `send_buffer`: bytes of a socket, in the kernel."""
    ready = asyncio.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        if send_buffer is not None:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        server = HttpServer(app, ready=ready.set)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        await ready.wait()
        yield listener.getsockname()[1]
        server.request_stop()
        await task
