"""One index is built at a time, while others read and write."""

import asyncio
from uuid import UUID

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
from tests.support.queue_builders import claim, complete, enqueue
from tests.support.searchable_chunks import Space, add_space
from tests.support.vector_index import count_fresh, count_indexed, delete_chunks


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    build_early(monkeypatch)


async def test_one_process_builds_at_a_time(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    await add_vectors(conn, application_id, space, 40)
    async with index_builds.lock(conn) as is_ours:
        meanwhile = await index_vectors(pool)
        untouched = await state(conn, space)

    assert (is_ours, meanwhile, untouched) == (True, 0, (0, None, 0))
    assert await index_vectors(pool) == 40


async def test_others_read_write_and_delete_while_an_index_is_built(
    conn: Connection, dsn: str, pool: Pool, application_id: UUID, space: Space
) -> None:
    gone = await add_vectors(conn, application_id, space, 10)
    await add_vectors(conn, application_id, space, 40)
    async with transaction(pool) as writer:
        await writer.execute("lock rag.embeddings in row exclusive mode")
        indexing = asyncio.create_task(index_vectors(pool))
        async with asyncio.timeout(PATIENCE):
            while len(await indexes(conn)) < 2:  # noqa: ASYNC110 - the server does not tell
                await asyncio.sleep(0.01)
            await delete_chunks(conn, gone)
            await add_vectors(conn, application_id, space, 5)
            found = await all_are_found(conn, application_id, space)
    indexed = await indexing

    assert found
    assert indexed == 55  # those that came meanwhile were moved afterwards
    assert (await count_fresh(conn), await count_indexed(conn)) == (0, 45)
    assert await all_are_found(conn, application_id, space)


async def test_two_models_are_built_one_after_the_other(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    other = await add_space(conn, name="other", dimension=16)
    await add_vectors(conn, application_id, space, 40)
    await add_vectors(conn, application_id, other, 40)

    assert await index_vectors(pool) == 80
    assert await indexes(conn) == {
        f"embeddings_hnsw_{space.id}_1": True,
        f"embeddings_hnsw_{other.id}_1": True,
    }


async def test_the_index_of_an_earlier_version_is_built_of_the_same_type(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    await conn.execute(
        "update rag.embedding_models set index_type = 'vector' where id = %s", [space.id]
    )
    await add_vectors(conn, application_id, space, 40)
    await index_vectors(pool)

    cursor = await conn.execute(
        "select indexdef from pg_indexes where indexname = %s", [f"embeddings_hnsw_{space.id}_1"]
    )
    [[definition]] = await cursor.fetchall()
    assert "embedding)::vector(8)" in definition
    assert await all_are_found(conn, application_id, space)


async def test_while_jobs_run_vectors_wait_until_a_build_pays(
    conn: Connection,
    pool: Pool,
    application_id: UUID,
    space: Space,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fresh_vectors, "_MOST_ROWS", 80)
    await add_vectors(conn, application_id, space, 40)
    await enqueue(conn, application_id)
    few = await index_vectors(pool)
    await add_vectors(conn, application_id, space, 20)
    enough = await index_vectors(pool)
    await complete(conn, await claim(conn))

    assert (few, enough) == (0, 60)
    assert await state(conn, space) == (1, None, 0)


@pytest.fixture
def shared_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.ticks.vector_indexer.shares_session", lambda _: True)


@pytest.mark.usefixtures("shared_sessions")
async def test_behind_a_pooler_nothing_is_built_and_what_was_begun_is_settled(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    await add_vectors(conn, application_id, space, 40)
    await begin(pool, space)
    await fresh_vectors.move(conn, space.id, limit=30)
    async with index_builds.lock(conn):
        still_built = await index_vectors(pool)
        kept = await state(conn, space)
    settled = await index_vectors(pool)

    assert (still_built, kept) == (0, (0, 1, 1))
    assert settled == 30
    assert await index_vectors(pool) == 10
    assert await state(conn, space) == (0, None, 0)
    assert await indexes(conn) == {f"embeddings_hnsw_{space.id}": True}
    assert await all_are_found(conn, application_id, space)
