"""Uvicorn for the processes of the service: the caller handles signals and binds sockets."""

import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import uvicorn
from fastapi import FastAPI

from api.cli.server.http_protocol import TimeoutProtocol
from api.live.websocket import MAX_MESSAGE_BYTES

# Time for running requests at a stop; streams, which never end, are cut off then.
_GRACE_SECONDS: Final = 5
_BACKLOG: Final = 2048


class HttpServer(uvicorn.Server):
    """Uvicorn without its signal handling; calls `ready` when it accepts requests."""

    def __init__(self, app: FastAPI, *, ready: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=TimeoutProtocol,
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                backlog=_BACKLOG,
                ws_ping_interval=20,
                ws_max_size=MAX_MESSAGE_BYTES,
                # With compression, each event would be compressed once per socket.
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        self._ready = ready

    def request_stop(self) -> None:
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._ready()

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        # The base class is decorated with contextmanager, whose return type is narrower.
        return nullcontext()
