"""Jobs: reading, retrying, cancelling, deleting, and which transitions are refused."""

from datetime import timedelta
from typing import LiteralString
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from harness.patience import PATIENCE
from ingest.postgres.database import Connection
from ingest.store.queue import claims, job_logs, jobs, workers
from ingest.store.queue.job_logs import LogLine
from tests.api.helpers import count, finish_file_job, upload

JOBS = "/api/jobs"


async def add(client: httpx.AsyncClient, path: str = "a.txt", data: bytes = b"a") -> dict[str, str]:
    file: dict[str, str] = (await upload(client, {path: data})).json()["files"][0]
    return file


async def fail(conn: Connection, job_id: str, code: str = "corrupt") -> None:
    await conn.execute(
        "update rag.processing_jobs set status = 'failed', attempts = 5, last_error_code = %s, "
        "completed_at = now() where id = %s",
        [code, job_id],
    )
    await conn.execute(
        "update rag.knowledge_sources set status = 'failed', error_code = %s "
        "where current_job_id = %s",
        [code, job_id],
    )


async def test_job_shows_log_and_worker(
    editor: httpx.AsyncClient, conn: Connection, dsn: str
) -> None:
    file = await add(editor)
    worker = uuid4()
    with psycopg.connect(dsn, autocommit=True) as sync:
        workers.register(sync, id=worker, host="h", pid=1, slots=4)
    (job,) = await claims.claim(conn, types=["file"], batch=1, worker=worker, cursor=uuid4())
    line = LogLine(job_id=job.id, attempt=1, stage="extract", message="extract done")
    await job_logs.add_logs(conn, [line, LogLine(job_id=job.id, attempt=1, message="x")])

    shown = (await editor.get(f"{JOBS}/{file['jobId']}")).json()

    assert (shown["status"], shown["attempts"], shown["type"]) == ("processing", 1, "file")
    assert shown["heartbeatAt"].endswith("Z")
    assert [log["message"] for log in shown["logs"]] == ["extract done", "x"]


async def test_no_answer_holds_the_payload_of_a_job(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    file = await add(editor)
    row = await (await conn.execute("select blob_key from rag.job_files")).fetchone()
    assert row is not None

    shown = await editor.get(f"{JOBS}/{file['jobId']}")
    listed = await editor.get(JOBS)

    assert "payload" not in shown.json()
    assert "payload" not in listed.json()["items"][0]
    assert row[0] not in shown.text + listed.text


async def test_ended_job_shows_its_duration(editor: httpx.AsyncClient, conn: Connection) -> None:
    file = await add(editor)
    waiting = (await editor.get(f"{JOBS}/{file['jobId']}")).json()
    await conn.execute(
        "update rag.processing_jobs set status = 'completed', "
        "started_at = now(), completed_at = now() + interval '1.5 seconds'"
    )

    ended = (await editor.get(f"{JOBS}/{file['jobId']}")).json()

    assert (waiting["durationMs"], ended["durationMs"]) == (None, 1500)


async def test_a_long_log_is_read_in_pages_and_its_end_with_the_job(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    file = await add(editor)
    lines = [
        LogLine(job_id=UUID(file["jobId"]), attempt=1 + n // 200, stage="embed", message=str(n))
        for n in range(250)
    ]
    await job_logs.add_logs(conn, lines)
    url = f"{JOBS}/{file['jobId']}/logs"

    first = (await editor.get(url, params={"limit": 200})).json()
    second = (await editor.get(url, params={"limit": 200, "cursor": first["nextCursor"]})).json()
    shown = (await editor.get(f"{JOBS}/{file['jobId']}")).json()["logs"]

    read = first["items"] + second["items"]
    assert [int(line["message"]) for line in read] == list(range(250))
    assert (read[-1]["attempt"], read[-1]["stage"], second["nextCursor"]) == (2, "embed", None)
    assert [int(line["message"]) for line in shown] == list(range(50, 250))


async def test_waiting_job_shows_time_and_reason(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    file = await add(editor)
    (job,) = await claims.claim(conn, types=["file"], batch=1, worker=uuid4(), cursor=uuid4())
    snoozed = jobs.Ended(
        job=job, status="pending", delay=timedelta(hours=1), wait_reason="rate_limited"
    )
    await jobs.finish(conn, [snoozed])

    shown = (await editor.get(f"{JOBS}/{file['jobId']}")).json()

    assert shown["runAt"].endswith("Z")
    assert (shown["waitReason"], shown["heartbeatAt"]) == ("rate_limited", None)


USED_UP = (
    "with rated as (update rag.job_types set rate_per_minute = 20 where type = 'file') "
    "insert into rag.lanes (lane, requests) values ('type:file', {left})"
)
ANOTHER_RUNS = (
    "with limited as (update rag.job_types set max_concurrent = {limit} where type = 'file') "
    "insert into rag.processing_jobs (id, application_id, type, status, max_attempts) "
    "select gen_random_uuid(), id, 'file', 'processing', 1 from app.applications"
)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("update rag.worker_config set value = 'true' where key = 'paused'", "paused"),
        ("update rag.job_types set is_paused = true where type = 'file'", "paused"),
        ("update rag.job_types set is_enabled = false where type = 'file'", "paused"),
        (ANOTHER_RUNS.format(limit=1), "max_concurrent"),
        (ANOTHER_RUNS.format(limit=2), None),
        (USED_UP.format(left=0.5), "rate_limited"),
        (USED_UP.format(left=1.5), None),
    ],
)
async def test_unclaimable_job_shows_its_wait_reason(
    editor: httpx.AsyncClient, conn: Connection, change: LiteralString, reason: str | None
) -> None:
    file = await add(editor)
    before = (await editor.get(f"{JOBS}/{file['jobId']}")).json()["waitReason"]
    await conn.execute(change)

    shown = (await editor.get(f"{JOBS}/{file['jobId']}")).json()
    (listed,) = (await editor.get(JOBS, params={"status": "pending"})).json()["items"]

    assert (before, shown["waitReason"], listed["waitReason"]) == (None, reason, reason)


async def test_lists_filter_and_page(editor: httpx.AsyncClient, conn: Connection) -> None:
    body = (await upload(editor, {f"{n}.txt": b"x" for n in range(5)})).json()
    await upload(editor, {"other.txt": b"x"})
    await fail(conn, body["files"][0]["jobId"])

    async def ids(**params: str) -> list[str]:
        items = (await editor.get(JOBS, params=params)).json()["items"]
        return [item["id"] for item in items]

    newest_first = [file["jobId"] for file in reversed(body["files"])]
    assert await ids(batchId=body["batchId"]) == newest_first
    assert await ids(status="failed") == await ids(errorCode="corrupt") == newest_first[-1:]
    assert await ids(knowledgeSourceId=body["files"][2]["knowledgeSourceId"]) == newest_first[2:3]
    assert await ids(type="purge") == []
    await conn.execute(
        "update rag.processing_jobs set parent_job_id = %s where id = %s",
        [newest_first[0], newest_first[3]],
    )
    assert await ids(parentJobId=newest_first[0]) == newest_first[3:4]
    everything = {
        "status": "failed",
        "type": "file",
        "knowledgeSourceId": body["files"][0]["knowledgeSourceId"],
        "batchId": body["batchId"],
        "errorCode": "corrupt",
    }
    assert await ids(**everything) == newest_first[-1:]
    assert await ids(**{**everything, "errorCode": "no_text"}) == []
    first = (await editor.get(JOBS, params={"limit": 4})).json()
    second = (await editor.get(JOBS, params={"limit": 4, "cursor": first["nextCursor"]})).json()
    assert len({item["id"] for item in first["items"] + second["items"]}) == 6
    assert second["nextCursor"] is None


@pytest.mark.parametrize("code", ["corrupt", "worker_lost"])
async def test_a_failed_job_can_be_retried_with_all_its_attempts(
    editor: httpx.AsyncClient, conn: Connection, code: str
) -> None:
    file = await add(editor)
    await fail(conn, file["jobId"], code)

    answer = await editor.post(f"{JOBS}/{file['jobId']}/retry")

    assert answer.status_code == 202
    assert (answer.json()["status"], answer.json()["attempts"]) == ("pending", 0)
    source = (await editor.get(f"/api/knowledge-sources/{file['knowledgeSourceId']}")).json()
    assert (source["status"], source["errorCode"]) == ("pending", None)


async def test_only_an_ended_unsuccessful_job_can_be_retried(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    file = await add(editor)
    while_open = await editor.post(f"{JOBS}/{file['jobId']}/retry")
    await finish_file_job(conn, UUID(file["jobId"]))
    when_done = await editor.post(f"{JOBS}/{file['jobId']}/retry")

    assert [while_open.status_code, when_done.status_code] == [409, 409]
    assert when_done.json()["code"] == "not_retryable"


async def test_superseded_job_cannot_be_retried(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    old = await add(editor, data=b"old")
    await add(editor, data=b"new")

    answer = await editor.post(f"{JOBS}/{old['jobId']}/retry")

    assert (answer.status_code, answer.json()["code"]) == (409, "superseded")
    assert await count(conn, "rag.processing_jobs where status = 'pending'") == 1


async def test_job_of_deleted_source_cannot_be_retried(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    file = await add(editor)
    await editor.delete(f"/api/knowledge-sources/{file['knowledgeSourceId']}")

    answer = await editor.post(f"{JOBS}/{file['jobId']}/retry")

    assert answer.status_code == 409
    assert await count(conn, "rag.processing_jobs where status = 'pending' and type = 'file'") == 0


async def test_cancel_is_final_for_the_worker_that_holds_the_job(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    file = await add(editor)
    held = await claims.claim(conn, types=["file"], batch=1, worker=uuid4(), cursor=uuid4())

    first = await editor.post(f"{JOBS}/{file['jobId']}/cancel")
    second = await editor.post(f"{JOBS}/{file['jobId']}/cancel")

    assert (first.status_code, first.json()["status"]) == (200, "cancelled")
    assert (second.status_code, second.json()["code"]) == (409, "not_cancellable")
    assert await jobs.hold(conn, held) == set()


async def test_the_removal_of_a_deleted_source_cannot_be_cancelled(
    editor: httpx.AsyncClient,
) -> None:
    file = await add(editor)
    await editor.delete(f"/api/knowledge-sources/{file['knowledgeSourceId']}")
    purge = (await editor.get(JOBS, params={"type": "purge"})).json()["items"][0]

    answer = await editor.post(f"{JOBS}/{purge['id']}/cancel")

    assert answer.status_code == 409


async def test_only_an_ended_job_can_be_deleted(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    file = await add(editor)
    url = f"{JOBS}/{file['jobId']}"
    while_open = await editor.delete(url)
    await fail(conn, file["jobId"])
    when_ended = await editor.delete(url)

    assert (while_open.status_code, while_open.json()["code"]) == (409, "not_ended")
    assert when_ended.status_code == 204
    assert (await editor.get(url)).status_code == 404
    source = await editor.get(f"/api/knowledge-sources/{file['knowledgeSourceId']}")
    assert source.json()["status"] == "failed"


async def test_trigger_wakes_the_workers(operator: httpx.AsyncClient, dsn: str) -> None:
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as listening:
        await listening.execute("listen rag_jobs")
        answer = await operator.post(f"{JOBS}/trigger")
        heard = [note.channel async for note in listening.notifies(timeout=PATIENCE, stop_after=1)]

    assert answer.status_code == 202
    assert heard == ["rag_jobs"]
