"""Whoever dies while an index is built: the next process goes on, and nothing is lost meanwhile."""

import asyncio
from uuid import UUID

import psycopg
import pytest

from harness.patience import PATIENCE
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.embeddings import fresh_vectors, index_builds
from ingest.ticks.vector_indexer import index_vectors
from tests.db.search.index_build_fixtures import (
    add_vectors,
    all_are_found,
    begin,
    build_early,
    indexes,
    state,
)
from tests.support.queue_builders import enqueue
from tests.support.searchable_chunks import Space


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    build_early(monkeypatch)


async def kill_in_the_build(conn: Connection, pool: Pool) -> None:
    """End the server's process that builds an index, while that waits for a writer."""
    async with transaction(pool) as writer:
        await writer.execute("lock rag.embeddings in row exclusive mode")
        indexing = asyncio.create_task(index_vectors(pool))
        async with asyncio.timeout(PATIENCE):
            while True:
                cursor = await conn.execute(
                    "select pg_terminate_backend(pid, 5000) from pg_stat_activity "
                    "where query ~* '^(create|drop) index' and wait_event_type = 'Lock'"
                )
                if await cursor.fetchall():
                    break
                await asyncio.sleep(0.01)
    with pytest.raises(psycopg.OperationalError):
        await indexing


async def test_a_build_that_was_killed_is_done_by_the_next_process(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    await add_vectors(conn, application_id, space, 40)
    await kill_in_the_build(conn, pool)
    left, known = await indexes(conn), await state(conn, space)
    found = await all_are_found(conn, application_id, space)
    await index_vectors(pool)

    assert left == {f"embeddings_hnsw_{space.id}": True, f"embeddings_hnsw_{space.id}_1": False}
    assert known == (0, 1, 1)
    assert found
    assert await indexes(conn) == {f"embeddings_hnsw_{space.id}_1": True}
    assert await state(conn, space) == (1, None, 0)
    assert await all_are_found(conn, application_id, space)


async def test_a_build_goes_on_even_if_jobs_came_and_nothing_new_waits(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    await add_vectors(conn, application_id, space, 40)
    await kill_in_the_build(conn, pool)
    await enqueue(conn, application_id)
    await index_vectors(pool)

    assert await state(conn, space) == (1, None, 0)


async def test_a_process_that_died_before_the_switch_left_a_good_index(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    await add_vectors(conn, application_id, space, 40)
    build = await begin(pool, space)
    await fresh_vectors.move(conn, space.id, limit=100)
    await index_builds.create(conn, build, is_parallel=False)
    cursor = await conn.execute("select %s::regclass::oid", [f"rag.{build.index}"])
    before = await cursor.fetchall()
    await index_vectors(pool)
    cursor = await conn.execute("select %s::regclass::oid", [f"rag.{build.index}"])

    assert await cursor.fetchall() == before
    assert await indexes(conn) == {build.index: True}
    assert await state(conn, space) == (1, None, 0)


async def test_a_process_that_died_after_the_switch_left_an_index_that_goes(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    await add_vectors(conn, application_id, space, 40)
    build = await begin(pool, space)
    await fresh_vectors.move(conn, space.id, limit=100)
    await index_builds.create(conn, build, is_parallel=False)
    await index_builds.switch(conn, build)
    both = await indexes(conn)
    await index_vectors(pool)

    assert len(both) == 2
    assert await indexes(conn) == {build.index: True}


async def test_after_three_failures_vectors_are_indexed_one_by_one_and_a_day_passes(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    await add_vectors(conn, application_id, space, 40)
    for _ in range(3):
        await kill_in_the_build(conn, pool)
    await index_vectors(pool)
    given_up = await state(conn, space)
    leftovers = await indexes(conn)
    await index_vectors(pool)
    await add_vectors(conn, application_id, space, 100)
    moved = await index_vectors(pool)

    assert given_up == (0, None, 0)
    # The last process was killed in the build, or while it dropped what another had left.
    assert [name for name, is_valid in leftovers.items() if is_valid] == [
        f"embeddings_hnsw_{space.id}"
    ]
    assert moved == 100
    assert await indexes(conn) == {f"embeddings_hnsw_{space.id}": True}
    assert await all_are_found(conn, application_id, space)
    await conn.execute("update rag.embedding_models set build_after = now()")
    await add_vectors(conn, application_id, space, 100)
    await index_vectors(pool)
    assert await state(conn, space) == (1, None, 0)
