"""A server that is listening, with pings between any two messages, as on a slow machine."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from fastapi import FastAPI

from tests.api.conftest import MakeKey
from tests.api.sockets import listening


@pytest.fixture(autouse=True)
def frequent_pings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.live.websocket._PING_SECONDS", 0.005)


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    async with listening(app) as address:
        yield address


@pytest.fixture
async def key(application_id: UUID, make_key: MakeKey) -> str:
    """Of a viewer."""
    return await make_key(application_id, "viewer")
