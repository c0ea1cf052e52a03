"""Below a path of a proxy: whether it removes the path or not."""

from collections.abc import AsyncIterator
from contextlib import nullcontext
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from websockets.asyncio.client import connect as open_socket

from api.main import create_app
from ingest.runtime import Runtime
from tests.api.browsers import SAME_ORIGIN
from tests.api.conftest import OPERATOR_KEY, connect
from tests.api.sockets import listening

HTML = {"Accept": "text/html"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_bytes(b"page")
    (static / "assets" / "a.js").write_bytes(b"script")
    return static


@pytest.fixture
async def app(runtime: Runtime, folder: Path) -> AsyncIterator[FastAPI]:
    app = create_app(lambda: nullcontext(runtime), dashboard=folder, root_path="/rag")
    async with app.router.lifespan_context(app):
        yield app


@pytest.mark.parametrize("prefix", ["", "/rag"])
async def test_everything_is_served(app: FastAPI, prefix: str) -> None:
    async with connect(app, OPERATOR_KEY) as client:
        statuses = {
            path: (await client.get(f"{prefix}{path}", headers=HTML)).status_code
            for path in (
                *("/", "/assets/a.js", "/api/me", "/docs", "/openapi.json", "/healthz"),
                *("/static-offline-docs/swagger-ui.css", "/api/nothing", "/ragtime"),
            )
        }
        heads = [
            (await client.head(f"{prefix}{path}")).status_code for path in ("/docs", "/readyz")
        ]
        wrong = await client.put(f"{prefix}/readyz")

    unknown = [path for path, status in statuses.items() if status != 200]
    assert unknown == ["/api/nothing", "/ragtime"]
    assert heads == [200, 200]
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, HEAD, OPTIONS")


async def test_addresses_that_it_names_have_the_path(app: FastAPI) -> None:
    async with connect(app, None) as client:
        bare = await client.get("/rag", headers=HTML)
        start = await client.get("/rag/")
        docs = await client.get("/docs")
        document = (await client.get("/rag/openapi.json")).json()

    # Without the slash, `assets/a.js` in the page would be beside the prefix.
    assert (bare.status_code, bare.headers["location"]) == (307, "/rag/")
    assert start.headers["location"] == "/rag/docs"
    assert "'/rag/openapi.json'" in docs.text
    assert document["servers"] == [{"url": "/rag"}]


@pytest.mark.parametrize("prefix", ["", "/rag"])
async def test_a_session_and_its_socket_work(app: FastAPI, prefix: str) -> None:
    async with listening(app) as address:
        base = f"{address}{prefix}"
        async with httpx.AsyncClient(base_url=f"http://{base}", headers=SAME_ORIGIN) as page:
            answer = await page.post("/api/session", json={"key": OPERATOR_KEY})
            me = await page.get("/api/me")
            cookie = answer.headers["set-cookie"].partition(";")[0]
        headers = {"Cookie": cookie, "Origin": f"http://{address}"}
        async with open_socket(f"ws://{base}/api/ws", additional_headers=headers) as client:
            await client.ping()

    port = address.rpartition(":")[2]
    assert cookie.startswith(f"ingest-{port}-rag=")
    assert me.status_code == 200
