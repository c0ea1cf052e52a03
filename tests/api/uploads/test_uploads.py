"""POST /upload/documents: verdicts, fields, limits, and that nothing is left behind."""

import io
import json
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from ingest.blobs import local
from ingest.postgres.database import Connection
from tests.api.helpers import count, finish_file_job, staged, stored, upload


async def test_each_file_gets_a_source_and_a_job_in_one_batch(
    editor: httpx.AsyncClient, conn: Connection, blobs_on_disk: Path
) -> None:
    answer = await upload(editor, {"a/x.txt": b"one", "b/x.txt": b"two"})

    body = answer.json()
    assert answer.status_code == 202
    assert [file["verdict"] for file in body["files"]] == ["accepted", "accepted"]
    assert [file["path"] for file in body["files"]] == ["a/x.txt", "b/x.txt"]
    assert body["jobCount"] == 2
    assert body["knowledgeSourceIds"] == [file["knowledgeSourceId"] for file in body["files"]]
    assert await count(conn, "rag.knowledge_sources") == 2
    assert await count(conn, "rag.processing_jobs") == 2
    assert len(stored(blobs_on_disk)) == 2


async def test_stored_bytes_are_the_uploaded_bytes(
    editor: httpx.AsyncClient, conn: Connection, blobs_on_disk: Path
) -> None:
    content = bytes(range(256)) * 4000 + b"\r\n--not-the-boundary\r\n"
    await upload(editor, {"x.bin": content})

    row = await (await conn.execute("select blob_key, size_bytes from rag.job_files")).fetchone()
    assert row is not None
    assert (blobs_on_disk / row[0]).read_bytes() == content
    assert row[1] == len(content)


async def test_the_same_bytes_under_the_same_path_are_unchanged(
    editor: httpx.AsyncClient, conn: Connection, blobs_on_disk: Path
) -> None:
    first = (await upload(editor, {"x.txt": b"same"})).json()["files"][0]
    await finish_file_job(conn, UUID(first["jobId"]))
    kept = stored(blobs_on_disk)

    again = (await upload(editor, {"x.txt": b"same"})).json()

    assert again["files"][0]["verdict"] == "unchanged"
    assert again["files"][0]["knowledgeSourceId"] == first["knowledgeSourceId"]
    assert again["jobCount"] == 0
    assert stored(blobs_on_disk) == kept
    assert staged(blobs_on_disk) == []


async def test_small_files_that_are_known_need_no_disk(
    editor: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"{number}.txt": b"known" for number in range(20)}
    await upload(editor, files)
    opened = set()
    open_ = local._File._open

    def recorded(file: local._File) -> int:
        opened.add(file.final)
        return open_(file)

    monkeypatch.setattr(local._File, "_open", recorded)

    again = await upload(editor, {**files, "new.txt": b"new"})

    verdicts = [file["verdict"] for file in again.json()["files"]]
    assert verdicts == ["unchanged"] * 20 + ["accepted"]
    assert len(opened) == 1


async def test_bytes_that_are_still_being_processed_are_unchanged_too(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    first = (await upload(editor, {"x.txt": b"same"})).json()["files"][0]

    again = (await upload(editor, {"x.txt": b"same"})).json()["files"][0]

    assert again["verdict"] == "unchanged"
    assert again["jobId"] == first["jobId"]
    assert await count(conn, "rag.processing_jobs") == 1


async def test_new_bytes_under_a_known_path_replace_the_job_but_not_the_source(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    first = (await upload(editor, {"x.txt": b"old"})).json()["files"][0]

    second = (await upload(editor, {"x.txt": b"new"})).json()["files"][0]

    assert second["verdict"] == "accepted"
    assert second["knowledgeSourceId"] == first["knowledgeSourceId"]
    old = (await editor.get(f"/api/jobs/{first['jobId']}")).json()
    assert old["status"] == "cancelled"
    assert await count(conn, "rag.processing_jobs where status = 'pending'") == 1


async def test_with_skip_a_known_path_is_left_alone(
    editor: httpx.AsyncClient, conn: Connection, blobs_on_disk: Path
) -> None:
    first = (await upload(editor, {"x.txt": b"old"})).json()["files"][0]

    answer = await upload(editor, {"x.txt": b"new"}, onConflict="skip")

    assert answer.status_code == 202
    assert answer.json()["files"][0]["verdict"] == "duplicate"
    assert answer.json()["files"][0]["knowledgeSourceId"] == first["knowledgeSourceId"]
    assert len(stored(blobs_on_disk)) == 1


async def test_the_same_bytes_under_another_path_are_accepted_and_point_at_the_first(
    editor: httpx.AsyncClient,
) -> None:
    files = (await upload(editor, {"a.txt": b"same", "b.txt": b"same"})).json()["files"]

    assert [file["verdict"] for file in files] == ["accepted", "accepted"]
    assert "duplicateOf" not in files[0]
    assert files[1]["duplicateOf"] == files[0]["knowledgeSourceId"]
    source = (await editor.get(f"/api/knowledge-sources/{files[1]['knowledgeSourceId']}")).json()
    assert source["duplicateOf"] == files[0]["knowledgeSourceId"]


async def test_a_path_that_comes_twice_in_a_request_counts_once(editor: httpx.AsyncClient) -> None:
    parts = [("x.txt", b"1"), ("./x.txt", b"1"), ("y/../x.txt", b"2")]
    files = (await upload(editor, parts)).json()["files"]

    assert [file["verdict"] for file in files] == ["accepted", "duplicate", "rejected"]
    assert files[1]["knowledgeSourceId"] == files[0]["knowledgeSourceId"]
    assert files[2]["code"] == "duplicate_path"


async def test_upload_answer_omits_empty_fields(editor: httpx.AsyncClient) -> None:
    file = (await upload(editor, {"a.txt": b"x"})).json()["files"][0]

    assert set(file) == {"path", "verdict", "knowledgeSourceId", "jobId"}


async def test_one_bad_name_rejects_only_its_file(
    editor: httpx.AsyncClient, blobs_on_disk: Path
) -> None:
    answer = await upload(editor, [("..", b"bad"), ("good.txt", b"good"), ("x" * 5000, b"bad")])

    files = answer.json()["files"]
    assert answer.status_code == 202
    assert [file["verdict"] for file in files] == ["rejected", "accepted", "rejected"]
    assert [file.get("code") for file in files] == ["invalid_path", None, "invalid_path"]
    assert len(stored(blobs_on_disk)) == 1


async def test_oversized_file_is_rejected_without_affecting_others(
    small_editor: httpx.AsyncClient, blobs_on_disk: Path
) -> None:
    limit = 400_000
    # Sent in pieces, so that some of it is on the disk when it turns out to be too large.
    too_large = io.BytesIO(b"y" * (limit + 1))
    parts = [
        ("files", ("a.txt", io.BytesIO(b"x" * limit))),
        ("files", ("big.bin", too_large)),
        ("files", ("b.txt", io.BytesIO(b"z"))),
    ]
    answer = await small_editor.post("/upload/documents", files=parts)

    files = answer.json()["files"]
    assert [file["verdict"] for file in files] == ["accepted", "rejected", "accepted"]
    assert files[1]["code"] == "too_large"
    assert len(stored(blobs_on_disk)) == 2
    assert staged(blobs_on_disk) == []


async def test_without_files_nothing_is_written(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    answer = await upload(editor, [], priority="1")

    assert answer.status_code == 422
    assert answer.json()["code"] == "no_files"
    assert await count(conn, "rag.upload_batches") == 0


async def test_when_every_file_is_refused_the_answer_says_why_for_each(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    answer = await upload(editor, [("..", b"x"), ("/", b"y")])

    body = answer.json()
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["code"] == "nothing_accepted"
    assert [file["code"] for file in body["files"]] == ["invalid_path", "invalid_path"]
    assert await count(conn, "rag.upload_batches") == 0


async def test_form_fields_apply_at_any_position_in_the_body(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    metadata = {"team": "a\u0000b\ud800", "n": [1, 2.5, None, True]}
    answer = await upload(editor, {"x.txt": b"x"}, metadata=json.dumps(metadata), priority="7")

    file = answer.json()["files"][0]
    source = (await editor.get(f"/api/knowledge-sources/{file['knowledgeSourceId']}")).json()
    job = (await editor.get(f"/api/jobs/{file['jobId']}")).json()
    assert source["metadata"] == {"team": "ab", "n": [1, 2.5, None, True]}
    assert job["priority"] == 7


@pytest.mark.parametrize(
    ("field", "value", "where"),
    [
        ("metadata", "{", "body.metadata"),
        ("metadata", "[1]", "body.metadata"),
        ("metadata", '{"x": NaN}', "body.metadata"),
        ("metadata", '{"x": ' * 40 + "1" + "}" * 40, "body.metadata"),
        ("metadata", "[" * 50_000, "body.metadata"),
        ("priority", "101", "body.priority"),
        ("priority", "high", "body.priority"),
        ("batchId", "no-uuid", "body.batchId"),
        ("onConflict", "replace", "body.onConflict"),
        ("colour", "red", "body.colour"),
        ("batch_id", "11111111-1111-4111-8111-111111111111", "body.batch_id"),
    ],
)
async def test_a_wrong_field_is_a_422_that_names_it_and_leaves_nothing(
    editor: httpx.AsyncClient,
    conn: Connection,
    blobs_on_disk: Path,
    field: str,
    value: str,
    where: str,
) -> None:
    answer = await upload(editor, {"x.txt": b"x"}, **{field: value})

    assert answer.status_code == 422
    assert where in [error["field"] for error in answer.json()["errors"]]
    assert await count(conn, "rag.knowledge_sources") == 0
    assert stored(blobs_on_disk) == staged(blobs_on_disk) == []


async def test_a_field_that_is_too_long_is_a_413(
    editor: httpx.AsyncClient, blobs_on_disk: Path
) -> None:
    answer = await upload(editor, {"x.txt": b"x"}, metadata='{"x": "' + "y" * 70_000 + '"}')

    assert answer.status_code == 413
    assert answer.json()["code"] == "too_large"
    assert stored(blobs_on_disk) == staged(blobs_on_disk) == []


async def test_a_batch_can_grow_over_requests(editor: httpx.AsyncClient) -> None:
    batch_id = (await upload(editor, {"a.txt": b"a"})).json()["batchId"]

    again = (await upload(editor, {"b.txt": b"b"}, batchId=batch_id)).json()

    assert again["batchId"] == batch_id
    batch = (await editor.get(f"/api/batches/{batch_id}")).json()
    assert batch["total"] == batch["accepted"] == 2


async def test_upload_to_batch_of_another_application_returns_404(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient, blobs_on_disk: Path
) -> None:
    batch_id = (await upload(stranger, {"a.txt": b"a"})).json()["batchId"]
    before = stored(blobs_on_disk)

    answer = await upload(editor, {"b.txt": b"b"}, batchId=batch_id)

    assert answer.status_code == 404
    assert stored(blobs_on_disk) == before
    assert staged(blobs_on_disk) == []
