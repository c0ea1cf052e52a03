"""Dependencies of routes: the runtime, the pool, and the caller with at least a role."""

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends
from fastapi.requests import HTTPConnection

from api.authentication import Key, authenticate, pool_of, runtime_of
from api.middleware.in_use import InUse, in_use_of
from api.problems import Forbidden
from ingest.model import Role
from ingest.postgres.database import Pool
from ingest.runtime import Runtime

# Where the scope of a request keeps the authenticated caller.
_CALLER: Final = "ingest.key"
_CALLERS_POOL: Final = "ingest.pool"

_RANK: Final[dict[Role, int]] = {"viewer": 0, "editor": 1, "admin": 2}


# Coroutines, though they wait for nothing: FastAPI hands functions to a thread, which takes longer
# than all else that it does for a request.
async def _runtime(connection: HTTPConnection) -> Runtime:
    return runtime_of(connection)


async def _pool(connection: HTTPConnection) -> Pool:
    pool: Pool = connection.scope[_CALLERS_POOL]
    return pool


async def _in_use(connection: HTTPConnection) -> InUse:
    return in_use_of(connection)


RuntimeDep = Annotated[Runtime, Depends(_runtime)]
InUseDep = Annotated[InUse, Depends(_in_use)]


PoolDep = Annotated[Pool, Depends(_pool)]
"""Sees the rows of the caller's application, of a limited key those of its collections; in a route
for the operator, those of all."""


@dataclass(frozen=True, slots=True)
class RequireRole:
    """A dependency that accepts keys of this role or a higher one (api/authenticated_route.py)."""

    role: Role
    is_operator: bool = False
    """Whether only the operator key is accepted."""
    allow_ticket: bool = False
    allow_session: bool = True
    """Whether the cookie of the dashboard is accepted; not by a GET that changes something."""
    allow_limited: bool = False
    """Whether keys that are limited to collections are accepted: the route reads with PoolDep."""

    async def __call__(self, connection: HTTPConnection) -> Key:
        key: Key = connection.scope[_CALLER]
        return key

    async def authenticate(self, connection: HTTPConnection) -> None:
        """Authenticate the request, once. Raises Unauthorized and Forbidden."""
        key = await authenticate(
            connection, allow_ticket=self.allow_ticket, allow_session=self.allow_session
        )
        if self.is_operator and not key.is_operator:
            raise Forbidden("this request needs the operator key")
        if _RANK[key.role] < _RANK[self.role]:
            raise Forbidden(f"this request needs a key with at least the role {self.role}")
        if key.collection_ids is not None and not self.allow_limited:
            raise Forbidden("this key is limited to collections")
        connection.scope[_CALLER] = key
        pool = runtime_of(connection).pool
        connection.scope[_CALLERS_POOL] = pool if self.is_operator else pool_of(pool, key)


Viewer = Annotated[Key, Depends(RequireRole("viewer"))]
Reader = Annotated[Key, Depends(RequireRole("viewer", allow_limited=True))]
"""A viewer, also one that is limited to collections."""
Editor = Annotated[Key, Depends(RequireRole("editor"))]
Admin = Annotated[Key, Depends(RequireRole("admin"))]
Operator = Annotated[Key, Depends(RequireRole("admin", is_operator=True))]
ReaderOrTicket = Annotated[
    Key, Depends(RequireRole("viewer", allow_ticket=True, allow_limited=True))
]
"""A reader that may use `?ticket=` instead of a header (WebSocket, EventSource)."""
EditorOrTicket = Annotated[
    Key, Depends(RequireRole("editor", allow_ticket=True, allow_session=False))
]
