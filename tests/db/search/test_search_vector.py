"""Search by vector: exactly enough, by index or one by one."""

from uuid import UUID, uuid4

import numpy as np
import pytest
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import sql

from harness.patience import AGES
from ingest.postgres.database import Connection
from ingest.search import vector_ranking
from ingest.search.statistics import SearchStatistics
from ingest.search.vector_ranking import by_meaning
from ingest.store.search import vector_search
from ingest.store.search.scope import SearchScope
from ingest.store.search.vector_search import SearchedIndex, VectorQuery
from tests.support.queue_builders import add_application
from tests.support.searchable_chunks import Space, add_document, add_space, nearest, texts
from tests.support.vector_index import index_all

FIRST = SearchedIndex("halfvec", 0)
# Above what is compared one by one: such a search goes through the index.
DIMENSION = 256
MANY = vector_ranking._EXACT_NUMBERS // DIMENSION + 1


async def fill(conn: Connection, application_id: UUID, space: Space, count: int) -> None:
    """Chunks with vectors only. The index is built when they are in: that is 20 times faster."""
    await add_document(conn, application_id, space, ["seed"])
    async with conn.transaction():
        cursor = await conn.execute(
            "select indexdef from pg_indexes where indexname = %s", [f"embeddings_hnsw_{space.id}"]
        )
        row = await cursor.fetchone()
        assert row is not None
        await conn.execute(f"drop index rag.embeddings_hnsw_{space.id}".encode())
        await conn.execute("create temp table new (id uuid, embedding vector) on commit drop")
        async with conn.cursor() as cur, cur.copy("copy new from stdin (format binary)") as copy:
            copy.set_types(["uuid", "vector"])
            for vector in space.clustered(count):
                await copy.write_row((uuid4(), vector))
        await conn.execute(
            "insert into rag.chunks (id, application_id, source_id, document_id, ordinal, content, "
            "embedded_hash, token_count, char_start, char_end, section_start, section_end) "
            "select new.id, application_id, source_id, document_id, row_number() over (), '', '', "
            "1, 0, 0, 0, 0 from new cross join "
            "(select * from rag.chunks where application_id = %s limit 1) as seed",
            [application_id],
        )
        await conn.execute(
            "insert into rag.embeddings (chunk_id, model_id, application_id, embedding) "
            "select id, %s, %s, embedding from new",
            [space.id, application_id],
        )
        await conn.execute(row[0])
    await conn.execute("analyze rag.embeddings")
    await conn.execute("analyze rag.chunks")


async def index_is_used(
    conn: Connection,
    application_id: UUID,
    space: Space,
    vector: NDArray[np.float32],
    index: SearchedIndex = FIRST,
) -> bool:
    query = VectorQuery(
        scope=SearchScope(application_id=application_id),
        model_id=space.id,
        vector=vector,
        limit=10,
    )
    statement, parameters = vector_search.indexed_statement(query, index)
    cursor = await conn.execute(
        sql.SQL("explain ") + statement, {**query.parameters(), **parameters}, prepare=False
    )
    return any(f"embeddings_hnsw_{space.id}" in row[0] for row in await cursor.fetchall())


async def test_a_large_application_is_searched_by_its_index_and_little_is_missed(
    conn: Connection, application_id: UUID
) -> None:
    space = await add_space(conn, dimension=DIMENSION)
    await fill(conn, application_id, space, MANY)
    queries = space.clustered(20)

    found = exact = 0
    for query in queries:
        mine = await nearest(conn, SearchScope(application_id=application_id), space, query)
        cursor = await conn.execute(
            "select chunk_id from rag.embeddings order by embedding <=> %s limit 10",
            [Vector(query)],
        )
        best = {row[0] for row in await cursor.fetchall()}
        found += len(best & set(mine))
        exact += len(best)

    assert await index_is_used(conn, application_id, space, queries[0])
    assert found / exact >= 0.95


async def has_iterative_scan(conn: Connection) -> bool:
    """Whether pgvector is 0.8 or later; else the search goes through all vectors of a filter."""
    cursor = await conn.execute(
        "select string_to_array(extversion, '.')::integer[] >= array[0, 8]"
        " from pg_extension where extname = 'vector'"
    )
    return await cursor.fetchone() == (True,)


async def test_a_tiny_application_gets_its_hits_among_many_foreign_vectors(
    conn: Connection, application_id: UUID
) -> None:
    space = await add_space(conn, dimension=16)
    await fill(conn, await add_application(conn), space, 8_000)
    await add_document(conn, application_id, space, [f"mine {n}" for n in range(12)])
    await index_all(conn)
    scope = SearchScope(application_id=application_id)
    query = space.clustered(1)[0]

    compared = await nearest(conn, scope, space, query)
    async with conn.transaction():
        nearby = VectorQuery(scope=scope, model_id=space.id, vector=query, limit=10)
        await by_meaning(conn, nearby, SearchStatistics())  # which configures the transaction
        # The planner would rather sort so few; a larger application has only the index.
        await conn.execute("set local enable_sort = off")
        uses_index = await index_is_used(conn, application_id, space, query)
        by_index = await vector_search.nearest_by_index(conn, nearby, FIRST)

    assert uses_index
    assert len(compared) == 10
    if await has_iterative_scan(conn):
        assert [hit.id for hit in by_index] == compared
    assert all(text.startswith("mine") for text in await texts(conn, compared))


async def test_the_index_of_a_model_of_an_earlier_version_is_used(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    index = f"embeddings_hnsw_{space.id}"
    dimension = space.clustered(1).shape[1]
    await conn.execute(f"drop index rag.{index}".encode())
    await conn.execute(
        f"create index {index} on rag.embeddings using hnsw "
        f"((embedding::vector({dimension})) vector_cosine_ops) where model_id = {space.id}".encode()
    )
    await conn.execute(
        "update rag.embedding_models set index_type = 'vector' where id = %s", [space.id]
    )
    await add_document(conn, application_id, space, [f"text {n}" for n in range(20)])
    await index_all(conn)
    scope = SearchScope(application_id=application_id)
    query = VectorQuery(scope=scope, model_id=space.id, vector=space.clustered(1)[0], limit=10)
    compared = await nearest(conn, scope, space, query.vector)

    async with conn.transaction():
        begun = await vector_search.begin(
            conn,
            query,
            statement_timeout=AGES,
            ef_search=250,
        )
        await conn.execute("set local enable_sort = off")
        by_index = await vector_search.nearest_by_index(conn, query, begun.model_index)
        uses_index = await index_is_used(
            conn, application_id, space, query.vector, begun.model_index
        )

    assert uses_index
    assert [hit.id for hit in by_index] == compared


async def test_hits_come_nearest_first_with_their_similarity(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    query = np.eye(8, dtype=np.float32)[0]
    vectors = np.array([[1, t, 0, 0, 0, 0, 0, 0] for t in (0, 3, 1)], dtype=np.float32)
    await add_document(conn, application_id, space, ["same", "far", "near"], vectors=vectors)
    async with conn.transaction():
        scope = SearchScope(application_id=application_id)
        found = await by_meaning(
            conn,
            VectorQuery(scope=scope, model_id=space.id, vector=query, limit=10),
            SearchStatistics(),
        )

    assert await texts(conn, [hit.id for hit in found]) == ["same", "near", "far"]
    assert [hit.score for hit in found] == pytest.approx([1, 1 / 2**0.5, 1 / 10**0.5], abs=1e-4)


async def test_two_models_side_by_side_do_not_mix(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    wide = await add_space(conn, name="wider", dimension=2500)
    await add_document(conn, application_id, space, ["narrow"])
    await add_document(conn, application_id, wide, ["wide"])
    scope = SearchScope(application_id=application_id)

    by_narrow = await nearest(conn, scope, space, space.clustered(1)[0])
    by_wide = await nearest(conn, scope, wide, wide.clustered(1)[0])

    assert await texts(conn, by_narrow) == ["narrow"]
    assert await texts(conn, by_wide) == ["wide"]


async def test_a_wide_model_is_indexed_as_half_vectors(
    conn: Connection, application_id: UUID
) -> None:
    wide = await add_space(conn, name="wider", dimension=2500)
    query = wide.clustered(1)[0]
    await conn.execute("set enable_seqscan = off")
    await conn.execute("set enable_sort = off")

    assert await index_is_used(conn, application_id, wide, query)
