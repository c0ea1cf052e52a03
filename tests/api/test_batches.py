"""Upload batches: counts that add up, the report, and acting on a whole batch."""

import csv
import io
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from ingest.db import Connection
from tests.api.helpers import finish_file_job, upload
from tests.api.test_jobs import fail

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


async def test_the_counts_add_up_whatever_became_of_the_files(
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


async def test_retry_failed_never_puts_old_bytes_in_the_place_of_new(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    old = (await upload(editor, {"x.txt": b"old"})).json()
    await fail(conn, old["files"][0]["jobId"])
    new = (await upload(editor, {"x.txt": b"new"})).json()

    answer = await editor.post(f"/api/batches/{old['batchId']}/retry-failed")

    assert answer.json()["jobCount"] == 0
    assert new["files"][0]["verdict"] == "accepted"


async def test_cancel_ends_what_is_open_and_may_be_repeated(
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
