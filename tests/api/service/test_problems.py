"""Every error is a problem document; health tells the state of the service."""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from ingest.store.queue import job_types
from ingest.store.sources import source_views


@pytest.mark.parametrize(
    ("method", "url", "content", "status", "code"),
    [
        ("GET", "/nothing/here", None, 404, "not_found"),
        ("PUT", "/api/jobs", None, 405, "method_not_allowed"),
        ("POST", "/api/search", b"{", 400, "malformed_body"),
        ("POST", "/api/search", b'{"query": "\xff"}', 400, "malformed_body"),
        ("POST", "/api/search", b"[" * 100_000, 400, "malformed_body"),
        ("POST", "/api/search", b"[]", 422, "invalid_request"),
        ("POST", "/api/search", b'{"query": "x", "limt": 3}', 422, "invalid_request"),
        ("POST", "/api/search", b" " * (8 * 1024 * 1024 + 1), 413, "too_large"),
    ],
)
async def test_every_error_is_a_problem(
    operator: httpx.AsyncClient,
    method: str,
    url: str,
    content: bytes | None,
    status: int,
    code: str,
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await operator.request(method, url, content=content, headers=headers)

    body = answer.json()
    assert answer.status_code == body["status"] == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["code"] == code
    assert {"type", "title", "detail"} <= body.keys()


async def test_a_body_without_announced_length_is_limited_too(operator: httpx.AsyncClient) -> None:
    async def long() -> Any:
        for _ in range(20):
            yield b" " * 1_000_000

    headers = {"Content-Type": "application/json"}
    answer = await operator.post("/api/search", content=long(), headers=headers)

    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_validation_error_names_the_field_and_never_repeats_its_value(
    operator: httpx.AsyncClient,
) -> None:
    answer = await operator.post("/api/applications", json={"name": ["my secret"]})

    assert answer.json()["errors"][0]["field"] == "body.name"
    assert "secret" not in answer.text


async def test_unexpected_error_is_logged_and_hidden_from_the_client(
    operator: httpx.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
    logged: Sequence[Mapping[str, Any]],
) -> None:
    async def broken(conn: Connection) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr(job_types, "all_types", broken)
    answer = await operator.get("/api/job-types")

    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "hunter2" not in answer.text
    assert [entry["event"] for entry in logged if entry["log_level"] == "error"] == [
        "api.unexpected_error"
    ]


async def test_database_outage_is_a_503_with_retry_after(
    operator: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(*args: Any, **kwargs: Any) -> None:
        raise psycopg.OperationalError("server closed the connection to 10.0.0.7")

    monkeypatch.setattr(source_views, "get", lost)
    answer = await operator.get("/api/knowledge-sources/00000000-0000-0000-0000-000000000000")

    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
    assert answer.headers["retry-after"] == "5"
    assert "10.0.0.7" not in answer.text


async def test_the_service_is_alive_and_ready_without_a_key(anonymous: httpx.AsyncClient) -> None:
    alive = await anonymous.get("/healthz")
    ready = await anonymous.get("/readyz")

    assert alive.json() == {"status": "ok"}
    assert ready.status_code == 200
    assert ready.json()["database"] is True
    assert ready.json()["pendingMigrations"] == 0


async def test_with_pending_migrations_the_service_is_not_ready(
    anonymous: httpx.AsyncClient, conn: Connection
) -> None:
    await conn.execute("update rag.schema_migrations set version = -version")
    try:
        answer = await anonymous.get("/readyz")
    finally:
        await conn.execute("update rag.schema_migrations set version = -version")

    assert (answer.status_code, answer.json()["code"]) == (503, "not_ready")
    assert answer.json()["checks"]["pendingMigrations"] > 0


async def test_without_its_database_the_service_is_alive_but_not_ready(
    anonymous: httpx.AsyncClient, runtime: Runtime
) -> None:
    await runtime.pool.connections.open.close()

    ready = await anonymous.get("/readyz")
    alive = await anonymous.get("/healthz")

    assert (ready.status_code, ready.json()["checks"]["database"]) == (503, False)
    assert alive.status_code == 200


async def test_the_openapi_document_and_its_page_are_served(
    app: FastAPI, anonymous: httpx.AsyncClient
) -> None:
    document = await anonymous.get("/openapi.json")
    page = await anonymous.get("/docs")

    assert document.json()["paths"].keys() == app.openapi()["paths"].keys()
    assert page.status_code == 200


async def test_a_validation_error_shows_few_errors_and_little_of_the_clients_names(
    operator: httpx.AsyncClient,
) -> None:
    body = {f"{number}{'n' * 5000}": 1 for number in range(30)}

    answer = await operator.patch("/api/job-types/file", json=body)

    assert answer.status_code == 422
    assert answer.json()["detail"].endswith("; 10 more errors are not shown")
    assert len(answer.json()["errors"]) == 20
    assert {len(error["field"]) for error in answer.json()["errors"]} == {len("body.") + 200}
