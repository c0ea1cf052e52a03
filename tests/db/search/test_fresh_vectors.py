"""New vectors wait outside of the index, few at a time, and are found all the while."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from pgvector import Vector
from psycopg import sql

from ingest.postgres.database import Connection
from ingest.search import vector_ranking
from ingest.search.statistics import SearchStatistics
from ingest.search.vector_ranking import by_meaning
from ingest.store.embeddings import fresh_vectors
from ingest.store.search import vector_search
from ingest.store.search.scope import Ranked, SearchScope
from ingest.store.search.vector_search import SearchedIndex, VectorQuery
from tests.support.queue_builders import add_application
from tests.support.searchable_chunks import Space, add_document, add_space, nearest, texts
from tests.support.vector_index import count_fresh, count_indexed, index_all


@pytest.fixture
def by_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few vectors there are, they are not too few for the index."""
    monkeypatch.setattr(vector_ranking, "_EXACT_NUMBERS", 0)


def ray(angle: float) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A vector of 8 numbers; the nearer two angles, the nearer their vectors."""
    return np.array([np.cos(angle), np.sin(angle), 0, 0, 0, 0, 0, 0], dtype=np.float32)


async def add_rays(
    conn: Connection, application_id: UUID, space: Space, angles: Mapping[str, float], **more: Any
) -> UUID:
    vectors = np.array([ray(angle) for angle in angles.values()])
    return await add_document(conn, application_id, space, list(angles), vectors=vectors, **more)


@pytest.mark.usefixtures("by_index")
async def test_vectors_are_found_in_order_whether_they_wait_or_not(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    old = {f"old {n}": n / 10 for n in range(10)}
    await add_rays(conn, application_id, space, old)
    await index_all(conn)
    await add_rays(conn, application_id, space, {"new": 0.05, "newer": 0.15, "far": 3.0})
    scope = SearchScope(application_id=application_id)

    waiting = await texts(conn, await nearest(conn, scope, space, ray(0), limit=4))
    assert await index_all(conn) == 3
    indexed = await texts(conn, await nearest(conn, scope, space, ray(0), limit=4))

    assert waiting == indexed == ["old 0", "new", "old 1", "newer"]


@pytest.mark.usefixtures("by_index")
async def test_vector_indexed_during_a_search_is_found_once(
    conn: Connection,
    application_id: UUID,
    space: Space,
    dsn: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await add_rays(conn, application_id, space, {f"old {n}": n / 10 for n in range(10)})
    await index_all(conn)
    await add_rays(conn, application_id, space, {"new": 0.05})
    rows = vector_search.nearest_fresh

    async def then_move(*arguments: Any) -> list[Ranked]:
        found = await rows(*arguments)
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as other:
            await index_all(other)
        return found

    monkeypatch.setattr(vector_search, "nearest_fresh", then_move)
    found = await nearest(conn, SearchScope(application_id=application_id), space, ray(0), limit=4)

    assert await texts(conn, found) == ["old 0", "new", "old 1", "old 2"]


@pytest.mark.usefixtures("by_index")
async def test_filters_and_deletions_hold_for_vectors_that_wait(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_rays(conn, application_id, space, {"old": 0.1, "older": 0.2}, metadata='{"t": 1}')
    await index_all(conn)
    await add_rays(conn, application_id, space, {"mine": 0.4}, metadata='{"t": 1}')
    await add_rays(conn, application_id, space, {"other": 0.3}, metadata='{"t": 2}')
    gone = await add_rays(conn, application_id, space, {"gone": 0.0}, metadata='{"t": 1}')
    await conn.execute("update rag.knowledge_sources set deleted_at = now() where id = %s", [gone])
    await add_rays(conn, await add_application(conn), space, {"foreign": 0.0})

    everything = await nearest(
        conn, SearchScope(application_id=application_id), space, ray(0), limit=2
    )
    filtered = SearchScope(application_id=application_id, metadata={"t": 1})
    some = await nearest(conn, filtered, space, ray(0.35), limit=2)

    assert await texts(conn, everything) == ["old", "older"]
    assert await texts(conn, some) == ["mine", "older"]


async def test_only_the_nearest_of_those_that_wait_are_looked_up(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, [f"text {n}" for n in range(200)])
    statement, parameters = SearchScope(application_id=application_id).fill_in(
        vector_search._SQL["nearest_fresh"]
    )
    cursor = await conn.execute(
        sql.SQL("explain (analyze, format json) ") + statement,
        {
            **parameters,
            "model_id": space.id,
            "vector": Vector(space.clustered(1)[0]),
            "limit": 10,
            "only_own": False,
            "generation": 0,
        },
        prepare=False,
    )
    row = await cursor.fetchone()
    assert row is not None

    lookups = [
        node["Actual Loops"]
        for node in _nodes(row[0][0]["Plan"])
        if node.get("Relation Name") == "chunks"
    ]
    assert lookups == [10]


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", []) for node in _nodes(child))]


async def test_little_is_missed_when_all_were_put_under_the_index_one_by_one(
    conn: Connection, application_id: UUID
) -> None:
    space = await add_space(conn, dimension=16)
    await add_document(conn, application_id, space, [f"text {n}" for n in range(1200)])
    queries = space.clustered(20)
    exact = [
        await nearest(conn, SearchScope(application_id=application_id), space, query)
        for query in queries
    ]
    await index_all(conn)
    async with conn.transaction():
        scope = SearchScope(application_id=application_id)
        asked = [
            VectorQuery(scope=scope, model_id=space.id, vector=query, limit=10) for query in queries
        ]
        await by_meaning(conn, asked[0], SearchStatistics())  # which configures the transaction
        await conn.execute("set local enable_sort = off")
        index = SearchedIndex("halfvec", 0)
        found = [await vector_search.nearest_by_index(conn, query, index) for query in asked]

    pairs = zip(exact, found, strict=True)
    assert sum(len({hit.id for hit in hits} & set(best)) for best, hits in pairs) >= 190


async def test_vectors_beyond_the_fresh_limit_are_indexed_at_once(
    conn: Connection, application_id: UUID, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh_vectors, "_MOST_ROWS", 5)
    for name in ("a", "b", "c"):
        await add_document(conn, application_id, space, [f"{name} {n}" for n in range(2)])
    wide = await add_space(conn, name="wide", dimension=16)
    await add_document(conn, application_id, wide, ["another model has room of its own"])

    assert await count_fresh(conn) == 5
    assert await count_indexed(conn) == 2


async def test_larger_dimension_lowers_the_fresh_limit() -> None:
    assert [fresh_vectors.capacity(dimension) for dimension in (8, 256, 1000, 4000)] == [
        64_000,
        62_500,
        16_000,
        4_000,
    ]


async def test_fresh_vector_count_is_refreshed_after_a_moment(
    conn: Connection, application_id: UUID, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh_vectors, "_MOST_ROWS", 2)
    await add_document(conn, application_id, space, ["a", "b"])
    await index_all(conn)
    await add_document(conn, application_id, space, ["not counted again yet"])
    monkeypatch.setattr(fresh_vectors, "_COUNT_SECONDS", 0.0)
    await add_document(conn, application_id, space, ["c", "d"])
    fresh_vectors._known.clear()  # as in another process
    await add_document(conn, application_id, space, ["full"])

    cursor = await conn.execute(
        "select content from rag.chunks join rag.embeddings_fresh on chunk_id = id order by 1"
    )
    assert [row[0] for row in await cursor.fetchall()] == ["c", "d"]


async def test_a_vector_that_the_index_refuses_is_refused_when_it_is_stored(
    conn: Connection, application_id: UUID
) -> None:
    wide = await add_space(conn, name="wide", dimension=2500)
    vectors = np.full((1, 2500), 1e6, dtype=np.float32)

    with pytest.raises(psycopg.DataError):
        await add_document(conn, application_id, wide, ["too large a number"], vectors=vectors)


async def test_vector_of_another_dimension_is_refused_and_search_still_works(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, ["good"])
    vectors = np.ones((1, 16), dtype=np.float32)

    with pytest.raises(psycopg.DataError):
        await add_document(conn, application_id, space, ["bad"], vectors=vectors)
    found = await nearest(conn, SearchScope(application_id=application_id), space, ray(0))
    assert await texts(conn, found) == ["good"]


@pytest.mark.usefixtures("by_index")
async def test_vectors_stored_by_the_previous_version_are_indexed_and_found(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_rays(conn, application_id, space, {"new": 0.1})
    async with conn.transaction(), conn.cursor() as cur:
        await cur.execute(
            "create temp table old on commit drop as "
            "select chunk_id, model_id, application_id, embedding from rag.embeddings"
        )
        await cur.execute("delete from rag.embeddings")
        rows = await (await cur.execute("select * from old")).fetchall()
        async with cur.copy(
            "copy rag.embeddings (chunk_id, model_id, application_id, embedding)"
            " from stdin (format binary)"
        ) as copy:
            copy.set_types(["uuid", "int2", "uuid", "vector"])
            for row in rows:
                await copy.write_row(row)

    assert (await count_indexed(conn), await count_fresh(conn)) == (1, 0)
    found = await nearest(conn, SearchScope(application_id=application_id), space, ray(0), limit=1)
    assert await texts(conn, found) == ["new"]
