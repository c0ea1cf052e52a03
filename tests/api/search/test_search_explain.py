"""`explain` of POST /api/search: why each hit is where it is, and what was left out."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import httpx
import numpy as np
import pytest

from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from ingest.store.search import keyword_search
from ingest.store.search.keyword_search import IndexedChunks
from tests.api.conftest import fake_vector
from tests.support.searchable_chunks import Space, add_document

FOOTER = (
    "This message is confidential and meant for the person that it is addressed to. "
    "If you are not that person, please delete it and tell the heron who sent it."
)


@pytest.fixture
def space(runtime: Runtime) -> Space:
    return Space(id=runtime.model_id, dimension=runtime.model.dimension)


async def add(conn: Connection, application_id: UUID, space: Space, *texts: str) -> UUID:
    vectors = np.stack([fake_vector(text) for text in texts])
    return await add_document(conn, application_id, space, texts, vectors=vectors)


async def ask(client: httpx.AsyncClient, query: str, **body: Any) -> dict[str, Any]:
    answer = await client.post("/api/search", json={"query": query, "explain": True, **body})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def contents(answer: dict[str, Any]) -> Sequence[str]:
    return [hit["content"] for hit in answer["hits"]]


async def test_a_hybrid_score_is_the_sum_of_its_parts(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    await add(conn, application_id, space, "herons eat fish", "fish and herons", "owls at night")

    answer = await ask(viewer, "herons eat fish", weights={"vector": 1, "keyword": 0.5})

    explanation = answer["explanation"]
    assert [one["chunkId"] for one in explanation["hits"]] == [
        hit["chunkId"] for hit in answer["hits"]
    ]
    for hit, why in zip(answer["hits"], explanation["hits"], strict=True):
        assert why["byVectors"] + why["byWords"] == pytest.approx(hit["score"])
        words = sum(word["bm25"] + word["bm25ByGrams"] for word in why["words"])
        assert words + sum(pair["bm25"] for pair in why["pairs"]) == pytest.approx(hit["bm25"] or 0)
    first = explanation["hits"][0]
    assert {word["word"]: word["body"] for word in first["words"]} == {
        "herons": 1,
        "eat": 1,
        "fish": 1,
    }
    assert [pair["words"] for pair in first["pairs"]] == [["herons", "eat"], ["eat", "fish"]]
    assert explanation["searchedBy"] == ["vectors", "words"]
    assert sum(explanation["weights"].values()) == pytest.approx(1)
    assert (explanation["foundByVectors"], explanation["foundByWords"]) == (3, 2)


async def test_settings_and_times_are_told(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    await add(conn, application_id, space, "herons eat fish", "owls")

    explanation = (await ask(viewer, '"eat fish" herons -cats'))["explanation"]

    assert explanation["embeddingModel"] == {"provider": "static", "name": "fake", "dimension": 8}
    assert explanation["query"] == {
        "words": ["eat", "fish", "herons"],
        "phrases": [["eat fish"]],
        "excluded": ["cats"],
    }
    statistics = explanation["statistics"]
    assert (statistics["chunks"], statistics["sampled"]) == (2, 2)
    assert statistics["languages"] == []
    taken = explanation["milliseconds"]
    steps = ("filter", "vectors", "words", "fuse", "load")
    assert all(0 < taken[step] < taken["total"] for step in steps)
    assert explanation["rerankCandidates"] is None


@pytest.mark.parametrize(("mode", "by"), [("vector", ["vectors"]), ("keyword", ["words"])])
async def test_one_half_explains_no_fusion(
    viewer: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    space: Space,
    mode: str,
    by: list[str],
) -> None:
    await add(conn, application_id, space, "herons eat fish")

    answer = await ask(viewer, "herons", mode=mode)

    explanation = answer["explanation"]
    [why] = explanation["hits"]
    assert explanation["searchedBy"] == by
    assert (explanation["weights"], why["byVectors"], why["byWords"]) == (None, None, None)
    assert [word["word"] for word in why["words"]] == (["herons"] if mode == "keyword" else [])
    assert (explanation["embeddingModel"] is None) == (mode == "keyword")


async def test_what_was_left_out_is_counted(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    texts = [f"Letter {n}.\n\n{FOOTER}" for n in range(4)]
    await add(conn, application_id, space, *texts, "heron and pump", "heron and valve")
    await add(conn, application_id, space, "owl")

    answer = await ask(
        viewer, "heron who sent it", perDocument=2, mode="keyword", minScore={"bm25": 0.01}
    )

    explanation = answer["explanation"]
    assert explanation["collapsed"] == 3
    assert explanation["beyondPerDocument"] == 1
    [collapsed] = [one for one in explanation["hits"] if one["sharedSentence"]]
    assert collapsed["sharedSentence"].endswith("tell the heron who sent it.")
    strict = await ask(viewer, "heron who sent it", mode="keyword", minScore={"bm25": 1000})
    assert strict["explanation"]["belowMinScore"] == 6


async def test_places_before_diversity_are_told(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    await add(
        conn,
        application_id,
        space,
        "heron heron pump valve one",
        "heron pump valve two",
        "a heron far away in another marsh",
    )

    answer = await ask(viewer, "heron pump valve", mode="keyword", diversity=0.9, limit=2)

    assert [why["firstPlace"] for why in answer["explanation"]["hits"]] == [1, 3]


async def test_documents_that_pass_a_filter_are_counted(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    source = await add(conn, application_id, space, "heron")
    await add(conn, application_id, space, "heron")

    passing = await ask(viewer, "heron", filter={"knowledgeSourceIds": [str(source)]})
    none = await ask(viewer, "heron", filter={"where": {"metadata.year": 2030}})
    everything = await ask(viewer, "heron")

    assert passing["explanation"]["passingDocuments"] == 1
    assert (none["hits"], none["explanation"]["passingDocuments"]) == ([], 0)
    assert everything["explanation"]["passingDocuments"] is None


async def test_without_explain_nothing_is_read_for_it(
    viewer: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    space: Space,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await add(conn, application_id, space, "herons eat fish", "owls")
    reads = []

    async def counted(*_: object) -> IndexedChunks:
        reads.append(1)
        return IndexedChunks()

    monkeypatch.setattr(keyword_search, "terms_of", counted)

    plain = await ask(viewer, "herons", mode="keyword", explain=False)
    with_words = await ask(viewer, "herons", mode="keyword")

    assert plain["explanation"] is None
    assert plain["hits"] == with_words["hits"]
    assert reads == [1]


async def test_the_longest_query_is_explained_within_bounds(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    words = " ".join(f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(300))
    await add(conn, application_id, space, *[f"{words} {n}" for n in range(20)])

    answer = await ask(viewer, words, mode="keyword", collapse=False, limit=20)

    assert {len(why["words"]) for why in answer["explanation"]["hits"]} == {64}
