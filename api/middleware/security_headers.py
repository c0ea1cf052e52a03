"""Headers that tell browsers what a response may do: nothing, as it is data of an API.

They wrap the whole application, errors of the framework included, and change no body.
"""

from typing import Final

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_POLICY: Final = "Content-Security-Policy"
NO_EMBEDDING: Final = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

HEADERS: Final[dict[str, str]] = {
    CONTENT_POLICY: f"default-src 'none'; {NO_EMBEDDING}",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",  # a URL may hold a ticket
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_RAW: Final = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
_STARTS: Final = frozenset({"http.response.start", "websocket.http.response.start"})
# Files of the documentation page: browsers keep them and ask whether they have changed.
_REVALIDATED: Final = (b"cache-control", b"no-cache")


class SecurityHeaders:
    """Adds each header that the response does not have itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] in _STARTS:
                headers = list(message.get("headers", ()))
                present = {name.lower() for name, _ in headers}
                if b"etag" in present and b"cache-control" not in present:
                    headers.append(_REVALIDATED)
                    present.add(b"cache-control")
                headers += [header for header in _RAW if header[0] not in present]
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, sending)


def add_security_headers(app: FastAPI) -> None:
    """Wrap the complete application; call it after the last middleware and error handler.

    `add_middleware` does not do: the framework's own 500 is sent outside of all middleware.
    """
    app.middleware_stack = SecurityHeaders(app.build_middleware_stack())
