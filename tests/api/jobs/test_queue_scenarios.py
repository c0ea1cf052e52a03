"""The scenarios FEAT-33-01 to 15 of a queue for background jobs, by API and with real workers.

One job type, `greet`, whose handler a test makes up, as any user would register it.
For 09 to 12, see test_queue_scenarios_visibility.py.
"""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from harness.pools import pool_across_applications
from ingest.errors import Transient
from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.registry import Handler
from ingest.postgres.database import Connection, Pool
from ingest.runtime import Runtime
from ingest.store.queue.jobs import ClaimedJob
from tests.api.conftest import OPERATOR_KEY, connect, serve
from tests.api.helpers import count
from tests.api.jobs.greetings import SECRET, add_greet, enqueue
from tests.support.running_worker import Scripted, running_worker, until_status


@pytest.fixture(autouse=True)
async def greet(operator: httpx.AsyncClient) -> None:
    await add_greet(operator)


async def shown(client: httpx.AsyncClient, id: str) -> Any:
    return (await client.get(f"/api/jobs/{id}")).json()


async def run_once(
    dsn: str, pool: Pool, conn: Connection, handler: Handler, *ids: str
) -> list[dict[str, Any]]:
    """Run a worker until these jobs have ended; their rows."""
    async with running_worker(dsn, pool, {"greet": handler}):
        return [await until_status(conn, id, "completed", "failed") for id in ids]


async def test_feat_33_01_a_job_is_queued_and_answered_at_once(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    answer = await enqueue(editor)

    job = answer.json()
    assert answer.status_code == 202
    assert (job["type"], job["status"], job["attempts"]) == ("greet", "pending", 0)
    assert await count(conn, "rag.processing_jobs") == 1


async def test_feat_33_02_a_job_that_completes_says_how_long_it_took(
    editor: httpx.AsyncClient, conn: Connection, dsn: str, pool: Pool
) -> None:
    async def work(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        with progress.run_stage("extract", at=0):
            await asyncio.sleep(0.02)
        return Outcome(result={"greeted": 1})

    id = (await enqueue(editor)).json()["id"]
    await run_once(dsn, pool, conn, work, id)

    job = await shown(editor, id)
    assert (job["status"], job["progress"], job["result"]) == ("completed", 100, {"greeted": 1})
    assert job["startedAt"] < job["completedAt"]
    assert [line["stage"] for line in job["logs"]] == ["extract"]
    assert job["logs"][0]["durationMs"] >= 20


async def test_feat_33_03_an_unknown_type_is_refused(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    answer = await enqueue(editor, type="no_such_type")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "body.type"
    assert await count(conn, "rag.processing_jobs") == 0


async def test_feat_33_04_a_payload_that_is_not_what_the_type_takes_is_refused(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    answer = await enqueue(editor, payload={"name": 7})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "body.payload.name"
    assert await count(conn, "rag.processing_jobs") == 0


async def test_feat_33_05_database_outage_is_a_503(
    runtime: Runtime, dsn: str, conn: Connection
) -> None:
    async with pool_across_applications(dsn, size=2, application_name="closed") as closed:
        pass
    async with serve(replace(runtime, pool=closed)) as app, connect(app, OPERATOR_KEY) as client:
        answer = await enqueue(client)

    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
    assert "Retry-After" in answer.headers
    assert await count(conn, "rag.processing_jobs") == 0


async def test_feat_33_06_transient_failure_is_retried_and_succeeds(
    editor: httpx.AsyncClient, conn: Connection, dsn: str, pool: Pool
) -> None:
    soon = Transient("busy", code="internal", retry_after=timedelta(milliseconds=20))
    id = (await enqueue(editor)).json()["id"]

    await run_once(dsn, pool, conn, Scripted(soon, soon), id)

    job = await shown(editor, id)
    assert (job["status"], job["attempts"], job["lastErrorCode"]) == ("completed", 3, None)
    assert [line["level"] for line in job["logs"]] == ["warning", "warning"]


async def test_feat_33_07_exhausted_attempts_fail_without_internals_in_the_message(
    editor: httpx.AsyncClient, conn: Connection, dsn: str, pool: Pool
) -> None:
    await conn.execute("update rag.job_types set backoff_base = '1 ms', backoff_cap = '1 ms'")
    id = (await enqueue(editor)).json()["id"]
    await conn.execute("update rag.processing_jobs set max_attempts = 2")

    await run_once(dsn, pool, conn, Scripted(KeyError(SECRET), KeyError(SECRET)), id)

    job = await shown(editor, id)
    assert (job["status"], job["lastErrorCode"], job["attempts"]) == ("failed", "internal", 2)
    assert SECRET not in str(job)
    retried = await editor.post(f"/api/jobs/{id}/retry")
    assert (retried.status_code, retried.json()["attempts"]) == (202, 0)


async def test_feat_33_08_the_same_idempotency_key_is_the_same_job(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    first, again = [await enqueue(editor, idempotencyKey="order-7") for _ in range(2)]
    other = await enqueue(editor, idempotencyKey="order-7", payload={"name": "Bob"})

    assert first.json()["id"] == again.json()["id"]
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")
    assert await count(conn, "rag.processing_jobs") == 1


async def test_feat_33_13_two_workers_run_no_job_twice(
    editor: httpx.AsyncClient, conn: Connection, dsn: str, pool: Pool
) -> None:
    left, right = Scripted(), Scripted()
    ids = [(await enqueue(editor, payload={"name": str(n)})).json()["id"] for n in range(30)]

    async with (
        running_worker(dsn, pool, {"greet": left}, concurrency=2),
        running_worker(dsn, pool, {"greet": right}, concurrency=2),
    ):
        for id in ids:
            await until_status(conn, id, "completed")

    ran = [str(job.id) for handler in (left, right) for job in handler.started]
    assert sorted(ran) == sorted(ids)


async def test_feat_33_14_job_type_concurrency_limit_holds(
    editor: httpx.AsyncClient,
    operator: httpx.AsyncClient,
    conn: Connection,
    dsn: str,
    pool: Pool,
) -> None:
    running = most = 0

    async def work(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        return Outcome()

    await operator.patch("/api/job-types/greet", json={"maxConcurrent": 2})
    ids = [(await enqueue(editor, payload={"name": str(n)})).json()["id"] for n in range(8)]

    async with (
        running_worker(dsn, pool, {"greet": work}),
        running_worker(dsn, pool, {"greet": work}),
    ):
        for id in ids:
            await until_status(conn, id, "completed")

    assert most == 2


async def test_feat_33_15_the_log_covers_each_attempt_stage_and_end(
    editor: httpx.AsyncClient, conn: Connection, dsn: str, pool: Pool
) -> None:
    async def work(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        with progress.run_stage("extract", at=10):
            pass
        if job.attempts == 1:
            raise Transient("busy", code="internal", retry_after=timedelta(milliseconds=10))
        with progress.run_stage("embed", at=50) as details:
            details["chunks"] = 3
        return Outcome()

    id = (await enqueue(editor)).json()["id"]
    await run_once(dsn, pool, conn, work, id)

    lines = (await editor.get(f"/api/jobs/{id}/logs")).json()["items"]
    told = {(line["attempt"], line["level"], line["stage"]) for line in lines}
    assert told == {
        (1, "info", "extract"),
        (1, "warning", "extract"),
        (2, "info", "extract"),
        (2, "info", "embed"),
    }
    assert {"chunks": 3} in [line["details"] for line in lines]
