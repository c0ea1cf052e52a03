"""Routes that know who is asking before they read a byte of what is sent.

FastAPI reads and parses a body before it runs any dependency, so a caller without a key could make
it work. A route of this class settles key, role and rate first; then the body is read, within the
limit of the route, and parsed.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from api.dependencies import Require
from api.middleware.body_limit import bounded
from api.schema import json_body
from api.schema.query import known_query

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class KeyedRoute(APIRoute):
    """A route whose function asks for a key, by one of the annotations in api/dependencies.py."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        (require,) = (
            dependency.call
            for dependency in self.dependant.dependencies
            if isinstance(dependency.call, Require)
        )

        async def keyed(request: Request) -> Response:
            # First, because a typo must not use up a ticket.
            await known_query(request)
            await require.settle(request)
            receive = bounded(request.scope, request.receive, path=self.path_format)
            return await handle(_JsonRequest(request.scope, receive))

        return keyed


class _JsonRequest(Request):
    async def json(self) -> Any:
        try:
            return json_body.parsed(await self.body())
        except json_body.Unacceptable as error:
            raise HTTPException(422, f"the body is not accepted: {error}") from None
