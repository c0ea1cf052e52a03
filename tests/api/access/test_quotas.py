"""Quotas of an application: what fits is accepted, the rest is refused with the quota's name."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from ingest.postgres.database import Connection
from tests.api.access.conftest import SetQuotas
from tests.api.helpers import count, finish_file_job, multipart, staged, stored, upload
from tests.api.uploads.test_uploads_races import everyone_waiting


def verdicts(answer: httpx.Response) -> list[tuple[str, str | None]]:
    return [(file["verdict"], file.get("code")) for file in answer.json()["files"]]


REFUSED = ("rejected", "quota_exceeded")
ACCEPTED = ("accepted", None)


@pytest.mark.parametrize(
    ("quotas", "detail"),
    [
        ({"sources": 1}, "quota sources: 1 of 1 are in use, and this needs 1"),
        ({"pendingJobs": 1}, "quota pendingJobs: 1 of 1 are in use, and this needs 1"),
        ({"stagedBytes": 9}, "quota stagedBytes: 6 of 9 are in use, and this needs 5"),
        ({"storedBytes": 9}, "quota storedBytes: 6 of 9 are in use, and this needs 5"),
    ],
)
async def test_files_that_fit_are_accepted_and_the_rest_rejected_by_name(
    editor: httpx.AsyncClient,
    set_quotas: SetQuotas,
    blobs_on_disk: Path,
    quotas: dict[str, int],
    detail: str,
) -> None:
    await set_quotas(**quotas)

    answer = await upload(editor, {"a.txt": b"first!", "b.txt": b"other"})

    assert answer.status_code == 202
    assert verdicts(answer) == [ACCEPTED, REFUSED]
    assert answer.json()["files"][1]["detail"] == detail
    assert len(stored(blobs_on_disk)) == 1
    assert staged(blobs_on_disk) == []


async def test_a_smaller_file_still_fits_after_one_that_did_not(
    editor: httpx.AsyncClient, set_quotas: SetQuotas
) -> None:
    await set_quotas(stagedBytes=6)

    answer = await upload(editor, {"a.txt": b"more than six", "b.txt": b"six..."})

    assert verdicts(answer) == [REFUSED, ACCEPTED]


async def test_when_nothing_fits_nothing_is_written(
    editor: httpx.AsyncClient, set_quotas: SetQuotas, conn: Connection, blobs_on_disk: Path
) -> None:
    await set_quotas(sources=0)

    answer = await upload(editor, {"a.txt": b"a"})

    assert (answer.status_code, answer.json()["code"]) == (422, "nothing_accepted")
    assert verdicts(answer) == [REFUSED]
    assert await count(conn, "rag.upload_batches") == 0
    assert stored(blobs_on_disk) == staged(blobs_on_disk) == []


async def test_uploads_at_the_same_moment_cannot_take_the_last_room_twice(
    editor: httpx.AsyncClient,
    set_quotas: SetQuotas,
    conn: Connection,
    dsn: str,
    application_id: UUID,
    blobs_on_disk: Path,
) -> None:
    await set_quotas(sources=1)
    requests = [upload(editor, {f"{n}.txt": b"text"}) for n in range(5)]
    async with everyone_waiting(dsn, application_id, list(requests)) as tasks:
        answers = await asyncio.gather(*tasks)

    assert sorted(answer.status_code for answer in answers) == [202] + [422] * 4
    assert await count(conn, "rag.knowledge_sources") == 1
    assert len(stored(blobs_on_disk)) == 1


async def test_an_unchanged_file_needs_no_room(
    editor: httpx.AsyncClient, set_quotas: SetQuotas, conn: Connection
) -> None:
    first = await upload(editor, {"a.txt": b"text"})
    await finish_file_job(conn, UUID(first.json()["files"][0]["jobId"]))
    await set_quotas(storedBytes=1, sources=1, pendingJobs=0)

    assert verdicts(await upload(editor, {"a.txt": b"text"})) == [("unchanged", None)]


async def test_room_comes_back_when_a_source_is_deleted(
    editor: httpx.AsyncClient, set_quotas: SetQuotas
) -> None:
    await set_quotas(sources=1)
    first = await upload(editor, {"a.txt": b"text"})
    [source] = first.json()["knowledgeSourceIds"]
    full = await upload(editor, {"b.txt": b"text"})
    await editor.delete(f"/api/knowledge-sources/{source}")

    assert full.status_code == 422
    assert (await upload(editor, {"b.txt": b"text"})).status_code == 202


async def test_a_repeated_request_gets_its_answer_when_room_has_run_out(
    editor: httpx.AsyncClient, set_quotas: SetQuotas
) -> None:
    files = {"a.txt": b"text", "b.txt": b"more"}
    first = await upload(editor, files, idempotency_key="once")
    await set_quotas(stagedBytes=0)
    again = await upload(editor, files, idempotency_key="once")

    assert again.status_code == 202
    assert again.json() == first.json()


async def test_a_url_beyond_the_sources_gets_403_and_beyond_the_jobs_429(
    editor: httpx.AsyncClient, set_quotas: SetQuotas, conn: Connection
) -> None:
    await set_quotas(sources=0)
    no_source = await editor.post("/upload/url", json={"url": "https://a.example/"})
    await set_quotas(pendingJobs=1)
    first = await editor.post("/upload/url", json={"url": "https://a.example/"})
    no_job = await editor.post("/upload/url", json={"url": "https://b.example/"})

    assert no_source.status_code == 403
    assert no_source.json() | {"detail": ""} == {
        "type": "about:blank",
        "title": "Forbidden",
        "status": 403,
        "detail": "",
        "code": "quota_exceeded",
        "quota": "sources",
        "limit": 0,
        "used": 0,
        "needed": 1,
    }
    assert first.status_code == 202
    assert (no_job.status_code, no_job.json()["quota"]) == (429, "pendingJobs")
    assert no_job.headers["Retry-After"] == "5"
    assert await count(conn, "rag.knowledge_sources") == 1


async def test_a_job_by_api_needs_room(
    editor: httpx.AsyncClient, operator: httpx.AsyncClient, set_quotas: SetQuotas
) -> None:
    kind = {"type": "mine", "handler": "mine", "payloadSchema": {}}
    assert (await operator.post("/api/job-types", json=kind)).status_code == 201
    await set_quotas(pendingJobs=1)

    answers = [await editor.post("/api/jobs", json={"type": "mine"}) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [202, 429]
    assert answers[1].json()["code"] == "quota_exceeded"


@pytest.fixture
async def hanging_upload(
    editor: httpx.AsyncClient, app: FastAPI
) -> AsyncIterator[Callable[[], Awaitable[httpx.Response]]]:
    """Starts an upload of ten bytes that ends when the returned function is called."""
    go_on, started = asyncio.Event(), asyncio.Event()
    part = b'Content-Disposition: form-data; name="files"; filename="slow.txt"\r\n\r\n0123456789'
    body = multipart(part)

    async def content() -> AsyncIterator[bytes]:
        yield body[:-20]
        started.set()
        await go_on.wait()
        yield body[-20:]

    headers = {"Content-Type": "multipart/form-data; boundary=frontier"}
    request = asyncio.ensure_future(
        editor.post("/upload/documents", content=content(), headers=headers)
    )
    await started.wait()

    async def end() -> httpx.Response:
        go_on.set()
        return await request

    yield end
    await end()


async def test_uploads_at_once_are_limited(
    hanging_upload: Callable[[], Awaitable[httpx.Response]],
    editor: httpx.AsyncClient,
    set_quotas: SetQuotas,
) -> None:
    await set_quotas(uploads=1)
    during = await upload(editor, {"a.txt": b"text"})
    usage = (await editor.get("/api/usage")).json()
    first = await hanging_upload()

    assert (during.status_code, during.json()["quota"]) == (429, "uploads")
    assert usage["uploads"] == {"used": 1, "limit": 1}
    assert first.status_code == 202
    assert (await upload(editor, {"a.txt": b"text"})).status_code == 202


async def test_bytes_that_are_still_arriving_count(
    hanging_upload: Callable[[], Awaitable[httpx.Response]],
    editor: httpx.AsyncClient,
    set_quotas: SetQuotas,
    app: FastAPI,
    application_id: UUID,
) -> None:
    await set_quotas(stagedBytes=9)
    during = await upload(editor, {"a.txt": b"text"})
    await hanging_upload()

    assert verdicts(during) == [REFUSED]
    assert app.state.incoming._bytes == {}
