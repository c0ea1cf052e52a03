"""Terms made anew: of earlier versions, of renamed files, with faults in between."""

import asyncio
from uuid import UUID

import pytest

from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.documents import chunk_terms
from ingest.store.search.scope import SearchScope
from ingest.store.sources import source_control, sources
from ingest.ticks import term_indexer
from ingest.ticks.term_indexer import index_terms
from tests.support.searchable_chunks import add_document, add_space, found_by_words


async def forget_terms(conn: Connection) -> None:
    """As after an upgrade."""
    await conn.execute("update rag.chunks set words = '{}', grams = '{}'")
    await conn.execute("update rag.documents set terms_indexed = false, language = null")


async def hits(conn: Connection, application_id: UUID, query: str) -> int:
    return len(await found_by_words(conn, SearchScope(application_id=application_id), query))


async def test_chunks_of_an_earlier_version_are_found_again(
    conn: Connection, pool: Pool, application_id: UUID
) -> None:
    space = await add_space(conn)
    text = "The pumps are cleaned every week by two people."
    await add_document(conn, application_id, space, [text], title="Heron", sender="Ada Novak")
    before = await conn.execute("select words, grams from rag.chunks")
    wanted = await before.fetchall()
    await forget_terms(conn)

    indexed = await index_terms(pool)

    assert indexed == 1
    assert await (await conn.execute("select words, grams from rag.chunks")).fetchall() == wanted
    assert [await hits(conn, application_id, query) for query in ("pump", "heron", "novak")] == [
        *(1, 1, 1)
    ]
    assert await index_terms(pool) == 0


async def test_a_renamed_file_is_found_by_its_new_name(
    conn: Connection, pool: Pool, application_id: UUID
) -> None:
    space = await add_space(conn)
    source = await add_document(conn, application_id, space, ["changed after 200 hours"])
    await conn.execute(
        "update rag.documents set uri = (select uri from rag.knowledge_sources where id = %s)",
        [source],
    )

    async with conn.transaction():
        await source_control.edit(
            conn, application_id=application_id, id=source, name="Kestrel manual", metadata=None
        )
    await index_terms(pool)

    assert await hits(conn, application_id, "kestrel") == 1


async def test_a_document_that_is_being_replaced_is_left_for_later(
    conn: Connection, pool: Pool, application_id: UUID
) -> None:
    space = await add_space(conn)
    source = await add_document(conn, application_id, space, ["an owl"])
    await forget_terms(conn)
    async with conn.transaction():
        await sources.lock(conn, [source])
        assert await index_terms(pool) == 0

    assert await index_terms(pool) == 1


async def test_two_processes_index_each_document_once(
    conn: Connection, pool: Pool, application_id: UUID
) -> None:
    space = await add_space(conn)
    for number in range(6):
        await add_document(conn, application_id, space, [f"owl {number}"])
    await forget_terms(conn)

    indexed = await asyncio.gather(index_terms(pool), index_terms(pool))

    assert sum(indexed) == 6
    assert await hits(conn, application_id, "owl") == 6


async def test_a_fault_in_the_middle_leaves_the_document_to_the_next_run(
    conn: Connection, pool: Pool, application_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = await add_space(conn)
    await add_document(conn, application_id, space, ["an owl"])
    await forget_terms(conn)

    async def broken(*_: object, **__: object) -> None:
        raise ConnectionError

    with monkeypatch.context() as patched:
        patched.setattr(chunk_terms, "write", broken)
        with pytest.raises(ConnectionError):
            await index_terms(pool)
    async with transaction(pool) as other:
        assert await chunk_terms.lock_next(other) is not None

    assert await index_terms(pool) == 1


async def test_a_document_that_cannot_be_indexed_does_not_stop_the_others(
    conn: Connection, pool: Pool, application_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = await add_space(conn)
    await add_document(conn, application_id, space, ["poison"])
    await add_document(conn, application_id, space, ["an owl"])
    await forget_terms(conn)
    detect = term_indexer.detect  # type: ignore[attr-defined]  # imported there

    def broken(text: str) -> str | None:
        if text == "poison":
            raise IndexError
        found: str | None = detect(text)
        return found

    monkeypatch.setattr(term_indexer, "detect", broken)

    assert await index_terms(pool) == 2
    assert await hits(conn, application_id, "owl") == 1
