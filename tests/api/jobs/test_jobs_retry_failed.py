"""Failed jobs are queued again by batch, source, type or error code."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from ingest.postgres.database import Connection
from ingest.store.sources import source_control
from tests.api.helpers import count, upload

RETRY = "/api/jobs/retry-failed"
PENDING = "rag.processing_jobs where status = 'pending'"


async def fail_all(conn: Connection, code: str = "corrupt") -> None:
    await conn.execute(
        "update rag.processing_jobs set status = 'failed', attempts = 5, completed_at = now(), "
        "last_error_code = %s where status = 'pending'",
        [code],
    )
    await conn.execute("update rag.knowledge_sources set status = 'failed', error_code = 'corrupt'")


async def retried(client: httpx.AsyncClient, **where: Any) -> int:
    answer = await client.post(RETRY, json=where)
    assert answer.status_code == 202, answer.text
    return int(answer.json()["jobCount"])


async def test_retry_filters_combine(editor: httpx.AsyncClient, conn: Connection) -> None:
    first = (await upload(editor, {"a.txt": b"a", "b.txt": b"b"})).json()
    await fail_all(conn)
    await upload(editor, {"c.txt": b"c", "d.txt": b"d"})
    await fail_all(conn, "no_text")
    source_id = first["knowledgeSourceIds"][0]

    nothing = await retried(editor, batchId=first["batchId"], errorCode="no_text")
    of_source = await retried(editor, knowledgeSourceId=source_id)
    of_batch = await retried(editor, batchId=first["batchId"], type="file")
    of_code = await retried(editor, errorCode="no_text")
    of_type = await retried(editor, type="file")

    assert (nothing, of_source, of_batch, of_code, of_type) == (0, 1, 1, 2, 0)
    assert await count(conn, f"{PENDING} and attempts = 0") == 4
    source = (await editor.get(f"/api/knowledge-sources/{source_id}")).json()
    assert (source["status"], source["errorCode"]) == ("pending", None)


async def test_many_jobs_are_retried_in_bounded_steps(
    editor: httpx.AsyncClient, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await upload(editor, {f"{n}.txt": b"x" for n in range(5)})
    await fail_all(conn)
    await upload(editor, {f"done{n}.txt": b"x" for n in range(3)})
    await conn.execute(
        "update rag.processing_jobs set status = 'completed' where status = 'pending'"
    )
    monkeypatch.setattr(source_control, "_RETRIED_AT_ONCE", 2)
    steps: list[int] = []
    retry = source_control.retry

    async def noted(*args: Any, **kwargs: Any) -> list[UUID]:
        steps.append(len(kwargs["job_ids"]))
        return await retry(*args, **kwargs)

    monkeypatch.setattr(source_control, "retry", noted)
    assert await retried(editor, type="file") == 5

    assert steps == [2, 2, 1]
    assert await count(conn, PENDING) == 5


async def test_retry_skips_jobs_of_superseded_runs(
    editor: httpx.AsyncClient, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_control, "_RETRIED_AT_ONCE", 1)
    await upload(editor, {"a.txt": b"old"})
    await fail_all(conn)
    await upload(editor, {"a.txt": b"new", "b.txt": b"b"})
    await fail_all(conn)

    assert await retried(editor, errorCode="corrupt") == 2
    assert await count(conn, "rag.processing_jobs where status = 'failed'") == 1


async def test_retry_does_not_touch_other_applications(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient, conn: Connection
) -> None:
    body = (await upload(editor, {"a.txt": b"a"})).json()
    await fail_all(conn)

    of_type = await retried(stranger, type="file")
    of_batch = await stranger.post(RETRY, json={"batchId": body["batchId"]})
    of_source = await stranger.post(
        RETRY, json={"knowledgeSourceId": body["knowledgeSourceIds"][0]}
    )
    of_nobody = await stranger.post(RETRY, json={"batchId": str(uuid4())})

    assert of_type == 0
    assert [of_batch.status_code, of_source.status_code, of_nobody.status_code] == [404] * 3
    assert await count(conn, PENDING) == 0


@pytest.mark.parametrize("body", [{}, {"type": None}, {"batchId": "x"}, {"status": "failed"}])
async def test_retry_without_filter_is_a_422(
    editor: httpx.AsyncClient, body: dict[str, Any]
) -> None:
    assert (await editor.post(RETRY, json=body)).status_code == 422


async def test_concurrent_retries_queue_a_job_once(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    file = (await upload(editor, {"a.txt": b"a"})).json()["files"][0]
    await fail_all(conn)

    answers = await asyncio.gather(
        *(editor.post(f"/api/jobs/{file['jobId']}/retry") for _ in range(5)),
        *(editor.post(RETRY, json={"type": "file"}) for _ in range(5)),
    )

    again = [answer.json() for answer in answers]
    once = [answer.status_code for answer in answers[:5]].count(202)
    assert once + sum(body.get("jobCount", 0) for body in again[5:]) == 1
    assert await count(conn, f"{PENDING} and attempts = 0") == 1
