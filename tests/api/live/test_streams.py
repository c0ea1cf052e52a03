"""Progress asked for once, and followed as server-sent events."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from harness.patience import PATIENCE
from ingest.postgres.database import Connection
from tests.api.sockets import frames
from tests.support.live_sources import add_source, emit, set_status

FIELDS = {
    "total",
    "completed",
    "failed",
    "processing",
    "pending",
    "cancelled",
    "reviewNeeded",
    "percent",
    "etaSeconds",
    "status",
    "seq",
}


async def test_progress_of_a_source(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    await emit(conn, source, 3)

    answer = await viewer.get(f"/api/knowledge-source/{source}/progress")

    assert answer.status_code == 200
    assert set(answer.json()) == FIELDS
    assert answer.json() | {"seq": 3, "status": "processing", "total": 1} == answer.json()


async def test_progress_of_an_application(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    for status in ("completed", "failed", "pending"):
        await add_source(conn, application_id, status=status)

    answer = await viewer.get(f"/api/knowledge-source/{application_id}/progress")

    assert set(answer.json()) == FIELDS
    expected = {"seq": None, "status": "processing", "total": 3, "percent": 66}
    assert answer.json() | expected == answer.json()


async def test_progress_of_another_application_is_not_found(
    viewer: httpx.AsyncClient, conn: Connection, other_application: UUID
) -> None:
    foreign = await add_source(conn, other_application)

    for id in (foreign, other_application, uuid4()):
        answer = await viewer.get(f"/api/knowledge-source/{id}/progress")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        stream = await viewer.get(f"/api/knowledge-sources/{id}/stream")
        assert stream.status_code == 404


async def follow(address: str, key: str, source: UUID, **query: Any) -> list[dict[str, Any]]:
    headers = {"Last-Event-ID": str(query["last"])} if "last" in query else {}
    async with asyncio.timeout(PATIENCE):
        return [
            frame
            async for frame in frames(
                address, f"/api/knowledge-sources/{source}/stream", key, headers=headers
            )
        ]


async def test_a_stream_ends_after_done(
    address: str, key: str, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    await emit(conn, source)
    path = f"/api/knowledge-sources/{source}/stream"
    got = []
    async with asyncio.timeout(PATIENCE):
        async for frame in frames(address, path, key):
            got.append(frame)
            if frame["event"] == "snapshot":
                await emit(conn, source)
                await emit(conn, source, type="done")

    assert [(frame["event"], frame["id"]) for frame in got] == [
        ("snapshot", "1"),
        ("progress", "2"),
        ("done", "3"),
    ]
    assert got[1]["data"]["knowledgeSourceId"] == str(source)


async def test_last_event_id_resumes_and_an_earlier_end_does_not_end_it(
    address: str, key: str, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    await emit(conn, source, 2)
    await emit(conn, source, type="done")
    await emit(conn, source, 2)
    await emit(conn, source, type="done")
    await set_status(conn, source, "failed")

    got = await follow(address, key, source, last=1)

    assert [(frame["event"], frame["id"]) for frame in got] == [
        ("snapshot", "1"),
        ("progress", "2"),
        ("done", "3"),
        ("progress", "4"),
        ("progress", "5"),
        ("done", "6"),
    ]


async def test_a_stream_of_a_source_that_was_renamed_after_its_end_ends(
    address: str, key: str, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    await emit(conn, source, type="done")
    await emit(conn, source, type="source")
    await set_status(conn, source, "completed")

    got = await follow(address, key, source, last=0)

    assert [frame["event"] for frame in got] == ["snapshot", "done", "source"]


async def test_stream_of_a_finished_source_sends_state_and_ends_reconnection(
    address: str, key: str, viewer: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id, status="failed")
    await emit(conn, source, 2)

    got = await follow(address, key, source)
    again = await viewer.get(
        f"/api/knowledge-sources/{source}/stream", headers={"Last-Event-ID": got[-1]["id"]}
    )

    assert [(frame["event"], frame["id"]) for frame in got] == [("snapshot", "2")]
    assert again.status_code == 204


async def test_a_stream_must_not_be_kept_by_caches_and_proxies(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id, status="failed")

    answer = await viewer.get(f"/api/knowledge-sources/{source}/stream")

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-store, no-transform"
    assert answer.headers["x-accel-buffering"] == "no"


async def test_a_ticket_opens_a_stream(
    anonymous: httpx.AsyncClient,
    viewer: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
) -> None:
    source = await add_source(conn, application_id, status="failed")
    ticket = (await viewer.post("/api/tickets")).json()["ticket"]
    path = f"/api/knowledge-sources/{source}/stream"

    answer = await anonymous.get(path, params={"ticket": ticket})
    again = await anonymous.get(path, params={"ticket": ticket})

    assert (answer.status_code, again.status_code) == (200, 401)


async def test_a_wrong_last_event_id_is_refused(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)

    answer = await viewer.get(
        f"/api/knowledge-sources/{source}/stream", headers={"Last-Event-ID": "x"}
    )

    assert answer.status_code == 422


async def test_a_stream_ends_when_its_key_is_revoked(
    address: str,
    key: str,
    conn: Connection,
    application_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("api.live.sse.HEARTBEAT_SECONDS", 0.05)
    source = await add_source(conn, application_id)
    events = []
    async with asyncio.timeout(PATIENCE):
        async for frame in frames(address, f"/api/knowledge-sources/{source}/stream", key):
            events.append(frame["event"])
            await conn.execute("update app.api_keys set revoked_at = now()")

    assert events == ["snapshot"]
