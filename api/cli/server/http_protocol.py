"""HTTP/1.1 by uvicorn, which closes connections of clients that neither ask nor read."""

import asyncio
import socket
import struct
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from api.middleware.security_headers import HEADERS
from api.problems import problem

IDLE_TIMEOUT_SECONDS: Final = 10.0
"""Time to receive the head of a request, or the rest of a body after an early response."""
UNREAD_SECONDS: Final = 60.0
"""Time in which a client takes `_MIN_READ_BYTES` of an answer that waits for it."""
_MIN_READ_BYTES: Final = 10 * 1024
_MAX_IDLE_CONNECTIONS: Final = 500
"""Connections without a request in progress; a further one replaces the oldest."""
# Younger connections are not closed, because each needs time to send its request in a burst.
_MIN_IDLE_SECONDS: Final = 2.0
# Maximum bytes of a request body to drain after an early response: some clients send the whole body
# before they read the response.
_MAX_UNREAD_BYTES: Final = 16 * 1024 * 1024


def _complete_response(status: int, *, code: str, detail: str) -> bytes:
    """A problem, for a connection on which the application does not answer."""
    answer = problem(status, code=code, detail=detail, headers=HEADERS)
    lines = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode(),
        b"connection: close",
        *(b"%b: %b" % header for header in answer.raw_headers),
        b"",
    ]
    return b"\r\n".join([*lines, bytes(answer.body)])


_REQUEST_TIMEOUT: Final = _complete_response(
    408, code="request_timeout", detail="the request took too long to arrive"
)
_BAD_REQUEST: Final = _complete_response(
    400, code="malformed_body", detail="this is not a valid HTTP/1.1 request"
)


class UnsentWatch:
    """Aborts a connection whose client does not read: it would keep a request, a descriptor and
    memory, even after it was closed.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None
        self._unsent = 0
        self._idle_looks = 0

    def start(self, transport: asyncio.Transport, *, is_paused: Callable[[], bool]) -> None:
        """Look until `stop`. `is_paused`: whether the application waits to send more."""
        self._timer = self._loop.call_later(
            UNREAD_SECONDS / 2, self._look, transport, transport.get_protocol(), is_paused
        )

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def note_progress(self) -> None:
        self._unsent = self._idle_looks = 0

    def _look(
        self,
        transport: asyncio.Transport,
        protocol: asyncio.BaseProtocol,
        is_paused: Callable[[], bool],
    ) -> None:
        if transport.get_protocol() is not protocol:  # it became a WebSocket, which has pings
            return
        before, self._unsent = self._unsent, transport.get_write_buffer_size()
        waits = self._unsent > 0 and (is_paused() or transport.is_closing())
        # While it waits, nothing is added.
        is_idle = waits and before > 0 and before - self._unsent < _MIN_READ_BYTES
        self._idle_looks = self._idle_looks + 1 if is_idle else 0
        if self._idle_looks < 2:
            self.start(transport, is_paused=is_paused)
        else:
            _reset(transport)


def _reset(transport: asyncio.Transport) -> None:
    """End the connection at once; the kernel drops what it has not sent."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


class TimeoutProtocol(H11Protocol):
    """A connection in three states: responding, receiving the rest of a body, or awaiting a head.

    The first has no time limit here; api/middleware/backpressure.py sets the pace of a body. In all
    of them, the client has to read what is sent.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._timer: asyncio.TimerHandle | None = None
        self._unread_bytes = 0
        self._opened = self.loop.time()
        self._unsent = UnsentWatch(self.loop)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._unsent.start(transport, is_paused=lambda: self.flow.write_paused)
        self._close_oldest_idle()
        self._update_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._unsent.stop()
        super().connection_lost(exc)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unsent.note_progress()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update_timer()
        if not self._is_answering and self.conn.their_state is h11.SEND_BODY:
            self._unread_bytes += len(data)
            if self._unread_bytes > _MAX_UNREAD_BYTES:
                self.transport.close()

    def send_400_response(self, msg: str) -> None:
        if not self._is_answering:  # else it would end up inside of the response
            self.transport.write(_BAD_REQUEST)
        self.transport.close()

    def on_response_complete(self) -> None:
        self._unread_bytes = 0
        super().on_response_complete()
        self._update_timer()

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _close_oldest_idle(self) -> None:
        """Close the oldest idle connection, so that requests do not lack file descriptors."""
        idle = [
            other
            for other in self.connections
            if isinstance(other, TimeoutProtocol)
            and not other._is_answering
            and not other.transport.is_closing()
        ]
        if len(idle) > _MAX_IDLE_CONNECTIONS:
            oldest = min(idle, key=lambda other: other._opened)
            if self._opened - oldest._opened >= _MIN_IDLE_SECONDS:
                oldest.transport.close()

    def _update_timer(self) -> None:
        is_ours = self.transport.get_protocol() is self  # False after a WebSocket upgrade
        if self._is_answering or not is_ours or self.transport.is_closing():
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(IDLE_TIMEOUT_SECONDS, self._time_out)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_out(self) -> None:
        self._timer = None
        has_begun, _ = self.conn.trailing_data
        if has_begun and self.conn.their_state is h11.IDLE:
            self.transport.write(_REQUEST_TIMEOUT)
        self.transport.close()
