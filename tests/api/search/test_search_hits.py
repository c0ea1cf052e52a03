"""What hits say of themselves, and that no text floods them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from ingest.search import rank, vector_ranking
from ingest.search.statistics import SearchStatistics
from ingest.store.search.vector_search import VectorQuery
from tests.api.conftest import fake_vector
from tests.support.chunk_checks import chunks_of
from tests.support.searchable_chunks import Space, add_document

MODES = ("hybrid", "vector", "keyword")
FOOTER = (
    "\n\nThis message is confidential and meant for the addressee only. It is kept as long as the "
    "retention policy of the company demands. If you got it by mistake, tell the sender and delete "
    "it, and keep no copy of it in any archive or on any other medium whatever."
)
POLICY = "Messages are deleted after ninety days; that is the policy on retention."
QUERY = "retention policy"


@pytest.fixture
def space(runtime: Runtime) -> Space:
    return Space(id=runtime.model_id, dimension=runtime.model.dimension)


async def search(client: httpx.AsyncClient, query: str, **body: Any) -> list[dict[str, Any]]:
    answer = await client.post("/api/search", json={"query": query, **body})
    assert answer.status_code == 200, answer.text
    hits: list[dict[str, Any]] = answer.json()["hits"]
    return hits


def towards(query: str, *similarities: float) -> NDArray[np.float32]:
    """Vectors with these cosine similarities to that of the query."""
    goal = fake_vector(query)
    other = np.zeros_like(goal)
    other[:2] = goal[1], -goal[0]
    other /= np.linalg.norm(other)
    return np.stack([s * goal + np.sqrt(1 - s * s) * other for s in similarities]).astype(
        np.float32
    )


async def add_each(
    conn: Connection,
    application_id: UUID,
    space: Space,
    texts: Sequence[str],
    vectors: NDArray[np.float32],
) -> list[UUID]:
    """A source of its own for each text."""
    return [
        await add_document(conn, application_id, space, [text], vectors=vectors[[place]])
        for place, text in enumerate(texts)
    ]


async def test_a_hit_has_the_scores_and_ranks_of_each_half(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    texts = ["herons eat fish", "owls eat mice", "herons sleep"]
    await add_each(conn, application_id, space, texts, towards("herons", 0.5, 0.9, 0.7))
    await conn.execute(
        "delete from rag.embeddings where chunk_id in "
        "(select id from rag.chunks where content = 'herons sleep')"
    )

    by_text = {hit["content"]: hit for hit in await search(viewer, "herons")}

    fish, mice, sleep = (by_text[text] for text in texts)
    assert (fish["vectorRank"], mice["vectorRank"], sleep["vectorRank"]) == (2, 1, None)
    assert fish["cosine"] == pytest.approx(0.5, abs=1e-3)
    assert sleep["cosine"] is None
    assert (mice["keywordRank"], mice["bm25"]) == (None, None)
    assert {fish["keywordRank"], sleep["keywordRank"]} == {1, 2}
    assert fish["bm25"] > 0
    assert (fish["matchedTerms"], mice["matchedTerms"]) == (["herons"], [])
    assert (fish["duplicateCount"], fish["duplicates"]) == (0, [])
    [alone] = await search(viewer, "herons", mode="keyword", perDocument=1, limit=1)
    assert alone["cosine"] is None


async def test_hits_below_a_least_score_are_left_out(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    texts = ["herons eat fish", "owls eat mice", "herons sleep"]
    await add_each(conn, application_id, space, texts, towards("herons", 0.3, 0.9, 0.7))

    async def found(**body: Any) -> set[str]:
        return {hit["content"] for hit in await search(viewer, "herons", **body)}

    assert await found(minScore={"cosine": 0.5}) == {"owls eat mice", "herons sleep"}
    assert await found(minScore={"cosine": 0.5}, mode="vector") == {"owls eat mice", "herons sleep"}
    assert await found(minScore={"bm25": 0.0001}) == {"herons eat fish", "herons sleep"}
    assert await found(minScore={"bm25": 0.0001, "cosine": 0.5}) == {"herons sleep"}
    assert await found(minScore={"cosine": 0.95}) == set()
    assert await found(minScore={"rerank": 0.95}) == set(texts)


async def test_what_only_words_found_is_compared_too_where_a_cosine_is_asked_for(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    near = [f"owls {n}" for n in range(60)]
    await add_each(conn, application_id, space, near, towards("herons", *[0.9] * 60))
    await add_each(conn, application_id, space, ["herons"], towards("herons", 0.6))

    hits = await search(viewer, "herons", limit=1, minScore={"cosine": 0.55, "bm25": 0})

    assert [(hit["content"], hit["vectorRank"]) for hit in hits] == [("herons", None)]
    assert hits[0]["cosine"] == pytest.approx(0.6, abs=1e-3)


@pytest.mark.parametrize(
    "body",
    [
        {"mode": "keyword", "minScore": {"cosine": 0.1}},
        {"mode": "vector", "minScore": {"bm25": 0.1}},
        {"minScore": {"score": 0.1}},
        {"perDocument": 0},
        {"diversity": 1.1},
        {"weights": {"vector": 0, "keyword": 0}},
        {"weights": {"vector": -1}},
    ],
)
async def test_wrong_settings_are_refused(viewer: httpx.AsyncClient, body: dict[str, Any]) -> None:
    assert (await viewer.post("/api/search", json={"query": "x", **body})).status_code == 422


@pytest.mark.parametrize("mode", MODES)
async def test_a_policy_is_found_in_a_heap_of_mails_with_one_footer(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space, mode: str
) -> None:
    subjects = ["lunch at noon", "toner for the printer", "the meeting of Monday", "a lost key"]
    mails = [f"Number {n} is about {subjects[n % 4]}.{FOOTER}" for n in range(60)]
    ids = await add_each(conn, application_id, space, mails, towards(QUERY, *[0.9] * 60))
    [policy] = await add_each(conn, application_id, space, [POLICY], towards(QUERY, 0.5))

    hits = await search(viewer, QUERY, mode=mode)

    assert [hit["knowledgeSourceId"] for hit in hits][1:] == [str(policy)] or (
        hits[0]["knowledgeSourceId"] == str(policy)
    )
    flood = next(hit for hit in hits if hit["duplicateCount"])
    assert flood["duplicateCount"] == 59
    named = {one["knowledgeSourceId"] for one in flood["duplicates"]}
    assert named | {flood["knowledgeSourceId"]} == {str(id) for id in ids}

    every = await search(viewer, QUERY, mode=mode, collapse=False)
    assert len(every) == 10
    assert all(hit["duplicateCount"] == 0 for hit in every)


async def test_a_document_has_no_more_hits_than_asked_for(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    many = [f"heron number {n}" for n in range(80)]
    vectors = towards("heron", *[0.9] * 80)
    await add_document(conn, application_id, space, many, vectors=vectors)
    await add_each(conn, application_id, space, ["another heron"], towards("heron", 0.5))

    for mode in MODES:
        hits = await search(viewer, "heron", mode=mode, perDocument=2)
        assert len(hits) == 3, mode
        assert len({hit["documentId"] for hit in hits}) == 2


async def test_diversity_prefers_what_is_new(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    texts = ["heron one of a kind", "heron two of a kind", "fish and frogs"]
    await add_each(conn, application_id, space, texts, towards("heron", 0.9, 0.89, 0.5))

    plain = await search(viewer, "heron", mode="vector", limit=2)
    diverse = await search(viewer, "heron", mode="vector", limit=2, diversity=0.9)

    assert [hit["content"] for hit in plain] == texts[:2]
    assert [hit["content"] for hit in diverse] == [texts[0], texts[2]]


async def test_weights_decide_which_half_counts(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    texts = ["herons eat fish", "owls eat mice"]
    await add_each(conn, application_id, space, texts, towards("herons", 0.2, 0.9))

    by_words = await search(viewer, "herons", weights={"vector": 0.0})
    by_meaning = await search(viewer, "herons", weights={"keyword": 0.0})

    assert by_words[0]["content"] == texts[0]
    assert by_meaning[0]["content"] == texts[1]


@pytest.mark.parametrize("mode", MODES)
async def test_a_hit_names_the_section_of_its_match(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space, mode: str
) -> None:
    text = "# Étude 😀\n\n" + "\n\n".join(
        f"## Section {n} 😀\n\nThe same line stands here. It is repeated 🏔️ in each section of this "
        f"text, number {n}.\n\n```python\n# not a heading\nx = {n}\n```"
        for n in range(12)
    )
    chunks = chunks_of(text, size=256)
    vectors = np.stack([fake_vector(str(chunk.ordinal)) for chunk in chunks])
    await add_document(
        conn,
        application_id,
        space,
        [chunk.text for chunk in chunks],
        vectors=vectors,
        chunks=chunks,
    )

    for n in (0, 5, 7, 11):
        hits = await search(viewer, f"line number {n}", mode=mode, limit=20)
        hit = next(hit for hit in hits if f"number {n}." in hit["content"])
        assert hit["section"] == ["Étude 😀", f"Section {n} 😀"]
        assert hit["section"] in hit["sections"]
        assert len(hit["sections"]) > 1
        assert hit["content"] == text[hit["charStart"] : hit["charEnd"]]
        assert hit["headings"] == hit["sections"][0]
    assert not any("not a heading" in path for hit in hits for path in hit["sections"])


async def test_a_deeper_search_that_takes_too_long_costs_no_hit(
    viewer: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    space: Space,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await add_each(conn, application_id, space, ["herons"] * 60, towards("herons", *[0.9] * 60))
    depths = []
    by_meaning = vector_ranking.by_meaning

    async def slow(
        conn: Connection, query: VectorQuery, statistics: SearchStatistics, **options: bool
    ) -> Any:
        depths.append(query.limit)
        if len(depths) > 1:
            await conn.execute("select set_config('statement_timeout', '20', true)")
            await conn.execute("select pg_sleep(30)")
        return await by_meaning(conn, query, statistics, **options)

    monkeypatch.setattr(rank, "by_meaning", slow)

    [hit] = await search(viewer, "herons", mode="vector")

    assert depths == [50, 250]
    assert hit["duplicateCount"] == 49
