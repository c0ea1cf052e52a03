"""What an application uses of its quotas, who sees it, and who sets them."""

from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from ingest.postgres.database import Connection
from ingest.store.limits import cpu_usage
from tests.api.access.conftest import SetQuotas
from tests.api.conftest import OPERATOR_KEY, connect
from tests.api.helpers import upload
from tests.support.queue_builders import enqueue


async def test_usage_is_shown_beside_the_quotas(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, set_quotas: SetQuotas
) -> None:
    await set_quotas(sources=7)
    await upload(editor, {"a.txt": b"text", "b.txt": b"more"})

    usage = (await viewer.get("/api/usage")).json()

    assert usage["sources"] == {"used": 2, "limit": 7}
    assert usage["stagedBytes"] == {"used": 8, "limit": 256 * 1024**3}
    assert usage["pendingJobs"]["used"] == 2
    assert usage["storedBytes"]["used"] == 0


@pytest.mark.usefixtures("same_day")
async def test_usage_has_the_processor_time_of_today(
    conn: Connection,
    viewer: httpx.AsyncClient,
    stranger: httpx.AsyncClient,
    application_id: UUID,
) -> None:
    await cpu_usage.charge(conn, {application_id: 1.5})
    await conn.commit()

    assert (await viewer.get("/api/usage")).json()["cpuSeconds"] == 1.5
    assert (await stranger.get("/api/usage")).json()["cpuSeconds"] == 0


async def test_the_operator_sees_the_usage_of_each_application(
    app: FastAPI, conn: Connection, other_application: UUID, stranger: httpx.AsyncClient
) -> None:
    await enqueue(conn, other_application, 3)
    async with connect(app, OPERATOR_KEY) as operator:
        named = {"X-Application-Id": str(other_application)}
        theirs = (await operator.get("/api/usage", headers=named)).json()
        own = (await operator.get("/api/usage")).json()

    assert theirs["pendingJobs"]["used"] == 3
    assert own["pendingJobs"]["used"] == 0
    assert (await stranger.get("/api/usage")).json() == theirs


async def test_only_the_operator_sets_quotas(
    admin: httpx.AsyncClient, application_id: UUID
) -> None:
    body: dict[str, Any] = {"settings": {"quotas": {"sources": 10}}}

    assert (await admin.patch(f"/api/applications/{application_id}", json=body)).status_code == 403


async def test_null_returns_to_the_quota_of_the_installation(
    operator: httpx.AsyncClient, set_quotas: SetQuotas, application_id: UUID
) -> None:
    await set_quotas(sources=1, uploads=2)
    body = {"settings": {"quotas": {"sources": None, "uploads": 2}}}

    answer = await operator.patch(f"/api/applications/{application_id}", json=body)

    assert answer.json()["settings"]["quotas"] == {"uploads": 2}
    assert (await operator.get("/api/usage")).json()["sources"]["limit"] == 10_000_000


async def test_metrics_have_totals_and_the_fullest_application(
    anonymous: httpx.AsyncClient, editor: httpx.AsyncClient, set_quotas: SetQuotas, pool: Any
) -> None:
    from ingest.ticks.schedule import fold_usage

    await set_quotas(sources=4, pendingJobs=0)
    await upload(editor, {"a.txt": b"text"})
    await set_quotas(sources=4)
    await upload(editor, {"a.txt": b"text"})
    await fold_usage(pool)

    lines = (await anonymous.get("/metrics")).text.splitlines()

    assert 'rag_ingest_usage{quota="sources"} 1.0' in lines
    assert 'rag_ingest_quota_used_ratio{quota="sources"} 0.25' in lines
    assert any(
        line.startswith('rag_ingest_quota_refusals_total{quota="pendingJobs"}') for line in lines
    )
