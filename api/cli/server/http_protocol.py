"""HTTP/1.1 by uvicorn, which closes connections without a request in progress."""

import asyncio
from http import HTTPStatus
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from api.middleware.security_headers import HEADERS
from api.problems import problem

IDLE_TIMEOUT_SECONDS: Final = 10.0
"""Time to receive the head of a request, or the rest of a body after an early response."""
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


class TimeoutProtocol(H11Protocol):
    """A connection in three states: responding, receiving the rest of a body, or awaiting a head.

    The first has no time limit here; api/middleware/backpressure.py sets the pace of a body.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._timer: asyncio.TimerHandle | None = None
        self._unread_bytes = 0
        self._opened = self.loop.time()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._close_oldest_idle()
        self._update_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

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
