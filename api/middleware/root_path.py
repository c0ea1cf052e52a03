"""The path below which a proxy publishes the service, whether the proxy removes it or not."""

from typing import Any

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class RootPath:
    """Gives each request the path as ASGI wants it: the prefix as `root_path`, and in `path`."""

    def __init__(self, app: ASGIApp, *, prefix: str) -> None:
        """`prefix`: such as `/rag`."""
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        if path == self._prefix and scope["type"] == "http":
            # Relative addresses of the page would lead beside the prefix.
            await RedirectResponse(f"{self._prefix}/")(scope, receive, send)
            return
        if not path.startswith(f"{self._prefix}/"):
            path = f"{self._prefix}{path}"
        await self._app({**scope, "root_path": self._prefix, "path": path}, receive, send)


def path_below_root(scope: Any) -> str:
    """The path of a request without the prefix."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))
