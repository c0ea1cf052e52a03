"""GET /readyz tells the truth: the listener, the workers, and work that nobody does."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from uuid import UUID

import httpx
import psycopg
import pytest

from api.worker_app import create_worker_app
from api.worker_processes.supervisor import WorkerProcessesState
from ingest.model import MissingModule
from ingest.postgres.database import Connection, Pool
from ingest.postgres.listen import Listener
from ingest.runtime import Runtime
from ingest.store.limits import worker_config
from ingest.store.queue import workers
from ingest.ticks.cleanup import prune_old
from tests.api.conftest import connect, serve
from tests.support.queue_builders import add_worker, enqueue
from tests.support.running_worker import running_worker, truth_of, until


@pytest.fixture
async def worker_port(runtime: Runtime) -> AsyncIterator[httpx.AsyncClient]:
    """The port of a process that only works."""
    async with connect(create_worker_app(runtime), None) as client:
        yield client


async def test_ready_names_the_listener_and_the_workers(
    anonymous: httpx.AsyncClient, runtime: Runtime, conn: Connection
) -> None:
    await until(lambda: truth_of(runtime.listener.is_connected))
    await add_worker(conn)
    await add_worker(conn, silent_for="1 hour")

    answer = await anonymous.get("/readyz")

    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ready",
        "database": True,
        "pendingMigrations": 0,
        "listener": True,
        "listenerProblem": None,
        "workers": 1,
        "workerSilentSeconds": 0,
        "jobsUnattended": False,
        "workerProcesses": None,
        "paused": False,
        "provider": None,
        "lowDisks": [],
        "heartbeat": None,
        "missingParsers": [],
        "sandbox": {
            "mode": "auto",
            "landlock": runtime.jail.landlock,
            "landlockProblem": runtime.jail.landlock_problem,
            "seccomp": runtime.jail.seccomp,
        },
    }


async def test_global_pause_is_shown_without_degrading_readiness(
    anonymous: httpx.AsyncClient, runtime: Runtime, conn: Connection
) -> None:
    await until(lambda: truth_of(runtime.listener.is_connected))
    await worker_config.set_paused(conn, True)

    answer = await anonymous.get("/readyz")

    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["paused"]) == ("ready", True)


async def test_with_a_dead_listener_it_serves_but_is_degraded(runtime: Runtime, dsn: str) -> None:
    deaf = replace(runtime, listener=Listener(dsn, channels=(), pool=runtime.pool))
    async with serve(deaf) as app, connect(app, None) as client:
        answer = await client.get("/readyz")

    assert answer.status_code == 200
    body = answer.json()
    assert (body["status"], body["listener"]) == ("degraded", False)
    assert body["listenerProblem"] == "not_connected"


async def test_a_parser_that_is_not_installed_is_degraded_and_named(runtime: Runtime) -> None:
    missing = MissingModule(module="html_to_markdown", formats=("html", "docx"))
    async with serve(replace(runtime, missing_parsers=(missing,))) as app, connect(app, None) as it:
        await until(lambda: truth_of(runtime.listener.is_connected))
        answer = await it.get("/readyz")

    assert answer.status_code == 200
    assert answer.json()["status"] == "degraded"
    assert answer.json()["missingParsers"] == [
        {"module": "html_to_markdown", "formats": ["html", "docx"]}
    ]


async def test_a_worker_process_that_does_not_run_is_degraded(runtime: Runtime) -> None:
    async with serve(runtime) as app, connect(app, None) as client:
        await until(lambda: truth_of(runtime.listener.is_connected))
        answers = []
        for running in (1, 2):
            state = WorkerProcessesState(configured=2, running=running, restarts=3)
            app.state.worker_processes = SimpleNamespace(state=state)
            answers.append((await client.get("/readyz")).json())

    assert [answer["status"] for answer in answers] == ["degraded", "ready"]
    assert answers[0]["workerProcesses"] == {"configured": 2, "running": 1, "restarts": 3}


async def unattended(client: httpx.AsyncClient) -> bool:
    body = (await client.get("/readyz")).json()
    assert body["status"] == ("degraded" if body["jobsUnattended"] else "ready")
    return bool(body["jobsUnattended"])


async def age_jobs(conn: Connection, by: str) -> None:
    await conn.execute("update rag.processing_jobs set created_at = now() - %s::interval", [by])


async def test_old_work_without_workers_is_degraded(
    anonymous: httpx.AsyncClient, runtime: Runtime, conn: Connection, application_id: UUID
) -> None:
    await until(lambda: truth_of(runtime.listener.is_connected))
    assert not await unattended(anonymous)
    await enqueue(conn, application_id)
    assert not await unattended(anonymous)  # it came a moment ago
    await age_jobs(conn, "6 minutes")
    assert await unattended(anonymous)
    await conn.execute("update rag.job_types set is_paused = true where type = 'file'")
    assert not await unattended(anonymous)  # somebody wants it so
    await conn.execute("update rag.job_types set is_paused = false")
    await add_worker(conn, silent_for="4 minutes")
    assert not await unattended(anonymous)  # dead, but not for so long
    await conn.execute("update rag.workers set heartbeat_at = now() - interval '6 minutes'")

    assert await unattended(anonymous)


async def test_stopped_worker_still_counts_as_seen(
    anonymous: httpx.AsyncClient, conn: Connection, dsn: str
) -> None:
    before = (await anonymous.get("/readyz")).json()["workerSilentSeconds"]
    worker = await add_worker(conn)
    with psycopg.connect(dsn, autocommit=True) as heartbeat:
        workers.deregister(heartbeat, id=worker)

    after = (await anonymous.get("/readyz")).json()

    assert before is None
    assert after["workers"] == 0
    assert 0 <= after["workerSilentSeconds"] < 60


async def test_latest_worker_is_remembered_after_its_row_is_pruned(
    anonymous: httpx.AsyncClient, conn: Connection, pool: Pool
) -> None:
    await add_worker(conn, silent_for="2 days")
    await prune_old(pool)
    first = (await anonymous.get("/readyz")).json()["workerSilentSeconds"]
    await add_worker(conn, silent_for="3 days")
    await prune_old(pool)

    second = (await anonymous.get("/readyz")).json()["workerSilentSeconds"]

    assert 172_800 <= first < 172_900
    assert first <= second < first + 60


async def test_a_worker_process_is_ready_while_its_own_heartbeat_lives(
    worker_port: httpx.AsyncClient, dsn: str, pool: Pool, conn: Connection
) -> None:
    alive = await worker_port.get("/healthz")
    await add_worker(conn)  # another process
    before = await worker_port.get("/readyz")
    async with running_worker(dsn, pool, {}):
        during = await worker_port.get("/readyz")
        await conn.execute(
            "update rag.workers set heartbeat_at = now() - %s where host <> 'test'",
            [timedelta(minutes=3)],
        )
        silent = await worker_port.get("/readyz")

    assert alive.status_code == 200
    assert (before.status_code, before.json()["checks"]["heartbeat"]) == (503, False)
    assert (during.status_code, during.json()["heartbeat"]) == (200, True)
    assert silent.status_code == 503


async def test_a_worker_process_serves_its_metrics(worker_port: httpx.AsyncClient) -> None:
    answer = await worker_port.get("/metrics")

    assert "rag_ingest_workers_desired 0.0" in answer.text
    assert "rag_ingest_jobs_claimed_total" in answer.text
