"""Browsers that are signed in to the dashboard: clients that keep cookies and say who asks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpx
from fastapi import FastAPI

SAME_ORIGIN: Final = {"Sec-Fetch-Site": "same-origin", "X-Ingest-Csrf": "1"}
"""What a page of the service sends."""


@asynccontextmanager
async def browser(
    app: FastAPI, *, scheme: str = "http", **proof: str
) -> AsyncIterator[httpx.AsyncClient]:
    """A page of the service, signed in with a `key` or `code`; with neither, not signed in."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(
        transport=transport, base_url=f"{scheme}://ingest.test", headers=SAME_ORIGIN
    ) as client:
        if proof:
            answer = await client.post("/api/session", json=proof)
            assert answer.status_code == 201, answer.text
        yield client


def cookie_of(client: httpx.AsyncClient) -> dict[str, str]:
    """The header with the cookies that the browser holds."""
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())}


async def new_code(operator: httpx.AsyncClient) -> str:
    """A code of a sign-in link."""
    answer = await operator.post("/api/session/codes")
    assert answer.status_code == 201, answer.text
    return str(answer.json()["code"])
