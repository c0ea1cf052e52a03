"""The second stage of a search, by a real server: what it changes, and what its failures do not."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import numpy as np
import pytest

from harness.patience import PATIENCE
from ingest.postgres.database import Connection
from ingest.providers.rerank import Reranker
from ingest.runtime import Runtime
from ingest.search.rerank import Reranking
from tests.api.conftest import MakeKey, connect, fake_vector, serve
from tests.servers.rerank_server import RerankServer, rerank_server
from tests.support.prometheus_text import scrape
from tests.support.searchable_chunks import Space, add_document

TEXTS = ["herons herons herons", "herons and owls", "a text on herons and many other birds"]
QUERY = "herons"


@pytest.fixture
def ranker() -> Iterator[RerankServer]:
    with rerank_server() as started:
        # The last one first.
        started.score = lambda text: float(TEXTS.index(text.split("\n\n")[1]))
        yield started


@pytest.fixture
def patience() -> float:
    return PATIENCE


@pytest.fixture
async def client(
    runtime: Runtime, application_id: UUID, make_key: MakeKey, ranker: RerankServer, patience: float
) -> AsyncIterator[httpx.AsyncClient]:
    """A viewer of an installation with a reranker."""
    reranker = Reranker(ranker.url, key="k", model="m", timeout=timedelta(seconds=patience))
    reranking = Reranking(reranker, runtime.governor, candidates=20)
    parts = replace(runtime.search_parts, reranking=reranking)
    key = await make_key(application_id, "viewer")
    async with serve(replace(runtime, search_parts=parts)) as app, connect(app, key) as client:
        yield client
    await reranker.close()


@pytest.fixture(autouse=True)
async def documents(conn: Connection, application_id: UUID, runtime: Runtime) -> None:
    space = Space(id=runtime.model_id, dimension=runtime.model.dimension)
    vectors = np.stack([fake_vector(text) for text in TEXTS])
    await add_document(conn, application_id, space, TEXTS, vectors=vectors, title="Birds")


async def ask(client: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    answer = await client.post("/api/search", json={"query": QUERY, "mode": "keyword", **body})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def contents(answer: dict[str, Any]) -> list[str]:
    return [hit["content"] for hit in answer["hits"]]


async def test_the_reranker_decides_the_order(
    client: httpx.AsyncClient, ranker: RerankServer
) -> None:
    plain = await ask(client, rerank=False)
    reranked = await ask(client)

    assert (plain["reranked"], plain["rerankReason"]) == (None, None)
    assert contents(plain)[0] == TEXTS[0]
    assert (reranked["reranked"], reranked["rerankReason"]) == (True, None)
    assert contents(reranked) == TEXTS[::-1]
    assert [hit["rerankScore"] for hit in reranked["hits"]] == [2, 1, 0]
    assert [hit["score"] for hit in reranked["hits"]] == [2, 1, 0]
    assert plain["hits"][0]["rerankScore"] is None
    [request] = ranker.requests
    assert request["query"] == QUERY
    assert f"Birds > A\n\n{TEXTS[0]}" in request["documents"]


async def test_an_explanation_tells_the_place_before_and_after(
    client: httpx.AsyncClient, ranker: RerankServer
) -> None:
    reranked = (await ask(client, explain=True))["explanation"]
    plain = (await ask(client, explain=True, rerank=False))["explanation"]
    ranker.status = 500
    failed = (await ask(client, explain=True))["explanation"]

    places = [(why["firstPlace"], why["rerankedPlace"]) for why in reranked["hits"]]
    assert places == [(3, 1), (2, 2), (1, 3)]
    assert reranked["rerankCandidates"] == 20
    assert reranked["milliseconds"]["rerank"] > 0
    assert [why["rerankedPlace"] for why in plain["hits"]] == [None] * 3
    assert [why["rerankedPlace"] for why in failed["hits"]] == [None] * 3


async def test_more_than_the_limit_are_reranked_and_limits_hold_after_it(
    client: httpx.AsyncClient, ranker: RerankServer
) -> None:
    assert contents(await ask(client, limit=1)) == [TEXTS[2]]
    assert contents(await ask(client, perDocument=1)) == [TEXTS[2]]
    assert contents(await ask(client, minScore={"rerank": 1})) == TEXTS[:0:-1]
    assert {len(request["documents"]) for request in ranker.requests} == {3}


async def test_nothing_found_is_not_sent(client: httpx.AsyncClient, ranker: RerankServer) -> None:
    assert (await ask(client, query="nonsense"))["reranked"] is True
    assert ranker.requests == []


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, b""),
        (429, b""),
        (401, b"{}"),
        (200, b"<html>"),
        (200, b'{"results": []}'),
        (200, b'{"results": [{"index": 0, "relevance_score": NaN}]}'),
    ],
)
async def test_failures_keep_the_first_ranking_and_are_said_and_counted(
    client: httpx.AsyncClient, ranker: RerankServer, status: int, body: bytes
) -> None:
    plain = await ask(client, rerank=False)
    ranker.status, ranker.body = status, body
    code = "rate_limited" if status == 429 else "rerank_unavailable"
    name = "rag_ingest_searches_not_reranked_total"
    before = (await scrape(client)).value(name, code=code) or 0

    answer = await ask(client, minScore={"rerank": 1})

    assert answer["hits"] == plain["hits"]
    assert answer["reranked"] is False
    assert answer["rerankReason"].startswith(f"{code}: ")
    assert (await scrape(client)).value(name, code=code) == before + 1


@pytest.mark.parametrize("patience", [0.2])
async def test_a_server_that_hangs_costs_its_timeout_only(
    client: httpx.AsyncClient, ranker: RerankServer
) -> None:
    ranker.gate.clear()

    answer = await ask(client)

    assert contents(answer)[0] == TEXTS[0]
    assert answer["reranked"] is False


async def test_a_server_that_keeps_failing_is_not_asked_for_a_while(
    client: httpx.AsyncClient, ranker: RerankServer, runtime: Runtime, conn: Connection
) -> None:
    ranker.status = 500
    for _ in range(5):
        assert (await ask(client))["reranked"] is False
    assert len(ranker.requests) == 3

    ranker.status = 200
    await conn.execute("update rag.lanes set paused_until = now()")
    assert (await ask(client))["reranked"] is True
    assert (await ask(client))["reranked"] is True
