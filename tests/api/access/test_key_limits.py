"""What one API key may do at once: searches, uploads and sockets, in one process."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from uuid import UUID

import pytest
from fastapi import FastAPI
from websockets.exceptions import InvalidStatus

from api.authentication import Key
from api.middleware.in_use import InUse
from api.problems import RateLimited
from ingest.errors import QuotaInUse
from ingest.postgres.database import transaction
from ingest.quotas import KeyLimits, Quotas
from ingest.runtime import Runtime
from ingest.store.tenants import api_keys
from tests.api.conftest import OPERATOR_KEY, MakeKey, connect, serve
from tests.api.sockets import listening, socket

LIMITS = KeyLimits(searches=1, uploads=1, sockets=2)


@pytest.fixture
async def strict(runtime: Runtime) -> AsyncIterator[FastAPI]:
    settings = runtime.settings.model_copy(update={"key_limits": LIMITS})
    async with serve(replace(runtime, settings=settings)) as app:
        yield app


def key(n: int, application: int = 1) -> Key:
    return Key(
        application_id=UUID(int=1000 + application),
        role="editor",
        is_operator=False,
        id=UUID(int=n),
    )


def test_each_key_has_its_own_limit_and_the_application_a_common_one() -> None:
    in_use, quotas = InUse(LIMITS), Quotas(uploads=2)
    with in_use.limited("uploads", key(1), quotas), in_use.limited("uploads", key(2), quotas):
        with pytest.raises(RateLimited):
            in_use.check("uploads", key(1), quotas)
        with pytest.raises(QuotaInUse):
            in_use.check("uploads", key(3), quotas)
        in_use.check("uploads", key(4, application=2), quotas)

    in_use.check("uploads", key(1), quotas)
    assert in_use._counts == {}


def test_the_operators_key_has_only_the_quotas_of_the_application() -> None:
    operator = replace(key(1), id=None)
    in_use = InUse(LIMITS)
    with in_use.limited("searches", operator), in_use.limited("searches", operator):
        in_use.check("searches", operator)
        with (
            pytest.raises(QuotaInUse),
            in_use.limited("uploads", operator),
            in_use.limited("uploads", operator, Quotas(uploads=1)),
        ):
            pass


async def test_a_search_too_many_gets_429_and_other_keys_search_on(
    strict: FastAPI, application_id: UUID, make_key: MakeKey
) -> None:
    first, second = [await make_key(application_id, "viewer") for _ in range(2)]
    known = await _key(strict, first)
    async with connect(strict, first) as busy, connect(strict, second) as other:
        with strict.state.in_use.counted("searches", known):
            refused = await busy.post("/api/search", json={"query": "x"})
            others = await other.post("/api/search", json={"query": "x"})
        later = await busy.post("/api/search", json={"query": "x"})

    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert refused.headers["Retry-After"] == "1"
    assert others.status_code == later.status_code == 200


async def _key(app: FastAPI, plain: str) -> Key:
    async with transaction(app.state.runtime.pool) as conn:
        known = await api_keys.find_key(conn, plain)
    assert known is not None
    return Key(application_id=known.application_id, role=known.role, is_operator=False, id=known.id)


async def test_sockets_too_many_are_refused_with_429_until_one_closes(
    strict: FastAPI, application_id: UUID, make_key: MakeKey
) -> None:
    plain = await make_key(application_id, "viewer")
    async with listening(strict) as address, AsyncExitStack() as stack:
        for _ in range(LIMITS.sockets):
            await stack.enter_async_context(socket(address, plain))
        with pytest.raises(InvalidStatus) as refused:
            await stack.enter_async_context(socket(address, plain))
        await stack.enter_async_context(socket(address, OPERATOR_KEY))
        during = strict.state.in_use.of_application("sockets", application_id)

    assert refused.value.response.status_code == 429
    assert during == 3
    assert strict.state.in_use._counts == {}
