"""Chunk settings change, and what is stored is cut again: from its text, one document at a time."""

from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from ingest.postgres.database import Connection
from ingest.store.sources import source_control
from tests.db.documents.reprocessing.rechunk_fixtures import (
    RechunkHouse,
    add_document,
    queued,
    rows,
    sizes,
)
from tests.support.queue_builders import source_row


async def test_a_source_is_cut_again_from_its_text_without_a_parser_or_a_known_vector(
    rechunker: RechunkHouse, conn: Connection, application_id: UUID
) -> None:
    source_id = await rechunker.add(application_id, "a.txt", 250)
    calls = rechunker.parser.calls
    embedded = rechunker.embedder.tokens

    await rechunker.set_of_source(application_id, source_id, size=50)
    before = await source_row(conn, source_id)
    finished = await rechunker.rechunk()

    assert await sizes(conn, source_id) == [50, 50, 50, 50, 50]
    assert rechunker.parser.calls == calls
    assert rechunker.embedder.tokens - embedded == 200  # the last 50 words were a chunk before
    assert finished.ended.result == {
        "documents": 1,
        "chunks": 5,
        "reusedVectors": 1,
        "changedMeanwhile": 0,
    }
    after = await source_row(conn, source_id)
    assert (before["status"], after["status"]) == ("completed", "completed")
    assert (before["chunk_count"], after["chunk_count"], after["token_count"]) == (3, 5, 250)
    assert after["current_job_id"] == before["current_job_id"]


async def test_rechunked_document_records_settings_and_vectors(
    rechunker: RechunkHouse, conn: Connection, application_id: UUID
) -> None:
    source_id = await rechunker.add(application_id, "a.txt", 250)
    await rechunker.set_of_source(application_id, source_id, size=50, overlap=10, by="row")
    await rechunker.rechunk()

    [(settings, count)] = await rows(conn, "select chunking, chunk_count from rag.documents")
    assert settings == {"tokenizer": "cl100k_base", "size": 50, "overlap": 10, "by": "row"}
    assert count == 5
    vectors = await rows(
        conn,
        "select content, embedding from rag.chunks join rag.embeddings on chunk_id = id",
    )
    assert len(vectors) == 5
    for content, vector in vectors:
        stored = vector.to_numpy() if hasattr(vector, "to_numpy") else vector
        assert stored == pytest.approx(rechunker.embedder.vector(content), abs=1e-6)


async def test_pages_of_a_stored_document_end_its_chunks(
    rechunker: RechunkHouse, conn: Connection, application_id: UUID
) -> None:
    source_id = await rechunker.add(application_id, "a.txt", 60)
    [(text,)] = await rows(conn, "select text from rag.documents")
    middle = text.index("a20")
    pages = [[1, 0, middle - 1], [2, middle, len(text)]]
    await conn.execute("update rag.documents set pages = %s", [Jsonb(pages)])

    await rechunker.set_of_source(application_id, source_id, by="page")
    await rechunker.rechunk()

    assert await sizes(conn, source_id) == [20, 40]


async def test_an_application_has_only_those_sources_cut_again_that_it_changes(
    rechunker: RechunkHouse, conn: Connection, application_id: UUID
) -> None:
    usual = await rechunker.add(application_id, "usual.txt", 150)
    own = await rechunker.add(application_id, "own.txt", 150)
    partly = await rechunker.add(application_id, "partly.txt", 150)
    await rechunker.set_of_source(application_id, own, size=64)
    await rechunker.set_of_source(application_id, partly, overlap=1)
    for _ in range(2):
        await rechunker.rechunk()

    await rechunker.set_of_application(application_id, size=50)

    assert await queued(conn) == [usual, partly]
    for _ in range(2):
        await rechunker.rechunk()
    assert await sizes(conn, usual) == [50, 50, 50]
    assert await sizes(conn, own) == [64, 64, 22]


async def test_unchanged_chunk_settings_queue_nothing(
    rechunker: RechunkHouse, conn: Connection, application_id: UUID
) -> None:
    source_id = await rechunker.add(application_id, "a.txt", 50)

    await rechunker.set_of_source(application_id, source_id, size=100, by="heading")
    await rechunker.set_of_application(application_id, size=50)
    await rechunker.set_of_source(application_id, source_id, size=100)

    assert await queued(conn) == []


async def test_pending_rechunk_is_reused_but_running_one_is_followed_by_another(
    rechunker: RechunkHouse, conn: Connection, application_id: UUID
) -> None:
    source_id = await rechunker.add(application_id, "a.txt", 50)
    await rechunker.set_of_source(application_id, source_id, size=40)
    await rechunker.set_of_source(application_id, source_id, size=41)
    assert await queued(conn) == [source_id]

    await rechunker.take()
    await rechunker.set_of_source(application_id, source_id, size=42)

    assert await queued(conn) == [source_id]


async def test_a_refused_text_makes_the_source_partial_and_its_return_completes_it(
    rechunker: RechunkHouse, conn: Connection, application_id: UUID
) -> None:
    source_id = await rechunker.add(application_id, "a.txt", 120)
    rechunker.embedder.refuses = {" ".join(f"a{number}" for number in range(50))}
    await rechunker.set_of_source(application_id, source_id, size=50)
    await rechunker.rechunk()
    partial = await source_row(conn, source_id)

    await rechunker.set_of_source(application_id, source_id, size=60)
    await rechunker.rechunk()

    assert partial["status"] == "partial"
    assert (await source_row(conn, source_id))["status"] == "completed"


async def test_held_document_is_rechunked_but_not_counted(
    rechunker: RechunkHouse, conn: Connection, application_id: UUID
) -> None:
    source_id = await rechunker.add(application_id, "a.txt", 120)
    await add_document(conn, source_id, "held:1")
    await conn.execute(
        "update rag.documents set held_by_job_id = gen_random_uuid(), deleted_at = now() "
        "where uri = 'held:1'"
    )
    await rechunker.set_of_source(application_id, source_id, size=50)

    await rechunker.rechunk()

    assert (await source_row(conn, source_id))["chunk_count"] == 3
    counts = await rows(conn, "select chunk_count from rag.documents")
    assert counts == [(3,), (3,)]


async def test_a_renamed_file_without_a_title_is_embedded_with_its_name(
    rechunker: RechunkHouse, conn: Connection, application_id: UUID
) -> None:
    source_id = await rechunker.add(application_id, "scan01.txt", 60)
    before = await rows(conn, "select embedded_hash from rag.chunks")

    async with conn.transaction():
        await source_control.edit(
            conn, application_id=application_id, id=source_id, name="Heron manual", metadata=None
        )
    await rechunker.rechunk()

    assert rechunker.embedder.requests[-1][0].startswith("Heron manual\n\n")
    assert await rows(conn, "select embedded_hash from rag.chunks") != before
    assert await sizes(conn, source_id) == [60]
    assert await queued(conn) == []
