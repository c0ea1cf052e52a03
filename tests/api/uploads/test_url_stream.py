"""A single page followed from its address to its end."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI

from harness.patience import PATIENCE
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.queue.job_control import ChangedJob
from ingest.store.sources import job_events, source_control
from tests.api.conftest import MakeKey
from tests.api.helpers import count
from tests.api.sockets import frames, listening
from tests.support.crawl.crawl_sources import add_document
from tests.support.queue_builders import job_row

PAGE = "https://site.example/a"
PATH = "/upload/url?" + urlencode({"url": PAGE})


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    async with listening(app) as address:
        yield address


@pytest.fixture
async def key(application_id: UUID, make_key: MakeKey) -> str:
    return await make_key(application_id, "editor")


class Worker:
    """Does to the job of a page what a worker would."""

    def __init__(self, pool: Pool, application_id: UUID) -> None:
        self._pool = pool
        self._application_id = application_id

    async def stage(self, job_id: str, stage: str) -> None:
        await self._become(
            job_id, "status = 'processing', stage = %s, progress = 40", stage, status="processing"
        )

    async def complete(self, job_id: str, source_id: str, *, title: str | None = None) -> None:
        async with transaction(self._pool) as conn:
            id = UUID(source_id)
            await add_document(conn, self._application_id, id, PAGE, title=title)
        await self._become(job_id, "status = 'completed', completed_at = now()", status="completed")

    async def fail(self, job_id: str, code: str) -> None:
        await self._become(
            job_id,
            "status = 'failed', completed_at = now(), last_error_message = 'HTTP 500', "
            "last_error_code = %s",
            code,
            status="failed",
        )

    async def _become(self, job_id: str, change: str, *values: Any, status: Any) -> None:
        async with transaction(self._pool) as conn:
            await conn.execute(
                f"update rag.processing_jobs set {change} where id = %s".encode(),
                [*values, job_id],
            )
            source_id = (await job_row(conn, UUID(job_id)))["knowledge_source_id"]
            touched = ChangedJob(id=UUID(job_id), knowledge_source_id=source_id)
            await job_events.jobs_changed(conn, [touched], job_status=status)


@pytest.fixture
def worker(pool: Pool, application_id: UUID) -> Worker:
    return Worker(pool, application_id)


async def test_a_page_is_followed_until_it_is_done(
    address: str, key: str, conn: Connection, worker: Worker
) -> None:
    got = []
    async with asyncio.timeout(PATIENCE):
        async for frame in frames(address, PATH, key):
            if "event" not in frame:
                continue
            got.append(frame)
            data = frame["data"]
            if len(got) == 1:
                await worker.stage(data["jobId"], "extract")
            elif frame["event"] == "progress":
                await worker.complete(data["jobId"], data["knowledgeSourceId"], title="Letter A")

    first, second, last = got
    assert [frame["event"] for frame in got] == ["progress", "progress", "done"]
    assert first["data"] | {"status": "pending", "percent": 0, "stage": None} == first["data"]
    assert (
        second["data"] | {"status": "processing", "percent": 40, "stage": "extract"}
        == (second["data"])
    )
    assert {"total", "etaSeconds", "reviewNeeded", "seq"} <= second["data"].keys()
    assert last["data"] == {
        "knowledgeSourceId": first["data"]["knowledgeSourceId"],
        "jobId": first["data"]["jobId"],
        "status": "completed",
        "title": "Letter A",
        "uri": PAGE,
        "chunkCount": 1,
        "tokenCount": 1,
    }
    assert await count(conn, "rag.crawls") == 1


async def test_a_page_that_fails_ends_with_its_code(address: str, key: str, worker: Worker) -> None:
    events = []
    async with asyncio.timeout(PATIENCE):
        async for frame in frames(address, PATH, key):
            if "event" in frame:
                events.append(frame)
                if frame["event"] == "progress":
                    await worker.fail(frame["data"]["jobId"], "fetch_status")

    assert events[-1]["event"] == "error"
    assert events[-1]["data"] == {
        "knowledgeSourceId": events[0]["data"]["knowledgeSourceId"],
        "jobId": events[0]["data"]["jobId"],
        "code": "fetch_status",
        "message": "HTTP 500",
    }


async def test_deleting_the_source_ends_the_stream(
    address: str, key: str, conn: Connection, application_id: UUID
) -> None:
    events = []
    async with asyncio.timeout(PATIENCE):
        async for frame in frames(address, PATH, key):
            if "event" in frame:
                events.append(frame)
                if frame["event"] == "progress":
                    id = UUID(frame["data"]["knowledgeSourceId"])
                    async with conn.transaction():
                        await source_control.delete(conn, application_id=application_id, ids=[id])

    assert (events[-1]["event"], events[-1]["data"]["code"]) == ("error", "source_deleted")


async def first_event(address: str, key: str, path: str = PATH) -> dict[str, Any]:
    """The first event of a stream that is left then."""
    stream = frames(address, path, key)
    try:
        async with asyncio.timeout(PATIENCE):
            async for frame in stream:
                if "event" in frame:
                    return frame
    finally:
        await stream.aclose()  # type: ignore[attr-defined]  # it is a generator
    raise AssertionError("the stream ended")


async def test_disconnecting_client_does_not_stop_the_run_and_the_next_joins(
    address: str, key: str, conn: Connection
) -> None:
    left = await first_event(address, key)
    joined = await first_event(address, key, PATH + "%23top")

    job = await job_row(conn, UUID(left["data"]["jobId"]))
    assert job["status"] == "pending"
    assert joined["data"]["jobId"] == left["data"]["jobId"]
    assert await count(conn, "rag.processing_jobs") == 1


async def test_stream_starts_immediately_and_is_not_cached(address: str, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        asyncio.timeout(PATIENCE),
        httpx.AsyncClient(base_url=f"http://{address}", headers=headers) as client,
        client.stream("GET", PATH) as answer,
    ):
        first = await anext(answer.aiter_text())

    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-store, no-transform"
    assert answer.headers["x-accel-buffering"] == "no"
    assert first.startswith(":")
    assert len(first) > 2000


async def test_idle_stream_sends_keepalives(
    address: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.live.sse.HEARTBEAT_SECONDS", 0.05)
    headers = {"Authorization": f"Bearer {key}"}
    seen = ""
    async with (
        asyncio.timeout(PATIENCE),
        httpx.AsyncClient(base_url=f"http://{address}", headers=headers) as client,
        client.stream("GET", PATH) as answer,
    ):
        async for text in answer.aiter_text():
            seen += text
            if ": still here" in seen and "event: progress" in seen:
                break

    assert "event: progress" in seen


async def test_reconnecting_client_starts_no_second_run(
    address: str, key: str, editor: httpx.AsyncClient, conn: Connection, worker: Worker
) -> None:
    first = await first_event(address, key)
    data = first["data"]
    await worker.complete(data["jobId"], data["knowledgeSourceId"])

    async with asyncio.timeout(PATIENCE):
        missed = await editor.get(PATH, headers={"Last-Event-ID": first["id"]})
        last_id = missed.text.rpartition("id: ")[2].partition("\n")[0]
        again = await editor.get(PATH, headers={"Last-Event-ID": last_id})

    assert "event: done" in missed.text
    assert again.status_code == 204
    assert await count(conn, "rag.processing_jobs") == 1


async def test_the_id_of_another_stream_is_refused_and_an_unknown_one_starts_a_run(
    address: str, key: str, editor: httpx.AsyncClient, conn: Connection
) -> None:
    for wrong in ("17", f"{uuid4()}:done!"):
        answer = await editor.get(PATH, headers={"Last-Event-ID": wrong})
        assert answer.status_code == 422
    assert await count(conn, "rag.processing_jobs") == 0

    headers = {"Last-Event-ID": str(uuid4())}
    async with asyncio.timeout(PATIENCE):
        async for frame in frames(address, PATH, key, headers=headers):
            if frame.get("event") == "progress":
                break

    assert await count(conn, "rag.processing_jobs") == 1


async def test_a_ticket_of_an_editor_opens_it_and_a_viewers_does_not(
    address: str, viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection
) -> None:
    async with httpx.AsyncClient(base_url=f"http://{address}") as browser:
        for client, status in ((viewer, 403), (editor, 200)):
            ticket = (await client.post("/api/tickets")).json()["ticket"]
            async with browser.stream("GET", f"{PATH}&ticket={ticket}") as answer:
                assert answer.status_code == status

    assert await count(conn, "rag.knowledge_sources") == 1


async def test_an_earlier_end_of_the_same_page_does_not_end_it(
    address: str, key: str, conn: Connection, worker: Worker
) -> None:
    first = (await first_event(address, key))["data"]
    await worker.complete(first["jobId"], first["knowledgeSourceId"])

    second = await first_event(address, key)

    assert second["event"] == "progress"
    assert second["data"]["knowledgeSourceId"] == first["knowledgeSourceId"]
    assert second["data"]["jobId"] != first["jobId"]
