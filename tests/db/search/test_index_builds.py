"""Many vectors get under the index by a new one, and are found all the while."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from psycopg import AsyncConnection, sql

from harness.patience import PATIENCE
from ingest.postgres.database import Connection, Pool
from ingest.store.embeddings import fresh_vectors, index_builds
from ingest.store.search import vector_search
from ingest.store.search.scope import SearchScope
from ingest.store.search.vector_search import Begun, SearchedIndex, VectorQuery
from ingest.ticks.vector_indexer import index_vectors
from tests.db.search.index_build_fixtures import (
    add_vectors,
    all_are_found,
    begin,
    build_early,
    exact,
    indexes,
    state,
)
from tests.support.searchable_chunks import Space, nearest
from tests.support.vector_index import count_fresh, count_indexed


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    build_early(monkeypatch)


async def test_what_outweighs_the_index_is_built_with_it_and_the_old_index_goes(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    await add_vectors(conn, application_id, space, 60)
    first = await index_vectors(pool)
    await add_vectors(conn, application_id, space, 30)
    second = await index_vectors(pool)
    await add_vectors(conn, application_id, space, 25)
    moved = await index_vectors(pool)

    assert (first, second, moved) == (60, 30, 25)
    assert (await count_fresh(conn), await count_indexed(conn)) == (0, 115)
    assert await state(conn, space) == (2, None, 0)
    assert await indexes(conn) == {f"embeddings_hnsw_{space.id}_2": True}
    assert await all_are_found(conn, application_id, space)


async def test_searches_use_the_index_that_was_built(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    await add_vectors(conn, application_id, space, 60)
    await index_vectors(pool)
    async with conn.transaction():
        await conn.execute("set local enable_sort = off; set local enable_seqscan = off")
        await nearest(
            conn, SearchScope(application_id=application_id), space, space.clustered(1)[0]
        )
    scans = None
    async with asyncio.timeout(PATIENCE):
        while not scans:
            await conn.execute("select pg_stat_force_next_flush()")
            cursor = await conn.execute(
                "select idx_scan from pg_stat_user_indexes where indexrelname = %s",
                [f"embeddings_hnsw_{space.id}_1"],
            )
            [[scans]] = await cursor.fetchall()

    assert scans


async def test_a_later_index_serves_searches_of_an_earlier_generation(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    await add_vectors(conn, application_id, space, 60)
    await index_vectors(pool)
    query = VectorQuery(
        scope=SearchScope(application_id=application_id),
        model_id=space.id,
        vector=space.clustered(1)[0],
        limit=10,
    )
    statement, parameters = vector_search.indexed_statement(query, SearchedIndex("halfvec", 0))
    async with conn.transaction():
        await conn.execute("set local enable_sort = off")
        cursor = await conn.execute(
            sql.SQL("explain ") + statement, {**query.parameters(), **parameters}, prepare=False
        )
        plan = await cursor.fetchall()

    assert any(f"embeddings_hnsw_{space.id}_1" in row[0] for row in plan)


@pytest.mark.parametrize("left", [0, 10])
async def test_staged_vectors_are_found_before_and_after_the_switch(
    conn: Connection, pool: Pool, application_id: UUID, space: Space, left: int
) -> None:
    await add_vectors(conn, application_id, space, 30)
    await fresh_vectors.move(conn, space.id, limit=30)
    await add_vectors(conn, application_id, space, 30)
    build = await begin(pool, space)
    await fresh_vectors.move(conn, space.id, limit=30 - left)
    staged = await all_are_found(conn, application_id, space)
    await index_builds.create(conn, build, is_parallel=False)
    built = await all_are_found(conn, application_id, space)
    await index_builds.switch(conn, build)
    switched = await all_are_found(conn, application_id, space)

    assert (staged, built, switched) == (True, True, True)
    assert await count_fresh(conn) == left


async def size(conn: Connection, index: str) -> int:
    cursor = await conn.execute("select pg_relation_size(%s::regclass)", [f"rag.{index}"])
    [[count]] = await cursor.fetchall()
    return int(count)


async def test_the_current_index_does_not_get_what_is_staged(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    for generation in range(2):
        current = index_builds.index_name(space.id, generation)
        await add_vectors(conn, application_id, space, 300)
        before = await size(conn, current)
        build = await begin(pool, space)
        await fresh_vectors.move(conn, space.id, limit=300)
        after = await size(conn, current)
        await index_builds.create(conn, build, is_parallel=False)
        await index_builds.switch(conn, build)

        assert before == after < await size(conn, build.index)


async def test_an_index_that_would_get_what_is_staged_is_replaced_first(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    """Those of earlier versions have no generation."""
    index = f"embeddings_hnsw_{space.id}"
    await conn.execute(
        f"drop index rag.{index}; create index {index} on rag.embeddings using hnsw "
        f"((embedding::halfvec(8)) halfvec_cosine_ops) where model_id = {space.id}".encode()
    )
    await add_vectors(conn, application_id, space, 30)
    await fresh_vectors.move(conn, space.id, limit=30)
    await add_vectors(conn, application_id, space, 40)
    replaced = await index_vectors(pool)
    first = await indexes(conn), await count_fresh(conn)
    found = await all_are_found(conn, application_id, space)
    built = await index_vectors(pool)

    assert (replaced, built) == (0, 40)
    assert first == ({f"{index}_1": True}, 40)
    assert found
    assert await indexes(conn) == {f"{index}_2": True}
    assert await all_are_found(conn, application_id, space)


async def test_a_search_that_began_before_the_switch_finds_all(
    conn: Connection,
    pool: Pool,
    application_id: UUID,
    space: Space,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await add_vectors(conn, application_id, space, 30)
    await fresh_vectors.move(conn, space.id, limit=30)
    await add_vectors(conn, application_id, space, 40)
    query = space.clustered(1)[0]
    begin_search = vector_search.begin

    async def then_build(*arguments: Any, **more: Any) -> Begun:
        begun = await begin_search(*arguments, **more)
        async with await AsyncConnection.connect(conn.info.dsn, autocommit=True) as other:
            build = await index_builds.begin(other, space.id)
            await fresh_vectors.move(other, space.id, limit=100)
            # Not created: the server would wait for this search.
            await index_builds.switch(other, build)
        return begun

    monkeypatch.setattr(vector_search, "begin", then_build)
    found = await nearest(conn, SearchScope(application_id=application_id), space, query)

    assert found == await exact(conn, space, query)
