"""Upload batches: counts that add up, the report, and acting on a whole batch."""

import csv
import io
from typing import Any, Final
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI

from api.routes.uploads import batches
from ingest.postgres.database import Connection, Pool, new_id
from tests.api.helpers import finish_file_job, upload
from tests.api.jobs.test_jobs import fail
from tests.api.sockets import listening

_LARGE: Final = 1200

STATES = (
    "completed",
    "partial",
    "failed",
    "cancelled",
    "processing",
    "pending",
    "reviewNeeded",
)


@pytest.fixture
async def batch(editor: httpx.AsyncClient, conn: Connection) -> dict[str, Any]:
    """A batch with a file in every verdict, and accepted ones in several states."""
    await upload(editor, {"known.txt": b"known"})
    names = ["done", "bad", "gone", "deleted", "purged", "open", "partly"]
    parts = [(f"{name}.txt", name.encode()) for name in names]
    extra = [("known.txt", b"known"), ("open.txt", b"open"), ("..", b"x"), ("open.txt", b"other")]
    body: dict[str, Any] = (await upload(editor, parts + extra)).json()
    by_path = {file["path"]: file for file in body["files"][: len(names)]}
    await finish_file_job(conn, UUID(by_path["done.txt"]["jobId"]))
    await finish_file_job(conn, UUID(by_path["partly.txt"]["jobId"]))
    await conn.execute(
        "update rag.knowledge_sources set status = 'partial' where uri = 'partly.txt'"
    )
    await fail(conn, by_path["bad.txt"]["jobId"])
    await editor.post(f"/api/jobs/{by_path['gone.txt']['jobId']}/cancel")
    for name in ("deleted.txt", "purged.txt"):
        await editor.delete(f"/api/knowledge-sources/{by_path[name]['knowledgeSourceId']}")
    await conn.execute("delete from rag.knowledge_sources where uri = 'purged.txt'")
    return body


async def test_batch_counts_add_up_for_every_outcome(
    viewer: httpx.AsyncClient, batch: dict[str, Any]
) -> None:
    counts = (await viewer.get(f"/api/batches/{batch['batchId']}")).json()

    assert counts["total"] == len(batch["files"]) == 11
    verdicts = {name: counts[name] for name in ("accepted", "unchanged", "duplicate", "rejected")}
    assert verdicts == {"accepted": 7, "unchanged": 1, "duplicate": 1, "rejected": 2}
    assert {name: counts[name] for name in STATES} == {
        "completed": 1,
        "partial": 1,
        "failed": 1,
        "cancelled": 3,
        "processing": 0,
        "pending": 1,
        "reviewNeeded": 0,
    }
    assert counts["deleted"] == 2
    [listed, *_] = (await viewer.get("/api/batches")).json()["items"]
    assert (listed["states"]["cancelled"], listed["deleted"]) == (3, 2)


async def test_the_report_has_one_row_per_file_in_order(
    viewer: httpx.AsyncClient, batch: dict[str, Any]
) -> None:
    report = (await viewer.get(f"/api/batches/{batch['batchId']}/report")).json()

    rows = report["files"]
    assert [row["path"] for row in rows] == [file["path"] for file in batch["files"]]
    assert [row["verdict"] for row in rows] == [file["verdict"] for file in batch["files"]]
    assert report["total"] == len(rows)
    by_path = {row["path"]: row for row in rows[:7]}
    assert (by_path["done.txt"]["status"], by_path["done.txt"]["chunkCount"]) == ("completed", 1)
    assert (by_path["bad.txt"]["status"], by_path["bad.txt"]["code"]) == ("failed", "corrupt")
    assert by_path["purged.txt"]["code"] == by_path["deleted.txt"]["code"] == "source_deleted"
    assert (rows[9]["status"], rows[9]["code"]) == (None, "invalid_path")


async def test_the_report_as_csv_is_safe_to_open_in_a_spreadsheet(
    editor: httpx.AsyncClient,
) -> None:
    names = ["=cmd|'calc'!A0", "+1", "-1", "@x", 'say "hi", ok.txt', "grün.txt"]
    body = (await upload(editor, [(name, b"x") for name in names])).json()

    answer = await editor.get(f"/api/batches/{body['batchId']}/report?format=csv")

    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert [row["path"] for row in rows] == [
        "'=cmd|'calc'!A0",
        "'+1",
        "'-1",
        "'@x",
        'say "hi", ok.txt',
        "grün.txt",
    ]
    assert all(line.endswith("\r\n") for line in answer.text.splitlines(keepends=True))


async def test_retry_failed_queues_the_failed_and_only_those(
    editor: httpx.AsyncClient, batch: dict[str, Any]
) -> None:
    url = f"/api/batches/{batch['batchId']}"

    answer = await editor.post(f"{url}/retry-failed")

    failed = next(file for file in batch["files"] if file["path"] == "bad.txt")
    assert answer.status_code == 202
    assert answer.json() == {
        "batchId": batch["batchId"],
        "jobCount": 1,
        "jobIds": [failed["jobId"]],
    }
    counts = (await editor.get(url)).json()
    assert (counts["failed"], counts["pending"], counts["cancelled"]) == (0, 2, 3)


async def test_retry_failed_never_replaces_newer_bytes(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    old = (await upload(editor, {"x.txt": b"old"})).json()
    await fail(conn, old["files"][0]["jobId"])
    new = (await upload(editor, {"x.txt": b"new"})).json()

    answer = await editor.post(f"/api/batches/{old['batchId']}/retry-failed")

    assert answer.json()["jobCount"] == 0
    assert new["files"][0]["verdict"] == "accepted"


async def test_batch_cancel_ends_open_jobs_and_is_idempotent(
    editor: httpx.AsyncClient, batch: dict[str, Any]
) -> None:
    url = f"/api/batches/{batch['batchId']}"

    first = await editor.post(f"{url}/cancel")
    second = await editor.post(f"{url}/cancel")

    assert (first.status_code, first.json()["jobCount"]) == (200, 1)
    assert (second.status_code, second.json()["jobCount"]) == (200, 0)
    counts = (await editor.get(url)).json()
    assert (counts["pending"], counts["cancelled"], counts["completed"]) == (0, 4, 1)


async def test_an_unknown_batch_is_a_404(editor: httpx.AsyncClient) -> None:
    answer = await editor.get(f"/api/batches/{uuid4()}/report?format=csv")

    assert answer.status_code == 404


@pytest.fixture
async def large_batch(conn: Connection, application_id: UUID) -> UUID:
    """A batch of some pages of the report and a bit, all rejected."""
    id = new_id()
    await conn.execute(
        "insert into rag.upload_batches (id, application_id, rejected) values (%s, %s, %s)",
        [id, application_id, _LARGE],
    )
    await conn.execute(
        "insert into rag.upload_files (batch_id, path, size_bytes, verdict) "
        "select %s, 'file-' || n, 1, 'rejected' from generate_series(1, %s) as n",
        [id, _LARGE],
    )
    return id


async def test_large_batch_report_is_complete_and_ordered(
    viewer: httpx.AsyncClient, large_batch: UUID
) -> None:
    answer = await viewer.get(f"/api/batches/{large_batch}/report?format=csv")

    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert [row["path"] for row in rows] == [f"file-{n}" for n in range(1, _LARGE + 1)]


async def test_a_slow_reader_of_a_report_holds_no_connection(
    pool: Pool, application_id: UUID, large_batch: UUID
) -> None:
    response = await batches._csv_response(pool, application_id, large_batch)

    parts, used = 0, []
    async for _ in response.body_iterator:
        parts += 1
        stats = pool.connections.open.get_stats()
        used.append(stats["pool_size"] - stats["pool_available"])

    assert (parts, set(used)) == (4, {0})


async def test_interrupted_report_is_not_a_valid_shorter_report(
    app: FastAPI, viewer: httpx.AsyncClient, conn: Connection, large_batch: UUID
) -> None:
    # More than what sockets hold for a client that does not read.
    await conn.execute(
        "insert into rag.upload_files (batch_id, path, size_bytes, verdict) "
        "select %s, repeat('x', 1000), 1, 'rejected' from generate_series(1, 20000)",
        [large_batch],
    )
    async with (
        listening(app) as address,
        httpx.AsyncClient(headers=viewer.headers) as client,
        client.stream("GET", f"http://{address}/api/batches/{large_batch}/report?format=csv") as r,
    ):
        chunks = r.aiter_raw()
        await anext(chunks)
        await conn.execute("alter table rag.upload_files rename to gone")
        try:
            with pytest.raises(httpx.RemoteProtocolError, match="incomplete"):
                async for _ in chunks:
                    pass
        finally:
            await conn.execute("alter table rag.gone rename to upload_files")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("=1+1.txt", "'=1+1.txt"),
        ("＝1.txt", "'＝1.txt"),  # noqa: RUF001
        ("a;=1+1.txt", '"a;=1+1.txt"'),
        ("a-b=c.txt", "a-b=c.txt"),
        (" =1.txt", " =1.txt"),
    ],
)
async def test_a_name_is_changed_in_the_csv_only_as_far_as_spreadsheets_need(
    editor: httpx.AsyncClient, name: str, written: str
) -> None:
    body = (await upload(editor, [(name, b"x")])).json()

    answer = await editor.get(f"/api/batches/{body['batchId']}/report?format=csv")

    assert answer.text.splitlines()[1].startswith(f"{written},accepted,")
