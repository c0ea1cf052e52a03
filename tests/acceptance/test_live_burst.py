"""Hundreds of clients that come at once are all served, and none misses an event."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import httpx
from websockets.asyncio.client import connect

from harness.database import Database
from harness.service import KEY, Service

_CLIENTS: Final = 500
_SOURCES: Final = 40
_PATIENCE_SECONDS: Final = 300
_HEADERS: Final = {"Authorization": f"Bearer {KEY}"}


async def _follow(
    address: str, gate: asyncio.Semaphore
) -> tuple[dict[str, int], dict[str, list[int]]]:
    """The numbers of the snapshots and of the events, until each source has had its last."""
    begun: dict[str, int] = {}
    heard: dict[str, list[int]] = {}
    async with connect(
        f"ws://{address}/api/ws",
        additional_headers=_HEADERS,
        compression=None,
        max_queue=None,
        open_timeout=_PATIENCE_SECONDS,
    ) as socket:
        await socket.send(json.dumps({"type": "subscribe", "knowledgeSourceIds": "all"}))
        gate.release()
        while len(begun) < _SOURCES or any(
            (heard.get(source) or [seq])[-1] < 4 for source, seq in begun.items()
        ):
            message: dict[str, Any] = json.loads(await socket.recv())
            source = message.get("knowledgeSourceId", "")
            if message["type"] == "snapshot":
                assert source not in begun
                begun[source] = message["seq"]
            elif source:
                heard.setdefault(source, []).append(message["seq"])
    return begun, heard


def test_five_hundred_clients_that_follow_everything_at_once_are_all_served(
    database: Database, start: Callable[..., Service]
) -> None:
    api = start("api").wait_until_ready()
    database.execute(
        "insert into rag.knowledge_sources (id, application_id, type, name, uri, status) "
        "select gen_random_uuid(), %s, 'file', 'a', n || '.txt', 'processing' "
        "from generate_series(1, %s) as n",
        database.default_application(),
        _SOURCES,
    )

    async def burst() -> list[tuple[dict[str, int], dict[str, list[int]]]]:
        address = api.url.removeprefix("http://")
        gate = asyncio.Semaphore(0)
        async with asyncio.timeout(_PATIENCE_SECONDS):
            clients = [asyncio.create_task(_follow(address, gate)) for _ in range(_CLIENTS)]
            for part in range(4):
                # News comes while they come.
                for _ in range(_CLIENTS // 4 if part else 1):
                    await gate.acquire()
                await asyncio.to_thread(_emit, database)
            return await asyncio.gather(*clients)

    served = asyncio.run(burst())

    assert len(served) == _CLIENTS
    for begun, heard in served:
        assert len(begun) == _SOURCES
        for source, seq in begun.items():
            assert heard.get(source, []) == list(range(seq + 1, 5))


def _emit(database: Database) -> None:
    """One event of every source."""
    database.rows(
        "with numbered as (update rag.knowledge_sources set event_seq = event_seq + 1, "
        "updated_at = now() returning id, application_id, event_seq), "
        "written as (insert into rag.progress_events (source_id, seq, type, data) "
        "select id, event_seq, 'progress', '{}' from numbered) "
        "select pg_notify('rag_events', replace(application_id::text, '-', '') || ':' || "
        "replace(id::text, '-', '')) from numbered"
    )


def test_hundreds_of_concurrent_streams_and_requests_all_get_responses(
    database: Database, start: Callable[..., Service]
) -> None:
    api = start("api").wait_until_ready()
    [(source,)] = database.rows(
        "insert into rag.knowledge_sources (id, application_id, type, name, uri, status, "
        "chunk_count) select gen_random_uuid(), id, 'file', 'a', 'a.txt', 'completed', 1 "
        "from app.applications where is_default returning id::text"
    )
    application = database.default_application()

    async def burst() -> Counter[tuple[str, int]]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(
            base_url=api.url, headers=_HEADERS, timeout=_PATIENCE_SECONDS, limits=limits
        ) as client:
            paths = [
                f"/api/knowledge-sources/{source}/stream",
                f"/api/knowledge-source/{source}/progress",
                f"/api/knowledge-source/{application}/progress",
            ]
            answers = await asyncio.gather(*(client.get(path) for path in paths * 150))
        return Counter((answer.url.path, answer.status_code) for answer in answers)

    assert set(asyncio.run(burst()).values()) == {150}
