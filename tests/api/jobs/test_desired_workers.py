"""GET /api/worker/desired: from what is in the queue, with a patience that replicas share."""

from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from api.installation_state import OverviewCache
from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from ingest.settings.settings import Settings
from tests.api.conftest import connect, serve
from tests.support.prometheus_text import scrape
from tests.support.queue_builders import add_worker, enqueue


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.installation_state._SECONDS", 0.0)
    monkeypatch.setattr("api.installation_state._SHARE", 0)


async def wanted(client: httpx.AsyncClient) -> dict[str, Any]:
    answer = await client.get("/api/worker/desired")
    assert answer.status_code == 200
    body: dict[str, Any] = answer.json()
    return body


async def hold_all(conn: Connection) -> None:
    await conn.execute("update rag.processing_jobs set run_at = now() + interval '1 hour'")


async def test_without_work_no_worker_is_wanted(viewer: httpx.AsyncClient) -> None:
    assert await wanted(viewer) == {
        "desired": 0,
        "current": 0,
        "ready": 0,
        "paused": 0,
        "oldestSeconds": 0,
        "reason": "idle",
    }


async def test_work_asks_for_workers_and_the_metric_says_the_same(
    viewer: httpx.AsyncClient,
    anonymous: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
) -> None:
    await enqueue(conn, application_id, 100)
    await add_worker(conn)
    await conn.execute("update rag.workers set draining = true")

    body = await wanted(viewer)

    assert (body["desired"], body["current"], body["ready"]) == (2, 0, 100)
    assert body["reason"] == "depth"
    assert (await scrape(anonymous)).value("rag_ingest_workers_desired") == 2


@pytest.mark.parametrize(
    "held",
    [
        "update rag.job_types set is_paused = true",
        "update rag.job_types set is_enabled = false",
        "update rag.worker_config set value = 'true' where key = 'paused'",
        "update rag.processing_jobs set run_at = now() + interval '2 minutes'",
        "insert into rag.lanes (lane, paused_until)"
        " values ('static/fake#ab', now() + interval '2 minutes')",
        "update rag.processing_jobs set status = 'review_needed'",
    ],
)
async def test_blocked_jobs_do_not_raise_desired_workers(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, held: str
) -> None:
    await enqueue(conn, application_id, 3)
    await conn.execute(held.encode())

    assert (await wanted(viewer))["desired"] == 0


@pytest.mark.parametrize(
    "pause",
    [
        "update rag.job_types set is_paused = true",
        "update rag.worker_config set value = 'true' where key = 'paused'",
    ],
)
async def test_pause_is_reported_with_the_number_of_held_jobs(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, pause: str
) -> None:
    await enqueue(conn, application_id, 3)
    await conn.execute(pause.encode())

    body = await wanted(viewer)

    assert (body["desired"], body["ready"], body["paused"]) == (0, 0, 3)
    assert body["reason"] == "paused"


@pytest.mark.parametrize(
    "soon",
    [
        "update rag.processing_jobs set run_at = now() + interval '50 seconds'",
        "insert into rag.lanes (lane, paused_until)"
        " values ('static/fake#ab', now() + interval '50 seconds')",
        "insert into rag.lanes (lane, paused_until)"
        " values ('openai/other#ab', now() + interval '1 hour')",
    ],
)
async def test_jobs_due_within_a_minute_raise_desired_workers(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, soon: str
) -> None:
    await enqueue(conn, application_id, 3)
    await conn.execute(soon.encode())

    assert (await wanted(viewer))["desired"] == 1


async def test_job_type_limits_bound_desired_workers(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 200)
    await conn.execute("update rag.job_types set rate_per_minute = 150 where type = 'file'")
    by_rate = await wanted(viewer)
    await conn.execute("update rag.job_types set max_concurrent = 40 where type = 'file'")

    by_both = await wanted(viewer)

    assert (by_rate["ready"], by_both["ready"]) == (150, 40)


async def test_running_jobs_keep_a_worker(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id, Settings().worker_concurrency + 1)
    await conn.execute("update rag.processing_jobs set status = 'processing', started_at = now()")

    body = await wanted(viewer)

    assert (body["desired"], body["reason"]) == (2, "running")


async def test_scale_down_delay_is_shared_by_replicas(
    app: FastAPI,
    runtime: Runtime,
    viewer: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
) -> None:
    await enqueue(conn, application_id, 100)
    async with serve(runtime) as replica, connect(replica, None) as other:
        other.headers = viewer.headers
        first = await wanted(viewer)
        await hold_all(conn)
        waiting = await wanted(other)
        await conn.execute(
            "update rag.worker_config set value = value || jsonb_build_object("
            "'lower_since', (value ->> 'lower_since')::float8 - 301) where key = 'scaling'"
        )
        after = await wanted(other)
        both = await wanted(viewer)

    assert [first["desired"], waiting["desired"], after["desired"], both["desired"]] == [2, 2, 0, 0]
    assert waiting["reason"] == "cooling_down"


async def test_an_unchanged_answer_is_not_written_again(
    runtime: Runtime, conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id)
    query = "select xmin::text from rag.worker_config where key = 'scaling'"
    await OverviewCache(runtime).get()
    before = await (await conn.execute(query)).fetchone()
    await OverviewCache(runtime).get()

    assert await (await conn.execute(query)).fetchone() == before is not None
