"""POST /upload/documents under load, in races, and when it breaks off."""

import asyncio
import json
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from starlette.types import Message

from ingest.blobs.local import LocalBlobStore
from ingest.db import Connection
from ingest.store import applications, uploads
from tests.api.conftest import OPERATOR_KEY
from tests.api.helpers import count, multipart, staged, stored, upload


async def test_four_thousand_files_fit_in_one_request(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    parts = [(f"d{n % 40}/f{n}.txt", f"file {n}".encode()) for n in range(4000)]

    answer = await upload(editor, parts)

    body = answer.json()
    assert answer.status_code == 202
    assert body["jobCount"] == len(body["files"]) == 4000
    assert await count(conn, "rag.processing_jobs") == 4000


async def test_a_large_file_is_never_in_memory_as_a_whole(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    piece = bytes(range(256)) * 256
    head = b'--frontier\r\nContent-Disposition: form-data; name="files"; filename="big.bin"\r\n\r\n'

    async def body() -> Any:
        yield head
        for _ in range(1024):
            yield piece
        yield b"\r\n--frontier--\r\n"

    tracemalloc.start()
    answer = await editor.post(
        "/upload/documents",
        content=body(),
        headers={"Content-Type": "multipart/form-data; boundary=frontier"},
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert answer.status_code == 202
    row = await (
        await conn.execute("select payload ->> 'sizeBytes' from rag.processing_jobs")
    ).fetchone()
    assert row == (str(64 * 1024 * 1024),)
    assert peak < 16 * 1024 * 1024


@asynccontextmanager
async def everyone_waiting(
    dsn: str, application_id: UUID, requests: list[Awaitable[Any]]
) -> AsyncIterator[Sequence[asyncio.Future[Any]]]:
    """Starts requests and waits until all of them have come to the application's lock."""
    async with await psycopg.AsyncConnection.connect(dsn) as blocker:
        await applications.lock_sources(blocker, application_id)
        tasks = [asyncio.ensure_future(request) for request in requests]
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as watcher:
            # Postgres tells nobody that a lock is being waited for.
            while await count(watcher, _WAITING) < sum(not task.done() for task in tasks):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    yield tasks


_WAITING = "pg_locks where locktype = 'advisory' and not granted"


async def test_concurrent_uploads_of_a_path_make_one_source_with_one_live_job(
    editor: httpx.AsyncClient, conn: Connection, dsn: str, application_id: UUID
) -> None:
    requests = [upload(editor, {"x.txt": f"version {n}".encode()}) for n in range(5)]
    async with everyone_waiting(dsn, application_id, list(requests)) as tasks:
        answers = await asyncio.gather(*tasks)

    files = [answer.json()["files"][0] for answer in answers]
    assert [file["verdict"] for file in files] == ["accepted"] * 5
    assert len({file["knowledgeSourceId"] for file in files}) == 1
    assert await count(conn, "rag.knowledge_sources") == 1
    assert await count(conn, "rag.processing_jobs") == 5
    assert await count(conn, "rag.processing_jobs where status = 'pending'") == 1


async def test_concurrent_uploads_of_the_same_bytes_are_processed_once(
    editor: httpx.AsyncClient,
    conn: Connection,
    dsn: str,
    application_id: UUID,
    blobs_on_disk: Path,
) -> None:
    requests = [upload(editor, {"x.txt": b"same"}) for _ in range(5)]
    async with everyone_waiting(dsn, application_id, list(requests)) as tasks:
        answers = await asyncio.gather(*tasks)

    verdicts = sorted(answer.json()["files"][0]["verdict"] for answer in answers)
    assert verdicts == ["accepted"] + ["unchanged"] * 4
    assert await count(conn, "rag.processing_jobs") == 1
    assert len(stored(blobs_on_disk)) == 1


async def test_a_file_whose_verdict_changes_at_the_last_moment_still_has_its_bytes(
    editor: httpx.AsyncClient,
    conn: Connection,
    blobs_on_disk: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source_id = (await upload(editor, {"x.txt": b"bytes"})).json()["knowledgeSourceIds"][0]
    preview = uploads.preview

    async def deleted_after_preview(*args: Any) -> Any:
        verdicts = await preview(*args)
        assert verdicts[0].verdict == "unchanged"
        assert (await editor.delete(f"/api/knowledge-sources/{source_id}")).status_code == 204
        return verdicts

    monkeypatch.setattr(uploads, "preview", deleted_after_preview)
    file = (await upload(editor, {"x.txt": b"bytes"})).json()["files"][0]

    assert file["verdict"] == "accepted"
    row = await (
        await conn.execute(
            "select payload ->> 'blobKey' from rag.processing_jobs where id = %s", [file["jobId"]]
        )
    ).fetchone()
    assert row is not None
    assert row[0] in stored(blobs_on_disk)


async def test_parallel_requests_with_one_idempotency_key_are_carried_out_once(
    editor: httpx.AsyncClient, conn: Connection, blobs_on_disk: Path
) -> None:
    answers = await asyncio.gather(
        *(upload(editor, {"a.txt": b"a", "b.txt": b"b"}, idempotency_key="k") for _ in range(20))
    )

    assert {answer.status_code for answer in answers} == {202}
    assert len({json.dumps(answer.json(), sort_keys=True) for answer in answers}) == 1
    assert await count(conn, "rag.upload_batches") == 1
    assert await count(conn, "rag.processing_jobs") == 2
    assert len(stored(blobs_on_disk)) == 2
    assert staged(blobs_on_disk) == []


async def test_an_idempotency_key_is_good_for_one_request_only(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    await upload(editor, {"a.txt": b"a"}, idempotency_key="k")

    answers = [
        await upload(editor, {"a.txt": b"other"}, idempotency_key="k"),
        await upload(editor, {"b.txt": b"a"}, idempotency_key="k"),
        await upload(editor, {"a.txt": b"a"}, idempotency_key="k", priority="1"),
    ]

    assert [answer.status_code for answer in answers] == [409, 409, 409]
    assert answers[0].json()["code"] == "idempotency_conflict"
    assert await count(conn, "rag.processing_jobs") == 1


async def test_an_idempotency_key_belongs_to_its_application(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    mine = await upload(editor, {"a.txt": b"a"}, idempotency_key="k")
    theirs = await upload(stranger, {"a.txt": b"a"}, idempotency_key="k")

    assert theirs.status_code == 202
    assert theirs.json()["batchId"] != mine.json()["batchId"]


@pytest.mark.parametrize("key", ["", "k" * 256])
async def test_an_idempotency_key_has_a_length(editor: httpx.AsyncClient, key: str) -> None:
    answer = await upload(editor, {"a.txt": b"a"}, idempotency_key=key)

    assert answer.status_code == 422


async def test_an_upload_that_breaks_off_leaves_nothing(
    app: FastAPI, conn: Connection, blobs_on_disk: Path
) -> None:
    messages = iter(
        [
            b'--frontier\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n',
            b"complete\r\n--frontier\r\n",
            b'Content-Disposition: form-data; name="files"; filename="b"\r\n\r\n' + b"x" * 500_000,
        ]
    )
    seen_on_disk: list[str] = []

    async def receive() -> Message:
        body = next(messages, None)
        if body is not None:
            return {"type": "http.request", "body": body, "more_body": True}
        seen_on_disk.extend(staged(blobs_on_disk))
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        pass

    await app(upload_scope(), receive, send)

    assert seen_on_disk
    assert staged(blobs_on_disk) == stored(blobs_on_disk) == []
    assert await count(conn, "rag.knowledge_sources") == 0
    assert await count(conn, "rag.upload_batches") == 0


async def test_bytes_of_a_file_that_is_too_large_do_not_wait_for_the_end(
    small_editor: httpx.AsyncClient, blobs_on_disk: Path
) -> None:
    during: list[list[str]] = []

    async def body() -> AsyncIterator[bytes]:
        yield b'--frontier\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n'
        yield b"x" * 300_000
        during.append(staged(blobs_on_disk))
        yield b"x" * 300_000
        yield b"x"
        during.append(staged(blobs_on_disk))
        yield b"\r\n--frontier--\r\n"

    answer = await small_editor.post(
        "/upload/documents",
        content=body(),
        headers={"Content-Type": "multipart/form-data; boundary=frontier"},
    )

    assert answer.json()["files"][0]["code"] == "too_large"
    assert [len(names) for names in during] == [1, 0]


async def test_an_upload_that_the_server_cancels_leaves_nothing(
    app: FastAPI, blobs_on_disk: Path
) -> None:
    head = b'--frontier\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n'
    pieces = iter([head + b"x" * 500_000])
    is_stuck = asyncio.Event()

    async def receive() -> Message:
        body = next(pieces, None)
        if body is not None:
            return {"type": "http.request", "body": body, "more_body": True}
        is_stuck.set()
        await asyncio.Event().wait()
        raise AssertionError("never comes here")

    async def send(message: Message) -> None:
        pass

    task = asyncio.create_task(app(upload_scope(), receive, send))
    await is_stuck.wait()
    assert staged(blobs_on_disk)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert staged(blobs_on_disk) == []


@pytest.mark.parametrize(
    ("content_type", "body", "status"),
    [
        ("multipart/form-data; boundary=frontier", b"", 400),
        ("multipart/form-data; boundary=frontier", b"garbage", 400),
        ("multipart/form-data", b"--frontier--\r\n", 400),
        ("application/json", b"{}", 415),
        ("multipart/form-data; boundary=frontier", None, 400),
    ],
)
async def test_a_broken_body_is_a_problem_and_leaves_nothing(
    editor: httpx.AsyncClient,
    conn: Connection,
    blobs_on_disk: Path,
    content_type: str,
    body: bytes | None,
    status: int,
) -> None:
    part = b'Content-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nx\r\n'
    cut = multipart(part)[:-4]
    answer = await editor.post(
        "/upload/documents",
        content=cut if body is None else body,
        headers={"Content-Type": content_type},
    )

    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "invalid_multipart"
    assert staged(blobs_on_disk) == stored(blobs_on_disk) == []
    assert await count(conn, "rag.upload_batches") == 0


async def test_a_failing_blob_store_leaves_no_rows_and_no_bytes(
    editor: httpx.AsyncClient,
    conn: Connection,
    blobs: LocalBlobStore,
    blobs_on_disk: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commit = blobs.commit

    async def commit_then_fail(staged_blobs: Any) -> None:
        await commit(staged_blobs[:1])
        raise OSError("the disk is full")

    monkeypatch.setattr(blobs, "commit", commit_then_fail)
    answer = await upload(editor, {"a.txt": b"a", "b.txt": b"b"})

    assert answer.status_code == 500
    assert answer.json()["code"] == "internal"
    assert "disk" not in answer.text
    assert await count(conn, "rag.knowledge_sources") == 0
    assert staged(blobs_on_disk) == []


def upload_scope() -> dict[str, Any]:
    return {
        "type": "http",
        "method": "POST",
        "path": "/upload/documents",
        "raw_path": b"/upload/documents",
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "http_version": "1.1",
        "client": ("127.0.0.1", 1),
        "server": ("ingest.test", 80),
        "headers": [
            (b"authorization", f"Bearer {OPERATOR_KEY}".encode()),
            (b"content-type", b"multipart/form-data; boundary=frontier"),
        ],
    }
