"""Sessions of the dashboard: a key, or the code of a one-time link, in exchange for a cookie.

The cookie is not readable by scripts, so the key is never stored in the browser.
"""

from dataclasses import replace
from typing import Annotated, Self

from fastapi import APIRouter, Request, Response
from pydantic import Field, model_validator

from api.authenticated_route import SameOriginRoute
from api.authentication import Key, by_key, operator
from api.dependencies import RuntimeDep
from api.middleware.failed_keys import failed_keys_of
from api.routes.access.me import Me, describe
from api.schema.json_model import Body, Text
from api.schema.openapi import problems
from api.session_cookie import clear_session, session_of, set_session
from ingest.postgres.database import Connection, transaction
from ingest.runtime import Runtime
from ingest.store.tenants import api_keys, sessions

router = APIRouter(route_class=SameOriginRoute, prefix="/api/session", tags=["access"])

Secret = Annotated[Text, Field(min_length=1, max_length=500)]


class SignIn(Body):
    """Exactly one of both."""

    key: Secret | None = None
    """An API key, or the operator key."""
    code: Secret | None = None
    """Of a link of `ingest serve` or `ingest key link`: once, within ten minutes."""

    @model_validator(mode="after")
    def one_of_both(self) -> Self:
        if (self.key is None) == (self.code is None):
            raise ValueError("send a key or a code")
        return self


@router.post("", status_code=201, responses=problems(400, 401, 403, 413, 422, 429, 503))
async def sign_in(body: SignIn, request: Request, response: Response, runtime: RuntimeDep) -> Me:
    """Start a session; the cookie of an earlier one no longer works.

    It ends after 12 hours without a request, after 7 days, by `DELETE`, or with its key. Requests
    with the cookie come from a page of this origin; those that change something need the header
    `X-Ingest-Csrf: 1`, and so does this one.
    """
    if body.key is not None:
        key = await by_key(request, body.key)
    else:
        key = await _by_code(request, runtime, body.code or "")
    seal = runtime.operator_key.seal if key.is_operator else None
    async with transaction(runtime.pool) as conn:
        await _end(conn, request)
        secret = await sessions.add(
            conn, application_id=key.application_id, key_id=key.id, seal=seal
        )
    set_session(response, request, secret)
    return await describe(runtime, replace(key, session_hash=api_keys.digest(secret)))


@router.delete("", status_code=204, responses=problems(403, 503))
async def sign_out(request: Request, response: Response, runtime: RuntimeDep) -> None:
    """End the session, and its sockets within 20 seconds. Without one, nothing happens."""
    async with transaction(runtime.pool) as conn:
        await _end(conn, request)
    clear_session(response, request)


async def _by_code(request: Request, runtime: Runtime, code: str) -> Key:
    async with transaction(runtime.pool) as conn:
        seal = await sessions.redeem_code(conn, code)
    code_hash = api_keys.digest(code)
    if seal is None or not runtime.operator_key.has_sealed(code_hash, seal):
        why = "the code is not valid, was used, or has expired"
        raise failed_keys_of(request.app).record(request, code_hash, why)
    return await operator(runtime, None)


async def _end(conn: Connection, request: Request) -> None:
    secret = session_of(request)
    if secret is not None:
        await sessions.end(conn, api_keys.digest(secret))
