"""What a source says it waits for, whatever holds its jobs up."""

from typing import Any, LiteralString
from uuid import UUID

import httpx
import pytest

from ingest.postgres.database import Connection
from ingest.store.limits import worker_config
from ingest.store.queue import jobs
from ingest.store.queue.jobs import NewJob
from tests.api.helpers import upload
from tests.support.queue_builders import add_application

IN_AN_HOUR = "run_at = now() + interval '1 hour'"


async def waiting(client: httpx.AsyncClient) -> Any:
    """Of the only source: the same in the list and on its own."""
    [listed] = (await client.get("/api/knowledge-sources")).json()["items"]
    source = (await client.get(f"/api/knowledge-sources/{listed['id']}")).json()
    assert source["waiting"] == listed["waiting"]
    return source["waiting"]


async def add(client: httpx.AsyncClient) -> str:
    [file] = (await upload(client, {"a.txt": b"a"})).json()["files"]
    return str(file["jobId"])


async def change(conn: Connection, id: str, assignments: LiteralString) -> None:
    await conn.execute(f"update rag.processing_jobs set {assignments} where id = %s", [id])


async def pause_all(conn: Connection) -> None:
    async with conn.transaction():
        await worker_config.set_paused(conn, True)


async def pause_type(conn: Connection) -> None:
    await conn.execute("update rag.job_types set is_paused = true where type = 'file'")


async def fill_type(conn: Connection, type: str = "file") -> None:
    """Another application's job takes the only slot of the type."""
    [id] = await jobs.enqueue(conn, [NewJob(application_id=await add_application(conn), type=type)])
    await change(conn, str(id), "status = 'processing'")
    await conn.execute("update rag.job_types set max_concurrent = 1 where type = %s", [type])


async def add_member(conn: Connection, application_id: UUID, parent: str) -> str:
    [id] = await jobs.enqueue(
        conn, [NewJob(application_id=application_id, type="member", parent_job_id=UUID(parent))]
    )
    return str(id)


async def test_a_source_that_waits_for_a_worker_waits_for_nothing_else(
    editor: httpx.AsyncClient,
) -> None:
    await add(editor)

    assert await waiting(editor) is None


@pytest.mark.parametrize(
    ("hold", "reason"),
    [(pause_all, "paused"), (pause_type, "paused"), (fill_type, "max_concurrent")],
)
async def test_a_pause_and_a_limit_of_the_type_are_reasons(
    editor: httpx.AsyncClient, conn: Connection, hold: Any, reason: str
) -> None:
    job_id = await add(editor)

    await hold(conn)

    assert await waiting(editor) == {
        "reason": reason,
        "jobId": job_id,
        "code": None,
        "message": None,
        "until": None,
    }


async def test_a_time_is_a_reason_unless_everything_is_paused(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    job_id = await add(editor)
    await change(conn, job_id, f"{IN_AN_HOUR}, wait_reason = null")
    scheduled = await waiting(editor)
    await change(conn, job_id, "wait_reason = 'retry', last_error_code = 'timeout'")
    retried = await waiting(editor)
    await pause_all(conn)

    assert (scheduled["reason"], scheduled["code"]) == ("scheduled", None)
    assert (retried["reason"], retried["code"]) == ("retry", "timeout")
    assert retried["until"] == scheduled["until"] is not None
    # Neither the time nor the error says when it goes on.
    paused = {"reason": "paused", "jobId": job_id, "code": None, "message": None, "until": None}
    assert await waiting(editor) == paused


async def test_what_a_child_waits_for_is_said_with_its_job(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    job_id = await add(editor)
    await change(conn, job_id, f"{IN_AN_HOUR}, wait_reason = 'members'")
    child = await add_member(conn, application_id, job_id)
    await fill_type(conn, "member")
    among_each_other = await waiting(editor)
    await change(conn, child, f"{IN_AN_HOUR}, wait_reason = 'budget_exceeded'")
    for_tokens = await waiting(editor)
    await change(conn, child, "run_at = null, wait_reason = null")
    await conn.execute("update rag.job_types set is_paused = true where type = 'member'")
    paused = await waiting(editor)

    assert among_each_other is None
    assert (for_tokens["reason"], for_tokens["jobId"]) == ("budget_exceeded", child)
    assert (paused["reason"], paused["jobId"]) == ("paused", child)
