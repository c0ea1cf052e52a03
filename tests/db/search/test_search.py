"""Every kind of search stays behind the walls, skips what was deleted, obeys filters."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest

from ingest.postgres.database import Connection
from ingest.search.fusion import Weights, fuse
from ingest.search.scores import Candidate
from ingest.store.search.hits import load
from ingest.store.search.scope import Ranked, SearchScope
from ingest.store.sources import sources
from tests.support.queue_builders import add_application
from tests.support.searchable_chunks import Space, add_document, found_by_words, nearest


def fused(
    cosines: Mapping[UUID, float], bm25: Mapping[UUID, float], **options: Any
) -> list[Candidate]:
    ids = dict.fromkeys([*cosines, *bm25])
    chunks = [Candidate(id=id, cosine=cosines.get(id), bm25=bm25.get(id)) for id in ids]
    return fuse(chunks, **options)


def ranked(*ids: UUID) -> list[Ranked]:
    return [Ranked(id=id, score=1) for id in ids]


def test_fusion_prefers_chunks_with_both_scores() -> None:
    a, b, c = sorted(uuid4() for _ in range(3))

    found = fused({a: 0.5, b: 0.4}, {b: 5, c: 6}, whole_weight=10)

    assert [hit.id for hit in found] == [b, c, a]
    assert found[0].score == pytest.approx(0.6 * 5 / 13 + 0.4 * 0.4)


def test_fusion_distinguishes_a_clear_from_a_narrow_winner() -> None:
    a, b = uuid4(), uuid4()

    clear = fused({a: 0.50, b: 0.51}, {a: 10, b: 1}, whole_weight=10)
    close = fused({a: 0.5, b: 0.9}, {a: 10, b: 9.9}, whole_weight=10)

    assert [clear[0].id, close[0].id] == [a, b]


def test_fused_score_of_what_does_not_fit_is_low() -> None:
    [hit] = fused({uuid4(): 0.1}, {}, whole_weight=0)

    assert hit.score < 0.05


def test_fusion_weighs_the_halves() -> None:
    assert Weights().words() == pytest.approx(0.6)
    assert Weights(vector=0).words() == 1
    assert Weights(keyword=0).words() == 0
    assert Weights(vector=3).words() == pytest.approx(0.6 / 1.8)


def test_fusion_order_of_ties_is_stable() -> None:
    ids = [uuid4() for _ in range(5)]
    one_way = fused(dict.fromkeys(ids, 0.5), {}, whole_weight=1)
    other_way = fused(dict.fromkeys(reversed(ids), 0.5), {}, whole_weight=1)

    assert one_way == other_way


def test_fusion_of_nothing_is_empty() -> None:
    assert fuse([], whole_weight=0) == []


def test_fusion_counts_negative_similarity_as_none() -> None:
    a, b = sorted(uuid4() for _ in range(2))

    found = fused({a: -0.1, b: 0}, {}, whole_weight=0)

    assert [(hit.id, hit.score) for hit in found] == [(a, 0), (b, 0)]


def test_fusion_counts_only_what_is_more_similar_than_unrelated_texts() -> None:
    """With models whose cosines are all high, words would decide alone."""
    a, b = uuid4(), uuid4()

    near, far = fused({a: 0.9, b: 0.8}, {b: 1}, whole_weight=10, unrelated=0.8)

    assert [near.id, far.id] == [a, b]
    assert near.score == pytest.approx(0.4 * 0.5)
    assert far.score == pytest.approx(0.6 * 1 / 9)


async def everywhere(
    conn: Connection, scope: SearchScope, space: Space, query: str = "shared"
) -> set[str]:
    """What any kind of search finds."""
    by_vector = await nearest(conn, scope, space, np.ones(space.dimension, np.float32), limit=100)
    by_keyword = await found_by_words(conn, scope, query)
    ids = {*by_vector, *(hit.id for hit in by_keyword)}
    loaded = await load(conn, list(ids), application_id=scope.application_id)
    assert len(loaded) == len(ids)
    return {hit.content for hit in loaded}


async def test_chunks_of_another_application_are_not_found(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    other = await add_application(conn)
    foreign = await add_document(conn, other, space, ["shared secret"])
    await add_document(conn, application_id, space, ["shared mine"])

    assert await everywhere(conn, SearchScope(application_id=application_id), space) == {
        "shared mine"
    }
    named = SearchScope(application_id=application_id, source_ids=[foreign])
    assert await everywhere(conn, named, space) == set()


async def test_foreign_chunks_are_not_loaded(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    other = await add_application(conn)
    await add_document(conn, other, space, ["secret"])
    cursor = await conn.execute("select id from rag.chunks")
    ids = [row[0] for row in await cursor.fetchall()]

    assert await load(conn, list(ids), application_id=application_id) == []


async def test_a_deleted_source_or_document_is_not_found(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    gone = await add_document(conn, application_id, space, ["shared gone"])
    page = await add_document(conn, application_id, space, ["shared page"])
    await add_document(conn, application_id, space, ["shared here"])
    await sources.tombstone(conn, application_id=application_id, ids=[gone])
    await conn.execute("update rag.documents set deleted_at = now() where source_id = %s", [page])

    assert await everywhere(conn, SearchScope(application_id=application_id), space) == {
        "shared here"
    }


async def test_filters_narrow_every_kind_of_search(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    french = await add_document(
        conn,
        application_id,
        space,
        ["shared french"],
        metadata='{"lang": "fr", "tags": ["a", "b"]}',
    )
    await add_document(conn, application_id, space, ["shared german"], metadata='{"lang": "de"}')

    def scope(**narrow: object) -> SearchScope:
        return SearchScope(application_id=application_id, **narrow)  # type: ignore[arg-type] # as named

    assert await everywhere(conn, scope(source_ids=[french]), space) == {"shared french"}
    assert await everywhere(conn, scope(source_ids=[]), space) == set()
    assert await everywhere(conn, scope(metadata={"lang": "de"}), space) == {"shared german"}
    assert await everywhere(conn, scope(metadata={"tags": ["b"]}), space) == {"shared french"}
    both = scope(metadata={"lang": "de"}, source_ids=[french])
    assert await everywhere(conn, both, space) == set()


async def test_hits_name_document_page_and_headings(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    titled = await add_document(conn, application_id, space, ["one"], title="A title")
    untitled = await add_document(conn, application_id, space, ["two"])
    cursor = await conn.execute("select id from rag.chunks order by content")
    ids = [row[0] for row in await cursor.fetchall()]

    first, second = await load(conn, list(ids), application_id=application_id)

    assert (first.page, first.page_end) == (1, 1)
    assert (first.knowledge_source_id, first.title) == (titled, "A title")
    assert (second.knowledge_source_id, second.title) == (untitled, "file.txt")
    assert (first.uri, first.page, first.headings) == ("folder/file.txt", 1, ["A"])
