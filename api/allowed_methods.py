"""Methods that a path does not have: 405 with the ones that it has, over all routes."""

from typing import Final

from fastapi import Request
from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from api.middleware.root_path import path_below_root

_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class HeadOfProbes:
    """Answers HEAD on these paths as GET: load balancers ask so. The server leaves out the body."""

    def __init__(self, app: ASGIApp, *, paths: tuple[str, ...]) -> None:
        self._app = app
        self._paths = frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _is_head(scope) and path_below_root(scope) in self._paths:
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send)


def _is_head(scope: Scope) -> bool:
    return bool(scope["type"] == "http" and scope["method"] == "HEAD")


def allowed_methods(request: Request, *, head_paths: tuple[str, ...]) -> str:
    """The value of `Allow` for the path of a request; empty if a mounted application decides.

    The framework names the methods of the first route of the path only.
    """
    scope = dict(request.scope)
    scope.pop("path_params", None)
    routes = [route for route in request.app.router.routes if not isinstance(route, Mount)]
    methods = [
        method
        for method in _METHODS
        if any(route.matches({**scope, "method": method})[0] is Match.FULL for route in routes)
    ]
    if path_below_root(scope) in head_paths and "HEAD" not in methods:
        methods.append("HEAD")
    return ", ".join([*methods, "OPTIONS"]) if methods else ""
