"""POST /upload/documents under load, and when it breaks off."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.types import Message

from ingest.blobs.local import LocalBlobStore
from ingest.postgres.database import Connection
from tests.api.conftest import OPERATOR_KEY
from tests.api.helpers import count, multipart, staged, stored, upload


async def test_upload_accepts_more_parts_than_common_form_limits(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    """Frameworks stop at 1,000; tests/acceptance/test_main_job.py sends 4,000."""
    parts = [(f"d{n % 40}/f{n}.txt", f"file {n}".encode()) for n in range(1200)]

    answer = await upload(editor, parts)

    body = answer.json()
    assert answer.status_code == 202
    assert body["jobCount"] == len(body["files"]) == 1200
    assert await count(conn, "rag.processing_jobs") == 1200


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
    row = await (await conn.execute("select size_bytes from rag.job_files")).fetchone()
    assert row == (64 * 1024 * 1024,)
    assert peak < 16 * 1024 * 1024


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

    answers: list[int] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answers.append(message["status"])

    task = asyncio.create_task(app(upload_scope(), receive, send))
    await is_stuck.wait()
    assert staged(blobs_on_disk)
    task.cancel()
    await task

    assert answers == [503]
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
