"""How many jobs run in which stage, and what the others wait for."""

from typing import Any
from uuid import UUID

import httpx

from ingest.postgres.database import Connection
from tests.api.helpers import upload


async def _counts(client: httpx.AsyncClient, **query: str) -> list[tuple[Any, ...]]:
    answer = await client.get("/api/jobs/counts", params=query)
    assert answer.status_code == 200, answer.text
    items = answer.json()["items"]
    names = ("status", "stage", "waitReason", "count")
    return [tuple(item[name] for name in names) for item in items]


async def test_jobs_are_counted_by_stage_and_by_what_they_wait_for(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    body = (await upload(editor, {f"{n}.txt": b"%d" % n for n in range(7)})).json()
    ids = [UUID(file["jobId"]) for file in body["files"]]
    await conn.execute(
        "update rag.processing_jobs set status = 'processing', stage = 'embed' where id = any(%s)",
        [ids[:2]],
    )
    await conn.execute(
        "update rag.processing_jobs set status = 'completed', stage = 'store' where id = %s",
        [ids[2]],
    )
    await conn.execute(
        "update rag.processing_jobs set wait_reason = 'budget_exceeded', "
        "run_at = '2030-01-01T00:00:00Z' where id = %s",
        [ids[3]],
    )
    # Its pages are what is waited for, not it.
    await conn.execute(
        "update rag.processing_jobs set wait_reason = 'pages' where id = %s", [ids[4]]
    )
    await upload(editor, {"other.txt": b"other"})

    assert await _counts(editor, batchId=body["batchId"]) == [
        ("pending", None, None, 2),
        ("processing", "embed", None, 2),
        ("pending", None, "budget_exceeded", 1),
    ]
    source = body["files"][0]["knowledgeSourceId"]
    assert await _counts(editor, knowledgeSourceId=source) == [("processing", "embed", None, 1)]
    assert sum(count for *_, count in await _counts(editor)) == 6


async def test_global_pause_is_the_wait_reason_of_all_jobs(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    body = (await upload(editor, {"a.txt": b"a", "b.txt": b"b"})).json()
    await conn.execute("update rag.job_types set is_paused = true where type = 'file'")

    assert await _counts(editor, batchId=body["batchId"]) == [("pending", None, "paused", 2)]


async def test_jobs_of_another_application_are_not_counted(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    body = (await upload(editor, {"a.txt": b"a"})).json()

    assert await _counts(stranger) == []
    assert await _counts(stranger, batchId=body["batchId"]) == []


async def test_retried_jobs_show_the_last_error_code(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    body = (await upload(editor, {"a.txt": b"a", "b.txt": b"b"})).json()
    await conn.execute(
        "update rag.processing_jobs set wait_reason = 'provider_unavailable', "
        "last_error_code = 'embedding_quota', last_error_message = 'HTTP 429: pay'"
    )

    answer = await editor.get("/api/jobs/counts", params={"batchId": body["batchId"]})

    [group] = answer.json()["items"]
    assert group["count"] == 2
    assert group["lastErrorCode"] == "embedding_quota"
    assert group["lastErrorMessage"] == "HTTP 429: pay"
