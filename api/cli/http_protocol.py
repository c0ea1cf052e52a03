"""HTTP/1.1 by uvicorn, which closes connections without a request in progress."""

import asyncio
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from api.problems import problem

HEAD_SECONDS: Final = 10.0
"""To receive the head of a request, or the rest of a body after it was answered."""
_MOST_WAITING: Final = 500
"""Connections without a request in progress; a further one replaces the oldest."""
# Younger connections stay open: in a burst, each gets the time to send its request.
_YOUNG_SECONDS: Final = 2.0
# Bytes of that rest: a client that sends a whole body before it reads still gets the answer.
_UNWANTED_BYTES: Final = 16 * 1024 * 1024

_ANSWER: Final = problem(408, code="request_timeout", detail="the request did not come in time")
_TOO_SLOW: Final = b"".join(
    [
        b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n",
        *(b"%b: %b\r\n" % header for header in _ANSWER.raw_headers),
        b"\r\n",
        bytes(_ANSWER.body),
    ]
)


class PromptProtocol(H11Protocol):
    """A connection in three states: answering a request, receiving its rest, or awaiting a head.

    The first has no time limit here; api/middleware/backpressure.py sets the pace of a body.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline: asyncio.TimerHandle | None = None
        self._unwanted = 0
        self._opened = self.loop.time()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._make_room()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()
        if not self._is_answering and self.conn.their_state is h11.SEND_BODY:
            self._unwanted += len(data)
            if self._unwanted > _UNWANTED_BYTES:
                self.transport.close()

    def on_response_complete(self) -> None:
        self._unwanted = 0
        super().on_response_complete()
        self._watch()

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _make_room(self) -> None:
        """Close the oldest idle connection, so that requests do not lack file descriptors."""
        waiting = [
            other
            for other in self.connections
            if isinstance(other, PromptProtocol)
            and not other._is_answering
            and not other.transport.is_closing()
        ]
        if len(waiting) > _MOST_WAITING:
            oldest = min(waiting, key=lambda other: other._opened)
            if self._opened - oldest._opened >= _YOUNG_SECONDS:
                oldest.transport.close()

    def _watch(self) -> None:
        is_ours = self.transport.get_protocol() is self  # False: a WebSocket has taken it over
        if self._is_answering or not is_ours or self.transport.is_closing():
            self._rest()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _rest(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        has_begun, _ = self.conn.trailing_data
        if has_begun and self.conn.their_state is h11.IDLE:
            self.transport.write(_TOO_SLOW)
        self.transport.close()
