"""Every kind of search stays behind the walls, skips what was deleted, obeys filters."""

from uuid import UUID, uuid4

import numpy as np
import pytest

from ingest.postgres.database import Connection
from ingest.search.search import by_words, fuse
from ingest.search.statistics import SearchStatistics
from ingest.store.search.hits import load
from ingest.store.search.scope import Ranked, SearchScope
from ingest.store.sources import sources
from tests.support.queue_builders import add_application
from tests.support.searchable_chunks import Space, add_document, add_space, nearest, searching


@pytest.fixture
async def space(conn: Connection) -> Space:
    return await add_space(conn)


def ranked(*ids: UUID) -> list[Ranked]:
    return [Ranked(id=id, score=1) for id in ids]


def scored(*found: tuple[UUID, float]) -> list[Ranked]:
    return [Ranked(id=id, score=score) for id, score in found]


def test_fusion_prefers_hits_of_both_rankings() -> None:
    a, b, c, d = sorted(uuid4() for _ in range(4))

    fused = fuse(scored((a, 8), (b, 6), (c, 2)), scored((d, 0.4), (b, 0.3)), limit=3)

    assert [(hit.id, hit.score) for hit in fused] == [(b, 0.75), (a, 0.5), (d, 0.5)]


def test_fusion_distinguishes_a_clear_from_a_narrow_winner() -> None:
    a, b = uuid4(), uuid4()

    clear = fuse(scored((a, 10), (b, 1)), scored((b, 0.51), (a, 0.5)), limit=1)
    close = fuse(scored((a, 10), (b, 9.9)), scored((b, 0.9), (a, 0.5)), limit=1)

    assert [hit.id for hit in (*clear, *close)] == [a, b]


def test_fusion_order_of_ties_is_stable() -> None:
    ids = [uuid4() for _ in range(5)]
    one_way = fuse(ranked(*ids), limit=5)
    other_way = fuse(ranked(*reversed(ids)), limit=5)

    assert one_way == other_way


@pytest.mark.parametrize("rankings", [[], [[], []]])
def test_fusion_of_empty_rankings_is_empty(rankings: list[list[Ranked]]) -> None:
    assert fuse(*rankings, limit=10) == []


def test_fusion_accepts_negative_similarity() -> None:
    a, b = sorted(uuid4() for _ in range(2))

    fused = fuse(scored((a, -0.1), (b, -0.2)), scored((b, 0)), limit=2)

    assert [(hit.id, hit.score) for hit in fused] == [(a, 0), (b, 0)]


async def everywhere(
    conn: Connection, scope: SearchScope, space: Space, query: str = "shared"
) -> set[str]:
    """What any kind of search finds."""
    by_vector = await nearest(conn, scope, space, np.ones(space.dimension, np.float32), limit=100)
    async with searching(conn, scope.application_id):
        by_keyword = await by_words(
            conn, scope, query, SearchStatistics(), limit=100, enough=100, ranked=1000
        )
    ids = {*by_vector, *(hit.id for hit in by_keyword.in_order())}
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
