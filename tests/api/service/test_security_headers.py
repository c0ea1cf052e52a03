"""What browsers and probes are told: security headers, methods, the documentation page."""

import base64
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from api.cli.server import http_protocol
from api.main import create_app
from api.middleware.security_headers import HEADERS
from api.worker_app import create_worker_app
from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from ingest.store.queue import job_types
from tests.api.conftest import connect, serve

TOKEN = "the-token-of-prometheus"
DOCS = "/static-offline-docs"


def missing(answer: httpx.Response, *, but: tuple[str, ...] = ()) -> dict[str, str | None]:
    """Headers that are not as everywhere, or are there twice."""
    return {
        name: answer.headers.get(name)
        for name, value in HEADERS.items()
        if name not in but and answer.headers.get_list(name) != [value]
    }


@pytest.mark.parametrize(
    ("method", "url", "content", "status"),
    [
        ("GET", "/api/jobs", None, 200),
        ("GET", "/healthz", None, 200),
        ("HEAD", "/readyz", None, 200),
        ("GET", "/metrics", None, 200),
        ("GET", "/openapi.json", None, 200),
        ("GET", "/", None, 307),
        ("OPTIONS", "/api/jobs", None, 204),
        ("GET", "/nothing/here", None, 404),
        ("GET", f"{DOCS}/nothing", None, 404),
        ("PUT", "/api/jobs", None, 405),
        ("POST", "/api/search", b"{", 400),
        ("POST", "/api/search", b" " * (8 * 1024 * 1024 + 1), 413),
        ("POST", "/api/search", b"{}", 422),
    ],
)
async def test_every_response_has_the_security_headers(
    operator: httpx.AsyncClient, method: str, url: str, content: bytes | None, status: int
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await operator.request(method, url, content=content, headers=headers)

    assert answer.status_code == status
    assert missing(answer) == {}


async def test_errors_outside_of_all_middleware_have_them_too(
    operator: httpx.AsyncClient, anonymous: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(conn: Connection) -> None:
        raise RuntimeError

    monkeypatch.setattr(job_types, "all_types", broken)
    failed = await operator.get("/api/job-types")
    refused = await anonymous.get("/api/job-types")

    assert [answer.status_code for answer in (failed, refused)] == [500, 401]
    assert missing(failed) == missing(refused) == {}


def test_answers_of_the_server_itself_have_them_too() -> None:
    for raw in (http_protocol._REQUEST_TIMEOUT, http_protocol._BAD_REQUEST):
        head, _, body = raw.partition(b"\r\n\r\n")

        lines = head.decode().lower().split("\r\n")
        assert {f"{name}: {value}".lower() for name, value in HEADERS.items()} <= set(lines)
        assert f"content-length: {len(body)}" in lines


async def test_a_port_of_a_worker_has_them_too(runtime: Runtime) -> None:
    async with connect(create_worker_app(runtime), None) as client:
        for path in ("/healthz", "/metrics", "/nothing"):
            assert missing(await client.get(path)) == {}


async def test_files_of_the_documentation_are_kept_by_browsers_and_revalidated(
    anonymous: httpx.AsyncClient,
) -> None:
    answer = await anonymous.get(f"{DOCS}/swagger-ui.css")
    again = await anonymous.get(
        f"{DOCS}/swagger-ui.css", headers={"If-None-Match": answer.headers["etag"]}
    )

    for response in (answer, again):
        assert response.headers["cache-control"] == "no-cache"
        assert missing(response, but=("Cache-Control",)) == {}
    assert (answer.status_code, again.status_code) == (200, 304)


async def test_the_documentation_page_may_run_its_own_scripts_and_load_nothing_from_elsewhere(
    anonymous: httpx.AsyncClient,
) -> None:
    page = await anonymous.get("/docs")
    policy = page.headers["content-security-policy"]
    scripts = re.findall(r"<script>(.*?)</script>", page.text, re.DOTALL)
    loaded = re.findall(r'(?:src|href)="([^"]*)"', page.text)

    assert missing(page, but=("Content-Security-Policy",)) == {}
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "'unsafe-eval'" not in policy
    assert re.search(r"script-src 'self' 'sha256-\S+';", policy)
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert (len(scripts), len(loaded)) == (1, 3)
    assert [(await anonymous.get(url)).status_code for url in loaded] == [200] * 3
    # The badge of a validator on the internet, which the policy would block.
    assert '"validatorUrl": null' in page.text


async def test_documentation_can_be_switched_off() -> None:
    async with connect(create_app(cast(Any, None), has_docs=False), None) as client:
        statuses = [
            (await client.get(path)).status_code
            for path in ("/docs", "/openapi.json", "/", f"{DOCS}/swagger-ui.css", "/redoc")
        ]

    assert statuses == [404] * 5


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/api/jobs", "GET, POST, OPTIONS"),
        ("DELETE", "/upload/url", "GET, POST, OPTIONS"),
        ("POST", "/api/knowledge-sources/{id}", "GET, PATCH, DELETE, OPTIONS"),
        ("GET", "/api/job-types/file", "PATCH, DELETE, OPTIONS"),
        ("HEAD", "/api/jobs", "GET, POST, OPTIONS"),
        ("POST", "/healthz", "GET, HEAD, OPTIONS"),
        ("TRACE", "/api/search", "POST, OPTIONS"),
        ("BREW", "/api/search", "POST, OPTIONS"),
        ("POST", f"{DOCS}/swagger-ui.css", "GET, HEAD"),
    ],
)
async def test_405_names_every_method_of_the_path(
    anonymous: httpx.AsyncClient, application_id: UUID, method: str, path: str, allowed: str
) -> None:
    answer = await anonymous.request(method, path.format(id=application_id))

    assert answer.status_code == 405
    assert answer.headers["allow"] == allowed
    if method != "HEAD":
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] == "method_not_allowed"


async def test_allowed_are_the_methods_that_the_document_has(app: FastAPI) -> None:
    paths = app.openapi()["paths"]
    patterns = {re.sub(r"\{\w+\}", "[^/]+", path): set(paths[path]) for path in paths}
    async with connect(app, None) as client:
        for path in paths:
            url = re.sub(r"\{\w+\}", "00000000-0000-7000-8000-000000000000", path)
            answer = await client.options(url)

            # `/api/jobs/counts` also fits the routes of `/api/jobs/{id}`.
            fitting = (patterns[pattern] for pattern in patterns if re.fullmatch(pattern, url))
            allowed = set(answer.headers["allow"].lower().split(", ")) - {"options", "head"}
            assert (path, answer.status_code, allowed) == (path, 204, set().union(*fitting))
            assert answer.content == b""


async def test_options_of_an_unknown_path_is_404(anonymous: httpx.AsyncClient) -> None:
    assert (await anonymous.options("/nothing")).status_code == 404


async def test_head_of_a_probe_is_its_get_without_the_body(anonymous: httpx.AsyncClient) -> None:
    for path in ("/healthz", "/readyz", "/metrics", "/docs"):
        got, asked = await anonymous.get(path), await anonymous.head(path)

        assert (asked.status_code, asked.content) == (200, b"")
        assert asked.headers["content-type"] == got.headers["content-type"]


@asynccontextmanager
async def _guarded(runtime: Runtime) -> AsyncIterator[tuple[FastAPI, FastAPI]]:
    """The service and the port of a worker, with a token for metrics."""
    settings = runtime.settings.model_copy(update={"metrics_token": SecretStr(TOKEN)})
    guarded = replace(runtime, settings=settings)
    async with serve(guarded) as app:
        yield app, create_worker_app(guarded)


@pytest.mark.parametrize(
    "header", [None, "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer ü"]
)
async def test_metrics_refuse_a_request_without_their_token(
    runtime: Runtime, header: str | None
) -> None:
    async with _guarded(runtime) as apps:
        for app in apps:
            async with connect(app, None) as client:
                headers = {} if header is None else {"Authorization": header.encode("latin-1")}
                answer = await client.get("/metrics", headers=headers)  # type: ignore[arg-type]

                assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
                assert answer.headers["www-authenticate"] == "Bearer"
                assert (await client.get("/healthz")).status_code == 200


async def test_metrics_accept_their_token_and_no_api_key(runtime: Runtime) -> None:
    async with _guarded(runtime) as apps:
        for app in apps:
            async with connect(app, TOKEN) as client:
                assert (await client.get("/metrics")).status_code == 200
            async with connect(app, runtime.operator_key.current) as client:
                assert (await client.get("/metrics")).status_code == 401
