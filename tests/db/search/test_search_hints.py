"""What searches remember may be out of date, and nothing is missed for it."""

from typing import Any
from uuid import UUID

import pytest

from ingest.postgres.database import Connection
from ingest.postgres.migrations import load_migrations
from ingest.store.search import keyword_search, search_hints
from ingest.store.search.keyword_search import Matches
from ingest.store.search.search_hints import Hints, WordShares
from ingest.store.search.vector_search import Scope
from tests.support.searchable_chunks import Space, add_document, add_space, nearest


@pytest.fixture
async def space(conn: Connection) -> Space:
    return await add_space(conn)


async def owls(conn: Connection, application_id: UUID, hints: Hints) -> Matches:
    scope = Scope(application_id=application_id)
    async with conn.transaction():
        return await keyword_search.by_keyword(
            conn, scope, "owl", limit=9, enough=9, ranked=9, hints=hints
        )


async def test_stale_size_hint_loses_no_hits(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, ["owl", "fox", "hen"])
    hints = Hints()
    hints.note(application_id, space.id, is_large=True)
    scope = Scope(application_id=application_id)

    found = await nearest(conn, scope, space, space.clustered(1)[0], hints=hints)

    assert len(found) == 3
    assert not hints.is_large(application_id, space.id)


async def test_statistics_of_words_are_read_once_in_a_while(
    conn: Connection, application_id: UUID, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_document(conn, application_id, space, ["owl by night", "fox by day"])
    await conn.execute("analyze rag.chunks")
    hints = Hints()
    kept = WordShares(common={}, rare=0.5)
    hints.read(kept)

    async def shares_after_a_search() -> WordShares | None:
        await owls(conn, application_id, hints)
        return hints.shares

    assert await shares_after_a_search() is kept
    monkeypatch.setattr(search_hints, "_KEPT_SECONDS", 0.0)
    await shares_after_a_search()
    monkeypatch.undo()

    assert hints.shares is not None
    assert hints.shares.of("owl") == pytest.approx(0.5)
    assert hints.shares.of("crane") == pytest.approx(0.25)


async def test_no_statement_of_a_search_takes_longer_than_five_seconds(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    for scope in (
        Scope(application_id=application_id),
        Scope(application_id=application_id, source_ids=[]),
    ):
        async with conn.transaction():
            await nearest(conn, scope, space, space.clustered(1)[0])
            cursor = await conn.execute("show statement_timeout")
            assert await cursor.fetchone() == ("5s",)


async def test_index_is_built_with_the_configured_quality(conn: Connection, space: Space) -> None:
    assert await _options(conn, space) == ["m=16", "ef_construction=256"]


async def test_migration_raises_ef_construction_of_existing_indexes(
    conn: Connection, space: Space
) -> None:
    index = f"rag.embeddings_hnsw_{space.id}"
    await conn.execute(f"alter index {index} reset (m, ef_construction)".encode())
    assert not await _options(conn, space)
    [migration] = [migration for migration in load_migrations() if migration.name == "recall"]

    await conn.execute(migration.sql)

    assert await _options(conn, space) == ["ef_construction=256"]


async def _options(conn: Connection, space: Space) -> Any:
    cursor = await conn.execute(
        "select reloptions from pg_class where relname = %s", [f"embeddings_hnsw_{space.id}"]
    )
    [(options,)] = await cursor.fetchall()
    return options


async def test_where_no_chunk_has_words_there_are_no_statistics_of_them(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, ["!!! ???", "..."])
    await conn.execute("analyze rag.chunks")
    hints = Hints()

    found = await owls(conn, application_id, hints)

    assert found.in_order() == []
    assert hints.shares is None
