"""Counts and traces responses by the route's template, never by the path."""

import time
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ingest.observability import metrics, tracing

# Invented paths and methods must not become labels.
_UNKNOWN: Final = "none"
_FAILED: Final = int(HTTPStatus.INTERNAL_SERVER_ERROR)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestMetrics:
    """The outermost middleware: it also counts requests that inner ones refuse."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._request(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        came_with = Headers(scope=scope).get("traceparent")
        method = scope["method"] if scope["method"] in _METHODS else _UNKNOWN
        with tracing.server_span(method, traceparent=came_with) as span:
            status = await self._counted(method, scope, receive, send)
            route = _route(scope)
            span.update_name(f"{method} {route}")
            span.set_attributes(
                {
                    "http.request.method": method,
                    "http.route": route,
                    "http.response.status_code": status,
                }
            )
            if status >= _FAILED:
                tracing.failed(span, str(status))

    async def _counted(self, method: str, scope: Scope, receive: Receive, send: Send) -> int:
        """Process the request; returns the status of the response."""
        started = time.monotonic()
        status: int | None = None

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
                count(status)
            await send(message)

        def count(status: int) -> None:
            seconds = time.monotonic() - started
            metrics.request_answered(method, _route(scope), status, seconds=seconds)

        try:
            await self._app(scope, receive, sending)
        except Exception:
            # The framework turns it into a 500 outside this middleware.
            if status is None:
                count(_FAILED)
            raise
        return status or _FAILED

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_open = False

        async def sending(message: Message) -> None:
            nonlocal is_open
            if message["type"] == "websocket.accept" and not is_open:
                is_open = True
                metrics.socket_opened()
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            if is_open:
                metrics.socket_closed()


def _route(scope: Scope) -> str:
    """The template; the router sets it when it finds a route."""
    return str(getattr(scope.get("route"), "path", _UNKNOWN))
