"""The file handler on a real Postgres: what is stored, reused, kept, refused."""

import asyncio
import hashlib
from typing import Any
from uuid import UUID

import numpy as np

from ingest.errors import Transient
from ingest.page_words import PageWords
from ingest.postgres.database import Connection, Pool
from ingest.store.embeddings import embedding_models
from tests.support.fake_embedder import FakeEmbedder
from tests.support.file_fixtures import House
from tests.support.queue_builders import add_application, source_row
from tests.support.running_worker import until


async def _under_way(house: House) -> int:
    return house.embedder.under_way


async def _rows(conn: Connection, query: Any, *values: Any) -> list[Any]:
    return await (await conn.execute(query, values)).fetchall()


async def test_each_vector_is_stored_with_the_text_it_was_made_of(
    house: House, conn: Connection, application_id: UUID
) -> None:
    await house.upload(application_id, "a.txt", "\n".join(f"line {n}" for n in range(23)))
    await house.run()

    rows = await _rows(
        conn,
        "select content, embedding from rag.chunks join rag.embeddings on chunk_id = id "
        "order by ordinal",
    )
    assert len(rows) == 23
    for content, vector in rows:
        stored = vector.to_numpy() if hasattr(vector, "to_numpy") else vector
        np.testing.assert_allclose(stored, house.embedder.vector(content), atol=1e-6)


async def test_completed_source_shows_its_searchable_counts(
    house: House, conn: Connection, application_id: UUID
) -> None:
    source = await house.upload(application_id, "a.txt", "one\ntwo")
    await house.run()

    row = await source_row(conn, source)
    assert (row["status"], row["chunk_count"], row["token_count"]) == ("completed", 2, 6)
    assert row["coverage"] == {
        "pages": 1,
        "withText": 1,
        "byOcr": 0,
        "empty": 0,
        "unread": 0,
        "failed": 0,
        "lost": [],
    }
    assert row["content_hash"] == hashlib.sha256(b"one\ntwo").digest()
    logged = await _rows(conn, "select stage from rag.job_logs order by id")
    assert [stage for (stage,) in logged] == ["extract", "chunk", "embed", "store"]


async def test_words_of_recognised_pages_are_those_of_the_stored_version(
    house: House, conn: Connection, application_id: UUID
) -> None:
    stored = "select page, words from rag.page_words order by page"
    house.parser.page_words = (
        PageWords(page=1, packed=b"one"),
        PageWords(page=3, packed=b"three"),
    )
    await house.upload(application_id, "a.tiff", "one\ntwo")
    await house.run()
    first = await _rows(conn, stored)
    house.parser.page_words = (PageWords(page=2, packed=b"two"),)
    await house.upload(application_id, "a.tiff", "another version")
    await house.run()

    assert first == [(1, b"one"), (3, b"three")]
    assert await _rows(conn, stored) == [(2, b"two")]
    await conn.execute("delete from rag.documents")
    assert await _rows(conn, stored) == []


async def test_refused_chunk_does_not_affect_other_chunks(
    house: House, conn: Connection, application_id: UUID
) -> None:
    house.embedder.refuses = {"line 5"}
    source = await house.upload(application_id, "a.txt", "\n".join(f"line {n}" for n in range(20)))
    await house.run()

    row = await source_row(conn, source)
    assert (row["status"], row["chunk_count"]) == ("partial", 20)
    assert await _rows(conn, "select count(*) from rag.embeddings") == [(19,)]
    [(missing,)] = await _rows(
        conn,
        "select content from rag.chunks where not exists "
        "(select 1 from rag.embeddings where chunk_id = id)",
    )
    assert missing == "line 5"


async def test_a_source_of_refused_chunks_only_is_never_completed(
    house: House, conn: Connection, application_id: UUID
) -> None:
    house.embedder.refuses = {"bad"}
    source = await house.upload(application_id, "a.txt", "bad")
    await house.run()

    row = await source_row(conn, source)
    assert (row["status"], row["error_code"]) == ("failed", "embedding_rejected")


async def test_vectors_of_the_wrong_dimension_are_never_stored(
    house: House, conn: Connection, application_id: UUID
) -> None:
    house.embedder.answers = [np.zeros((1, 16), np.float32)] * 3
    source = await house.upload(application_id, "a.txt", "one")
    await house.run()

    row = await source_row(conn, source)
    assert row["status"] == "pending"
    assert await _rows(conn, "select last_error_code from rag.processing_jobs") == [
        ("embedding_mismatch",)
    ]
    assert await _rows(conn, "select count(*) from rag.chunks") == [(0,)]


async def test_a_new_version_swaps_the_old_one_out(
    house: House, conn: Connection, application_id: UUID
) -> None:
    for version in range(5):
        await house.upload(application_id, "a.txt", f"version {version}\ncommon")
        await house.run()

    contents = await _rows(conn, "select content from rag.chunks order by ordinal")
    assert contents == [("version 4",), ("common",)]
    assert await _rows(conn, "select count(*) from rag.documents") == [(1,)]


async def test_equal_text_is_embedded_once_per_application(
    house: House, conn: Connection, application_id: UUID
) -> None:
    first = await house.upload(application_id, "a.txt", "one\ntwo")
    await house.run()
    paid = house.embedder.calls
    second = await house.upload(application_id, "b/a.txt", "one\ntwo")
    finished = await house.run()

    assert house.embedder.calls == paid
    assert finished.ended.result is not None
    assert finished.ended.result["reusedVectors"] == 2
    assert (await source_row(conn, second))["duplicate_of"] == first
    assert await _rows(conn, "select count(distinct embedding::text) from rag.embeddings") == [(2,)]


async def test_vectors_of_another_application_are_never_reused(
    house: House, conn: Connection, application_id: UUID
) -> None:
    await house.upload(application_id, "a.txt", "secret")
    await house.run()
    await house.upload(await add_application(conn), "a.txt", "secret")
    await house.run()

    assert house.embedder.requests == [["secret"], ["secret"]]


async def test_only_the_requests_that_failed_are_made_again(
    house: House, conn: Connection, application_id: UUID
) -> None:
    lines = [f"line {n}" for n in range(40)]  # ten requests of four
    source = await house.upload(application_id, "a.txt", "\n".join(lines))
    house.embedder.failures = [None] * 6 + [Transient("no", code="embedding_unavailable")]
    finished = await house.run()
    assert finished.ended.status == "pending"
    paid = {text for request in house.embedder.requests[:6] for text in request}
    house.embedder.requests.clear()
    await conn.execute("update rag.processing_jobs set run_at = null")
    await house.run()

    again = [text for request in house.embedder.requests for text in request]
    assert set(again) == set(lines) - paid
    assert (await source_row(conn, source))["chunk_count"] == 40
    assert await _rows(conn, "select count(*) from rag.embedding_cache") == [(0,)]


async def test_no_transaction_is_open_during_embedding(
    house: House, conn: Connection, application_id: UUID
) -> None:
    house.embedder.gate = asyncio.Event()
    await house.upload(application_id, "a.txt", "one")
    running = asyncio.create_task(house.run())
    await until(lambda: _under_way(house))
    states = await _rows(
        conn,
        "select state from pg_stat_activity where backend_type = 'client backend' "
        "and pid <> pg_backend_pid() and state like 'idle in transaction%%'",
    )
    held = house.pool.connections.open.get_stats()
    house.embedder.gate.set()
    await running

    assert states == []
    assert held["pool_available"] == held["pool_size"]


async def test_two_models_keep_their_vectors_apart(
    house: House, conn: Connection, application_id: UUID, pool: Pool
) -> None:
    await house.upload(application_id, "a.txt", "one")
    await house.run()
    house.embedder = FakeEmbedder(dimension=16)
    async with pool.session() as registering, registering.transaction():
        house.model_id = await embedding_models.register(registering, house.embedder.model)
    await house.upload(application_id, "b.txt", "one")
    await house.run()

    dimensions = await _rows(
        conn, "select vector_dims(embedding) from rag.embeddings order by model_id"
    )
    assert dimensions == [(8,), (16,)]
    assert len(house.embedder.requests) == 1


async def test_a_file_embedded_with_another_model_is_not_unchanged(
    house: House, conn: Connection, application_id: UUID, pool: Pool
) -> None:
    source = await house.upload(application_id, "a.txt", "one")
    await house.run()
    house.embedder = FakeEmbedder(dimension=16)
    async with pool.session() as registering, registering.transaction():
        house.model_id = await embedding_models.register(registering, house.embedder.model)
    await house.upload(application_id, "a.txt", "one")
    await house.run()

    assert (await source_row(conn, source))["embedding_model_id"] == house.model_id
    assert await _rows(conn, "select vector_dims(embedding) from rag.embeddings") == [(16,)]
