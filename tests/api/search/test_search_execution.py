"""POST /api/search on its way: timeouts, connections, searches side by side."""

import asyncio
from contextlib import AsyncExitStack
from uuid import UUID

import httpx
import pytest

from harness.patience import PATIENCE
from ingest.postgres.database import Connection, Pool
from ingest.search import rank
from ingest.search.keyword_ranking import Scored
from ingest.store.search import keyword_search
from tests.api.search.searches import add, find
from tests.support.searchable_chunks import Space


async def test_slow_search_times_out(
    viewer: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = []

    async def endless(conn: Connection, *_: object, **__: object) -> list[object]:
        limits.append(await (await conn.execute("show statement_timeout")).fetchone())
        await conn.execute("select set_config('statement_timeout', '50', true)")
        await conn.execute("select pg_sleep(30)")
        return []

    monkeypatch.setattr(keyword_search, "candidates", endless)

    answer = await viewer.post("/api/search", json={"query": "anything", "mode": "keyword"})

    assert limits == [("5s",)]
    assert (answer.status_code, answer.json()["code"]) == (503, "search_timeout")


async def test_keyword_and_vector_search_run_concurrently(
    viewer: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = asyncio.Barrier(2)

    async def near(*_: object, **__: object) -> list[object]:
        await both.wait()
        return []

    async def matching(*_: object, **__: object) -> Scored:
        await both.wait()
        return Scored()

    monkeypatch.setattr(rank, "by_meaning", near)
    monkeypatch.setattr(rank, "by_words", matching)

    async with asyncio.timeout(PATIENCE):
        assert await find(viewer, "herons") == []


async def test_many_searches_share_a_single_connection(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space, pool: Pool
) -> None:
    await add(conn, application_id, space, "herons eat fish")
    async with AsyncExitStack() as held:
        for _ in range(pool.connections.open.max_size - 1):
            await held.enter_async_context(pool.session())

        found = await asyncio.gather(*(find(viewer, "herons eat fish") for _ in range(8)))

    assert [len(hits) for hits in found] == [1] * 8


@pytest.mark.parametrize("fails", ["by_meaning", "by_words"])
async def test_failure_of_one_search_cancels_the_other(
    viewer: httpx.AsyncClient, pool: Pool, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    started = asyncio.Event()

    async def broken(*_: object, **__: object) -> object:
        await started.wait()
        raise RuntimeError

    async def endless(conn: Connection, *_: object, **__: object) -> object:
        started.set()
        await conn.execute("select pg_sleep(30)")
        return []

    for name in ("by_meaning", "by_words"):
        monkeypatch.setattr(rank, name, broken if name == fails else endless)

    async with asyncio.timeout(PATIENCE):
        answer = await viewer.post("/api/search", json={"query": "anything"})

    assert answer.status_code == 500
    stats = pool.connections.open.get_stats
    async with asyncio.timeout(PATIENCE):  # the pool may be opening one more
        while stats()["pool_available"] < stats()["pool_size"]:  # noqa: ASYNC110  # it tells nobody
            await asyncio.sleep(0.01)
