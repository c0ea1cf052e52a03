"""POST /upload/documents when requests meet: one path, one content, one idempotency key."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from api.routes.uploads.uploads import UploadFields
from api.upload.form_fields import field_names
from ingest.postgres.database import Connection
from ingest.store.sources import uploads
from ingest.store.tenants import applications
from tests.api.helpers import count, staged, stored, upload


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
        await conn.execute("select blob_key from rag.job_files where id = %s", [file["jobId"]])
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


OTHER_FIELDS = {
    "metadata": '{"a": 1}',
    "priority": "1",
    "batchId": "11111111-1111-4111-8111-111111111111",
    "onConflict": "skip",
    "collectionId": "22222222-2222-4222-8222-222222222222",
    "chunking": '{"size": 100}',
}


@pytest.mark.parametrize("field", sorted(field_names(UploadFields)))
async def test_an_idempotency_key_is_bound_to_every_field(
    editor: httpx.AsyncClient, field: str
) -> None:
    await upload(editor, {"a.txt": b"a"}, idempotency_key="k")

    answer = await upload(
        editor, {"a.txt": b"a"}, idempotency_key="k", **{field: OTHER_FIELDS[field]}
    )

    assert answer.json()["code"] == "idempotency_conflict"


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
