"""Routes that authenticate the caller before they read any byte of the body.

FastAPI reads and parses a body before it runs any dependency, so a caller without a key could
cause work. A route of this class checks key, role and rate limit first. Then it reads the body,
within the size limit of the route, and parses it.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from api.dependencies import RequireRole
from api.middleware.body_limit import limit_body
from api.schema import json_body
from api.schema.query import reject_unknown_query

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
            receive = limit_body(request.scope, request.receive, path=self.path_format)
            return await handle(_JsonRequest(request.scope, receive))

        return keyed


class _JsonRequest(Request):
    async def json(self) -> Any:
        try:
            return json_body.parse(await self.body())
        except json_body.RefusedJson as error:
            raise HTTPException(422, f"the body is not accepted: {error}") from None
