"""Pages of the dashboard in a browser."""

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from tests.api.browsers import browser
from tests.api.conftest import OPERATOR_KEY


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
