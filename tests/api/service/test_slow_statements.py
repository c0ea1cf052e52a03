"""Statements that the database ends because they take too long: the database itself is well."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from ingest.postgres.database import Connection
from ingest.store.queue import queue_stats, workers
from ingest.store.search import keyword_search, vector_search
from ingest.store.sources import source_views
from tests.support.prometheus_text import scrape

SOURCE = f"/api/knowledge-sources/{uuid4()}"
LIMITS = ("statement_timeout", "lock_timeout")


async def endless(conn: Connection, *_: object, **__: object) -> Any:
    """A statement with a limit of time, which ends it."""
    async with conn.transaction():
        await conn.execute("select set_config('statement_timeout', '50', true)")
        await conn.execute("select pg_sleep(30)")


async def timeouts(client: httpx.AsyncClient, asked_by: str) -> float:
    seen = await scrape(client)
    assert seen.value("rag_ingest_database_up") == 1
    return seen.value("rag_ingest_statement_timeouts_total", asked_by=asked_by) or 0


def errors(logged: Sequence[Mapping[str, Any]]) -> list[Any]:
    return [entry["event"] for entry in logged if entry["log_level"] == "error"]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
async def test_search_timeout_is_not_a_database_failure(
    viewer: httpx.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
    logged: Sequence[Mapping[str, Any]],
    mode: str,
) -> None:
    monkeypatch.setattr(keyword_search, "candidates", endless)
    monkeypatch.setattr(vector_search, "nearest", endless)
    before = await timeouts(viewer, "search")

    answer = await viewer.post("/api/search", json={"query": "anything", "mode": mode})
    ready = await viewer.get("/readyz")

    assert (answer.status_code, answer.json()["code"]) == (503, "search_timeout")
    assert "took too long" in answer.json()["detail"]
    assert "retry-after" not in answer.headers
    assert (ready.status_code, ready.json()["database"]) == (200, True)
    assert await timeouts(viewer, "search") == before + 1
    assert errors(logged) == []


@pytest.mark.parametrize("limit", LIMITS)
async def test_statement_timeout_is_a_503_with_retry_after(
    viewer: httpx.AsyncClient,
    conn: Connection,
    monkeypatch: pytest.MonkeyPatch,
    logged: Sequence[Mapping[str, Any]],
    limit: str,
) -> None:
    async def wait_for_the_lock(theirs: Connection, *_: object, **__: object) -> None:
        await theirs.execute("select set_config(%s, '50', true)", [limit])
        await theirs.execute("select count(*) from rag.schedules")

    monkeypatch.setattr(source_views, "get", wait_for_the_lock)
    before = await timeouts(viewer, "request")
    async with conn.transaction():
        await conn.execute("lock table rag.schedules in access exclusive mode")
        answer = await viewer.get(SOURCE)

    assert (answer.status_code, answer.json()["code"]) == (503, "database_timeout")
    assert answer.headers["retry-after"] == "5"
    assert await timeouts(viewer, "request") == before + 1
    assert errors(logged) == []


async def test_the_database_is_up_when_its_state_takes_too_long_to_read(
    anonymous: httpx.AsyncClient, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurried = {**queue_stats._SQL, "bound": b"set local statement_timeout = 50"}
    monkeypatch.setattr(queue_stats, "_SQL", hurried)
    async with conn.transaction():
        await conn.execute("lock table rag.processing_jobs in access exclusive mode")
        seen = await scrape(anonymous)

    assert seen.value("rag_ingest_database_up") == 1
    assert seen.value("rag_ingest_workers") is None
    assert seen.value("rag_ingest_statement_timeouts_total", asked_by="metrics") == 1


async def test_slow_health_query_does_not_fail_readiness(
    anonymous: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "summary", endless)

    answer = await anonymous.get("/readyz")

    assert (answer.status_code, answer.json()["database"]) == (200, True)


async def test_resource_limit_error_is_not_a_database_outage(
    viewer: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def too_large(*_: object, **__: object) -> None:
        raise psycopg.errors.ProgramLimitExceeded("index row size 4000 exceeds maximum")

    monkeypatch.setattr(source_views, "get", too_large)

    answer = await viewer.get(SOURCE)

    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
