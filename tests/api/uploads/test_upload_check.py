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


async def test_what_was_accepted_need_not_be_sent_again_even_before_it_is_processed(
    editor: httpx.AsyncClient,
) -> None:
    await upload(editor, {"a/x.txt": b"one"})

    assert await check(editor, {"a/x.txt": b"one", "b/x.txt": b"one"}) == ["unchanged", "send"]


async def test_names_that_the_upload_would_make_equal_are_equal(editor: httpx.AsyncClient) -> None:
    await upload(editor, {"a/caf\u00e9.txt": b"one"})

    assert await check(editor, {"./a/cafe\u0301.txt": b"one"}) == ["unchanged"]


async def test_new_bytes_and_failed_files_have_to_be_sent(
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


async def test_with_skip_a_path_with_other_bytes_need_not_be_sent(
    editor: httpx.AsyncClient,
) -> None:
    await upload(editor, {"x.txt": b"one"})

    assert await check(editor, {"x.txt": b"new"}, onConflict="skip") == ["duplicate"]


async def test_asking_writes_nothing_and_sees_nothing_of_others(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient, conn: Connection
) -> None:
    await upload(editor, {"x.txt": b"one"})

    assert await check(stranger, {"x.txt": b"one"}) == ["send"]
    assert await count(conn, "rag.upload_batches") == 1
    assert await count(conn, "rag.upload_files") == 1


async def test_a_path_that_an_upload_refuses_is_left_for_the_upload_to_refuse(
    editor: httpx.AsyncClient,
) -> None:
    assert await check(editor, {"..": b"one"}) == ["send"]
