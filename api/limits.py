"""Bodies that are read into memory have a limit; the upload, which is streamed, has none.

The framework's own limit answers in plain text and cannot be lifted for one route.
"""

from collections.abc import Collection

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import problem


class BodyLimit:
    """Refuses bodies of more than `limit` bytes, but for the paths that stream theirs."""

    def __init__(self, app: ASGIApp, *, limit: int, streamed: Collection[str]) -> None:
        self._app = app
        self._limit = limit
        self._streamed = frozenset(streamed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self._streamed:
            await self._app(scope, receive, send)
        elif _announced(scope) > self._limit:
            await self._refusal()(scope, receive, send)
        else:
            await self._app(scope, self._counted(receive), send)

    def _counted(self, receive: Receive) -> Receive:
        """For bodies that do not tell their length."""
        seen = 0

        async def counting() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limit:
                raise HTTPException(413, self._detail())
            return message

        return counting

    def _refusal(self) -> ASGIApp:
        return problem(413, code="too_large", detail=self._detail())

    def _detail(self) -> str:
        return f"the body is larger than {self._limit} bytes"


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
