"""POST /api/search: modes, filters, limits and what it refuses."""

from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from ingest.postgres.database import Connection
from ingest.store.search import matching
from ingest.store.sources import sources
from tests.api.search.searches import add, find
from tests.support.searchable_chunks import Space

CHUNK_FIELDS = {
    *("chunkId", "knowledgeSourceId", "documentId", "title", "uri", "mediaType"),
    *("metadata", "documentMetadata", "publishedAt", "createdAt", "updatedAt"),
    *("ordinal", "page", "pageEnd", "charStart", "charEnd", "headings", "sections", "content"),
}
FIELDS = CHUNK_FIELDS | {
    *("score", "cosine", "bm25", "rerankScore", "vectorRank", "keywordRank", "section"),
    *("matchedTerms", "duplicateCount", "duplicates"),
}


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
async def test_every_mode_finds_the_text(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space, mode: str
) -> None:
    source = await add(conn, application_id, space, "herons eat fish", "unrelated")

    hits = await find(viewer, "herons eat fish", mode=mode)

    assert set(hits[0]) == FIELDS
    assert hits[0]["content"] == "herons eat fish"
    assert hits[0]["knowledgeSourceId"] == str(source)
    assert [hit["score"] for hit in hits] == sorted([hit["score"] for hit in hits], reverse=True)


async def test_hybrid_search_combines_vector_and_keyword_hits(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    await add(conn, application_id, space, "about herons", "about owls")
    await conn.execute(
        "delete from rag.embeddings where chunk_id in "
        "(select id from rag.chunks where content = 'about herons')"
    )

    hits = await find(viewer, "herons")

    assert {hit["content"] for hit in hits} == {"about herons", "about owls"}


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
async def test_deleted_chunks_do_not_displace_hits(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space, mode: str
) -> None:
    gone = await add(conn, application_id, space, *["herons eat fish"] * 12)
    await add(conn, application_id, space, "herons eat fish and frogs")
    await sources.tombstone(conn, application_id=application_id, ids=[gone])

    hits = await find(viewer, "herons eat fish", mode=mode)

    assert [hit["content"] for hit in hits] == ["herons eat fish and frogs"]


async def test_limit_and_filters_are_obeyed(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    first = await add(conn, application_id, space, *[f"heron {n}" for n in range(30)])
    await add(conn, application_id, space, "heron tagged", metadata='{"tag": "x"}')

    assert len(await find(viewer, "heron")) == 10
    assert len(await find(viewer, "heron", limit=3)) == 3
    only = await find(viewer, "heron", limit=100, filter={"knowledgeSourceIds": [str(first)]})
    assert len(only) == 30
    tagged = await find(viewer, "heron", filter={"metadata": {"tag": "x"}})
    assert [hit["content"] for hit in tagged] == ["heron tagged"]
    assert await find(viewer, "heron", filter={"knowledgeSourceIds": [str(uuid4())]}) == []


@pytest.mark.parametrize("are_few", [True, False], ids=["few", "many"])
@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
async def test_conditions_narrow_every_mode(
    viewer: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    space: Space,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    are_few: bool,
) -> None:
    if not are_few:  # then each candidate is checked
        monkeypatch.setattr(matching, "_MOST_DOCUMENTS", 0)
    await add(conn, application_id, space, "heron old", metadata='{"year": 2020, "tags": ["a"]}')
    await add(conn, application_id, space, "heron new", metadata='{"year": 2025, "tags": ["b"]}')
    await add(conn, application_id, space, "heron", metadata='{"year": "2030"}')

    async def found(where: dict[str, Any]) -> set[str]:
        hits = await find(viewer, "heron", mode=mode, filter={"where": where})
        return {hit["content"] for hit in hits}

    assert await found({"metadata.year": {"$gte": 2020}}) == {"heron old", "heron new"}
    assert await found({"metadata.tags": "b"}) == {"heron new"}
    assert await found({"not": {"metadata.tags": {"exists": True}}}) == {"heron"}
    assert await found({"mediaType": {"prefix": "image/"}}) == set()
    assert await found({}) == {"heron old", "heron new", "heron"}


async def test_the_largest_filters_are_answered(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    await add(conn, application_id, space, "heron", metadata='{"n": 999}')
    deep: dict[str, Any] = {"not": {"not": {"not": {"not": {"not": {"not": {"uri": "x"}}}}}}}

    for where in (
        {"metadata.n": {"in": list(range(1000))}},
        {"or": [{f"metadata.{n}": n} for n in range(99)] + [{"metadata.n": 999}]},
        {"and": [{"uri": {"glob": f"**/*{n}*?*f*i*l*e*{n}*"}} for n in range(100)]},
        {"metadata.n": {"lt": 10**300, "gt": -(10**300), "ne": 1e-300}},
        deep,
    ):
        await find(viewer, "heron", filter={"where": where})


async def test_all_members_of_a_filter_must_hold(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    first = await add(conn, application_id, space, "heron one", metadata='{"tag": "x", "n": 1}')
    await add(conn, application_id, space, "heron two", metadata='{"tag": "x", "n": 1}')
    only = {"knowledgeSourceIds": [str(first)], "metadata": {"tag": "x"}}

    hits = await find(viewer, "heron", filter={**only, "where": {"metadata.n": {"lt": 2}}})
    none = await find(viewer, "heron", filter={**only, "where": {"metadata.n": {"gt": 2}}})

    assert [hit["content"] for hit in hits] == ["heron one"]
    assert none == []


@pytest.mark.parametrize(
    ("filter", "code", "field"),
    [
        ({"metadata": {"year": {"$gte": 2025}}}, "unknown_operator", "filter.metadata.year.$gte"),
        ({"where": {"metadata.year": {"$foo": 1}}}, "unknown_operator", "filter.where"),
        ({"where": {"year": {"gte": 1}}}, "unknown_field", "filter.where.year"),
        ({"where": {"or": [{"uri": 5}]}}, "invalid_filter", "filter.where.or.0.uri"),
    ],
)
async def test_what_a_filter_does_not_know_is_named(
    viewer: httpx.AsyncClient, filter: dict[str, Any], code: str, field: str
) -> None:
    answer = await viewer.post("/api/search", json={"query": "\0", "filter": filter})

    assert answer.status_code == 422
    assert answer.json()["code"] == code
    [error] = answer.json()["errors"]
    assert error["field"].startswith(f"body.{field}")


async def test_nothing_found_is_an_empty_list(viewer: httpx.AsyncClient) -> None:
    for mode in ("hybrid", "vector", "keyword"):
        assert await find(viewer, "anything", mode=mode) == []


async def test_another_application_finds_nothing(
    stranger: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    await add(conn, application_id, space, "herons")

    assert await find(stranger, "herons") == []


@pytest.mark.parametrize("query", ["\0\0", "?!…", "x" * 8000, "a & b | ! <->", "%s %(x)s"])
async def test_odd_queries_are_answered(viewer: httpx.AsyncClient, query: str) -> None:
    assert await find(viewer, query) == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": ""},
        {"query": " \n"},
        {"query": "x" * 8001},
        {"query": 5},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 101},
        {"query": "x", "mode": "magic"},
        {"query": "x", "more": 1},
        {"query": "x", "filter": {"knowledge_source_ids": []}},
        {"query": "x", "filter": {"knowledgeSourceIds": ["x"]}},
        {"query": "x", "filter": {"metadata": []}},
        {"query": "x", "filter": {"where": []}},
        {"query": "x", "filter": {"knowledgeSourceIds": [str(UUID(int=n)) for n in range(1001)]}},
    ],
)
async def test_wrong_requests_are_refused(viewer: httpx.AsyncClient, body: dict[str, Any]) -> None:
    answer = await viewer.post("/api/search", json=body)

    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid_request"


async def test_search_needs_a_key(anonymous: httpx.AsyncClient) -> None:
    answer = await anonymous.post("/api/search", json={"query": "x"})

    assert answer.status_code == 401
