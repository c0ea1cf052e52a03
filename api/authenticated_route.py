"""Routes that authenticate the caller before they read any byte of the body.

FastAPI reads and parses a body before it runs any dependency, so a caller without a key could
cause work. An AuthenticatedRoute checks key, role and rate limit first, a SameOriginRoute that a
page of this service asks. Then they read the body, within the limit of the route, and parse it.
"""

from collections.abc import Callable, Coroutine
from enum import Enum
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from api.dependencies import RequireRole
from api.middleware.body_limit import limit_body
from api.schema import json_body, openapi
from api.schema.query import reject_unknown_query
from api.session_cookie import check_change

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class AuthenticatedRoute(APIRoute):
    """A route whose function takes a key, by one of the annotations in api/dependencies.py."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        (require,) = (
            dependency.call
            for dependency in self.dependant.dependencies
            if isinstance(dependency.call, RequireRole)
        )

        async def keyed(request: Request) -> Response:
            # First, because a mistyped parameter must not consume a ticket.
            await reject_unknown_query(request)
            await require.authenticate(request)
            return await handle(_limited(request, path=self.path_format))

        return keyed


class KeyedRouter(APIRouter):
    """Routes that take a key.

    The application has them as they are: FastAPI would build those of an included router again,
    with the first request.
    """

    def __init__(self, *, prefix: str = "", tags: list[str | Enum] | None = None) -> None:
        super().__init__(
            prefix=prefix,
            tags=tags,
            route_class=AuthenticatedRoute,
            responses=openapi.KEYED,
            generate_unique_id_function=openapi.operation_id,
        )


class SameOriginRoute(APIRoute):
    """A route for pages of this service, with or without a session."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def checked(request: Request) -> Response:
            await reject_unknown_query(request)
            check_change(request)
            return await handle(_limited(request, path=self.path_format))

        return checked


def _limited(request: Request, *, path: str) -> Request:
    return _JsonRequest(request.scope, limit_body(request.scope, request.receive, path=path))


class _JsonRequest(Request):
    async def json(self) -> Any:
        try:
            return json_body.parse(await self.body())
        except json_body.RefusedJson as error:
            raise HTTPException(422, f"the body is not accepted: {error}") from None
