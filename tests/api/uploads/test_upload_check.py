"""POST /upload/check: what need not be sent, and that asking changes nothing."""

import hashlib
from uuid import UUID

import httpx

from ingest.postgres.database import Connection
from tests.api.helpers import count, finish_file_job, upload


async def check(client: httpx.AsyncClient, files: dict[str, bytes], **fields: object) -> list[str]:
    """The verdict per file, in order; `send` for what the service does not know."""
    digests = [
        {"path": path, "sha256": hashlib.sha256(data).hexdigest()} for path, data in files.items()
    ]
    answer = await client.post("/upload/check", json={"files": digests, **fields})
    assert answer.status_code == 200, answer.text
    known = {file["index"]: file["verdict"] for file in answer.json()["known"]}
    return [known.get(index, "send") for index in range(len(files))]


async def test_check_skips_accepted_files_before_processing(
    editor: httpx.AsyncClient,
) -> None:
    await upload(editor, {"a/x.txt": b"one"})

    assert await check(editor, {"a/x.txt": b"one", "b/x.txt": b"one"}) == ["unchanged", "send"]


async def test_check_normalises_paths_like_upload(editor: httpx.AsyncClient) -> None:
    await upload(editor, {"a/caf\u00e9.txt": b"one"})

    assert await check(editor, {"./a/cafe\u0301.txt": b"one"}) == ["unchanged"]


async def test_check_requests_new_and_failed_files(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    await upload(editor, {"x.txt": b"one", "y.txt": b"two"})
    await conn.execute("update rag.processing_jobs set status = 'failed'")
    await conn.execute("update rag.knowledge_sources set status = 'failed'")

    assert await check(editor, {"x.txt": b"one", "y.txt": b"new"}) == ["send", "send"]


async def test_a_file_is_sent_when_that_would_change_its_metadata(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    job = (await upload(editor, {"x.txt": b"one"}, metadata='{"a": 1}')).json()["files"][0]
    await finish_file_job(conn, UUID(job["jobId"]))

    assert await check(editor, {"x.txt": b"one"}) == ["unchanged"]
    assert await check(editor, {"x.txt": b"one"}, metadata={"a": 1}) == ["unchanged"]
    assert await check(editor, {"x.txt": b"one"}, metadata={"a": 2}) == ["send"]


async def test_check_with_skip_ignores_changed_bytes(
    editor: httpx.AsyncClient,
) -> None:
    await upload(editor, {"x.txt": b"one"})

    assert await check(editor, {"x.txt": b"new"}, onConflict="skip") == ["duplicate"]


async def test_check_writes_nothing_and_sees_only_own_files(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient, conn: Connection
) -> None:
    await upload(editor, {"x.txt": b"one"})

    assert await check(stranger, {"x.txt": b"one"}) == ["send"]
    assert await count(conn, "rag.upload_batches") == 1
    assert await count(conn, "rag.upload_files") == 1


async def test_check_leaves_invalid_paths_to_the_upload(
    editor: httpx.AsyncClient,
) -> None:
    assert await check(editor, {"..": b"one"}) == ["send"]
