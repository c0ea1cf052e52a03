"""Backpressure per process: a minimum rate for bodies and a maximum of concurrent requests."""

import asyncio
from collections.abc import Collection
from datetime import timedelta
from typing import Final

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.middleware.root_path import path_below_root
from api.problems import problem, retry_after

WINDOW_SECONDS: Final = 20.0
MIN_BYTES: Final = 10 * 1024
"""Minimum bytes of a body per window: half a kilobyte a second, a fraction of the slowest link."""

_EVENT_STREAM: Final = b"text/event-stream"


class MinimumBodyRate:
    """Responds with 408 to a body that arrives too slowly.

    Time counts only while the application waits for bytes: a slow disk on our side is not held
    against the client.
    """

    def __init__(
        self, app: ASGIApp, *, window: float = WINDOW_SECONDS, min_bytes: int = MIN_BYTES
    ) -> None:
        """`window`: seconds. `min_bytes`: bytes that must arrive in each window."""
        self._app = app
        self._window = window
        self._min_bytes = min_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        paced = _RatedBody(receive, send, window=self._window, min_bytes=self._min_bytes)
        await self._app(scope, paced.receive, paced.send)


class _RatedBody:
    def __init__(self, receive: Receive, send: Send, *, window: float, min_bytes: int) -> None:
        self._receive = receive
        self._send = send
        self._window = window
        self._min_bytes = min_bytes
        self._waited = 0.0
        self._got = 0
        self._is_answered = False
        self._is_whole = False

    async def receive(self) -> Message:
        if self._is_whole:
            return await self._receive()  # a caller now waits for the client to disconnect
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(self._window - self._waited):
                message = await self._receive()
        except TimeoutError:
            return self._too_slow()
        self._is_whole = message["type"] != "http.request" or not message.get("more_body", False)
        self._waited += loop.time() - started
        self._got += len(message.get("body", b""))
        if self._got >= self._min_bytes:
            self._waited, self._got = 0.0, 0
        elif self._waited >= self._window and not self._is_whole:
            return self._too_slow()
        return message

    async def send(self, message: Message) -> None:
        self._is_answered = True
        await self._send(message)

    def _too_slow(self) -> Message:
        if self._is_answered:
            return {"type": "http.disconnect"}
        raise HTTPException(408, "the body arrives too slowly", headers={"Connection": "close"})


class ConcurrencyLimit:
    """Responds with 503 to new requests while `max_requests` requests are in flight.

    Not counted: WebSockets, event streams once they have begun, and the `exempt` paths.
    """

    def __init__(self, app: ASGIApp, *, max_requests: int, exempt: Collection[str]) -> None:
        self._app = app
        self._max_requests = max_requests
        self._exempt = frozenset(exempt)
        self._count = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or path_below_root(scope) in self._exempt:
            await self._app(scope, receive, send)
            return
        if self._count >= self._max_requests:
            await _OVERLOADED(scope, receive, send)
            return
        is_counted, is_answered = True, False
        self._count += 1

        def leave() -> None:
            nonlocal is_counted
            self._count -= is_counted
            is_counted = False

        async def sending(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            if message["type"] == "http.response.start" and _is_event_stream(message):
                leave()
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except asyncio.CancelledError:
            # The stop of the process cuts it short; the server would respond with 500.
            if is_answered:
                raise
            await _STOPPING(scope, receive, send)
        finally:
            leave()


_OVERLOADED: Final = problem(
    503,
    code="overloaded",
    detail="too many concurrent requests; try again",
    headers=retry_after(timedelta(seconds=1)),
)
_STOPPING: Final = problem(
    503,
    code="overloaded",
    detail="the process stops; try again",
    headers=retry_after(timedelta(seconds=1)),
)


def _is_event_stream(message: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(_EVENT_STREAM)
        for name, value in message.get("headers", ())
    )
