"""Browsers, keys limited to collections, and quotas."""

from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from ingest.postgres.database import Connection
from tests.api.access.limited_keys import House, add_owned, limited_key
from tests.api.browsers import browser
from tests.api.conftest import OPERATOR_KEY, connect
from tests.support.settable_clock import SettableClock


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(1000.0)


@pytest.fixture
async def page(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """Not signed in."""
    async with browser(app) as client:
        yield client


@pytest.fixture
async def boss(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """Signed in as the operator."""
    async with browser(app, key=OPERATOR_KEY) as client:
        yield client


@pytest.fixture
async def house(
    editor: httpx.AsyncClient, admin: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> House:
    shown, hidden = await add_owned(editor, conn, "shown"), await add_owned(editor, conn, "hidden")
    return House(shown, hidden, await limited_key(admin, application_id, shown.collection))


@pytest.fixture
async def limited(app: FastAPI, house: House) -> AsyncIterator[httpx.AsyncClient]:
    async with connect(app, house.key) as client:
        yield client


SetQuotas = Callable[..., Awaitable[None]]


@pytest.fixture
async def set_quotas(operator: httpx.AsyncClient, application_id: UUID) -> SetQuotas:
    async def set_(**quotas: int) -> None:
        body = {"settings": {"quotas": quotas}}
        answer = await operator.patch(f"/api/applications/{application_id}", json=body)
        assert answer.status_code == 200
        assert answer.json()["settings"]["quotas"] == quotas

    return set_
