"""GET /metrics: what the queue holds, what the process counted, and nothing about applications."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from ingest.observability import metrics
from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from tests.api.sockets import listening, socket
from tests.support.prometheus_text import scrape
from tests.support.queue_builders import add_worker, enqueue
from tests.support.searchable_chunks import add_document, add_space

JOBS = "rag_ingest_jobs"


async def test_jobs_are_counted_by_type_and_status(
    anonymous: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    ids = await enqueue(conn, application_id, 6)
    states = ["failed", "failed", "review_needed", "processing", "completed"]
    for id, status in zip(ids, states, strict=False):
        await conn.execute(
            "update rag.processing_jobs set status = %s, started_at = now() where id = %s",
            [status, id],
        )

    seen = await scrape(anonymous)

    found = {
        status: seen.value(JOBS, type="file", status=status)
        for status in ("ready", "processing", "review_needed", "failed", "completed")
    }
    assert found == {
        "ready": 1,
        "processing": 1,
        "review_needed": 1,
        "failed": 2,
        "completed": None,
    }


async def test_vectors_that_wait_for_their_index_are_counted(
    anonymous: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    await add_document(conn, application_id, await add_space(conn), ["one", "two"])

    seen = await scrape(anonymous)

    assert seen.value("rag_ingest_fresh_vectors") == 2


async def test_wait_reason_metric_has_bounded_labels(
    anonymous: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 3, delay=timedelta(hours=1))
    await conn.execute(
        "update rag.processing_jobs set wait_reason = 'waits for ' || id"
        " where position = (select max(position) from rag.processing_jobs)"
    )

    seen = await scrape(anonymous)

    assert seen.value("rag_ingest_jobs_waiting", type="file", reason="scheduled") == 2
    assert seen.value("rag_ingest_jobs_waiting", type="file", reason="other") == 1
    assert seen.value(JOBS, type="file", status="ready") == 0


async def test_metrics_show_oldest_ready_and_overdue_jobs(
    anonymous: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    old, overdue = await enqueue(conn, application_id, 2)
    await conn.execute(
        "update rag.processing_jobs set created_at = now() - interval '1 hour' where id = %s", [old]
    )
    await conn.execute(
        "update rag.processing_jobs set status = 'processing',"
        " started_at = now() - interval '36 minutes' where id = %s",
        [overdue],
    )

    seen = await scrape(anonymous)

    oldest = seen.value("rag_ingest_oldest_ready_seconds", type="file")
    assert oldest is not None
    assert 3600 <= oldest < 3700
    assert seen.value("rag_ingest_jobs_overdue", type="file") == 1


async def test_metrics_show_lanes_workers_and_notifications(
    anonymous: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    await add_worker(conn)
    await add_worker(conn, silent_for="1 hour")
    await conn.execute("update rag.workers set running = 3")
    await conn.execute(
        "insert into rag.lanes (lane, paused_until, failures)"
        " values ('openai/x#1', now() + interval '1 hour', 4), ('type:file', null, 0)"
    )
    await conn.execute("update rag.job_types set is_paused = true where type = 'file'")
    endpoint = await (
        await conn.execute(
            "insert into rag.webhook_endpoints (id, application_id, url, events, secret,"
            " failing_since) values (gen_random_uuid(), %s, 'x', '{}', 'x', now()) returning id",
            [application_id],
        )
    ).fetchone()
    assert endpoint is not None
    await conn.execute(
        "insert into rag.webhook_deliveries (id, endpoint_id, application_id, event, dedupe_key,"
        " body) values (gen_random_uuid(), %s, %s, 'x', 'x', 'x')",
        [endpoint[0], application_id],
    )

    seen = await scrape(anonymous)

    paused = seen.value("rag_ingest_lane_paused_seconds", lane="openai/x#1")
    assert paused is not None
    assert 3500 < paused <= 3600
    assert seen.value("rag_ingest_lane_failures", lane="openai/x#1") == 4
    assert seen.value("rag_ingest_lane_failures", lane="type:file") is None
    assert seen.value("rag_ingest_type_paused", type="file") == 1
    assert seen.value("rag_ingest_type_paused", type="url") == 0
    assert seen.value("rag_ingest_workers") == 1
    assert seen.value("rag_ingest_workers_running") == 3
    assert seen.value("rag_ingest_worker_silent_seconds") == 0
    assert seen.value("rag_ingest_webhook_endpoints", state="failing") == 1
    assert seen.value("rag_ingest_deliveries_open") == 1


async def test_metrics_are_served_without_a_database(
    anonymous: httpx.AsyncClient, runtime: Runtime
) -> None:
    await runtime.pool.connections.open.close()

    seen = await scrape(anonymous)

    assert seen.value("rag_ingest_database_up") == 0
    assert seen.value("rag_ingest_workers") is None
    assert seen.value("rag_ingest_jobs_claimed_total") is not None


async def test_requests_are_counted_by_the_routes_template(
    viewer: httpx.AsyncClient, anonymous: httpx.AsyncClient
) -> None:
    labels = {"method": "GET", "route": "/api/jobs/{id}", "status": "404"}
    nowhere = {"method": "GET", "route": "none", "status": "404"}
    before = await scrape(anonymous)
    await viewer.get("/api/jobs/00000000-0000-0000-0000-000000000000")
    await viewer.get("/somewhere/else")
    await viewer.request("BREW", "/api/jobs")

    seen = await scrape(anonymous)

    name = "rag_ingest_http_requests_total"
    assert (seen.value(name, **labels) or 0) - (before.value(name, **labels) or 0) == 1
    assert (seen.value(name, **nowhere) or 0) - (before.value(name, **nowhere) or 0) == 1
    assert not any("BREW" in str(key) or "somewhere" in str(key) for key in seen.samples)


async def test_an_unexpected_error_is_counted_as_a_500(
    viewer: httpx.AsyncClient, anonymous: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr("ingest.search.rank.by_words", broken)
    labels = {"method": "POST", "route": "/api/search", "status": "500"}
    name = "rag_ingest_http_requests_total"
    before = (await scrape(anonymous)).value(name, **labels) or 0
    await viewer.post("/api/search", json={"query": "x", "mode": "keyword"})

    assert (await scrape(anonymous)).value(name, **labels) == before + 1


async def test_open_sockets_and_searches_are_counted(
    app: FastAPI, viewer: httpx.AsyncClient, anonymous: httpx.AsyncClient
) -> None:
    counted = "rag_ingest_search_seconds_count"
    before = (await scrape(anonymous)).value(counted, mode="keyword") or 0
    await viewer.post("/api/search", json={"query": "x", "mode": "keyword"})
    key = viewer.headers["authorization"].partition(" ")[2]
    async with listening(app) as address, socket(address, key):
        during = await scrape(anonymous)
    after = await scrape(anonymous)

    assert during.value(counted, mode="keyword") == before + 1
    assert during.value("rag_ingest_websocket_clients") == 1
    assert after.value("rag_ingest_websocket_clients") == 0


async def test_no_label_names_an_application_or_a_source(
    anonymous: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 2, source_id=application_id)

    seen = await scrape(anonymous)

    assert str(application_id) not in json.dumps([sorted(labels) for _, labels in seen.samples])
    assert not any(
        label in ("application", "application_id", "source", "source_id", "path")
        for labels in seen.labels.values()
        for label in labels
    )


def test_attempts_are_counted_by_outcome() -> None:
    def counted(outcome: str, code: str = "") -> float:
        labels = {"type": "t", "outcome": outcome, "code": code}
        return metrics.REGISTRY.get_sample_value("rag_ingest_attempts_total", labels) or 0

    metrics.attempts_ended(
        {
            metrics.AttemptKind("t", "completed"): [1, 2],
            metrics.AttemptKind("t", "pending", "internal"): [1],
            metrics.AttemptKind("t", "pending", "rate_limited", given_back=True): [1],
        }
    )

    assert counted("completed") == 2
    assert counted("retry", "internal") == 1
    assert counted("waiting", "rate_limited") == 1
    assert metrics.REGISTRY.get_sample_value("rag_ingest_retries_total", {"type": "t"}) == 1
