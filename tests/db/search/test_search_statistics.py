"""What searches remember may be out of date, and nothing is missed for it."""

from typing import Any
from uuid import UUID

import pytest

from ingest.postgres.database import Connection
from ingest.search import statistics as cache
from ingest.search.search import Matches, by_words
from ingest.search.statistics import SearchStatistics
from ingest.store.search.keyword_search import WordShares
from ingest.store.search.scope import SearchScope
from tests.support.searchable_chunks import Space, add_document, add_space, nearest, searching


@pytest.fixture
async def space(conn: Connection) -> Space:
    return await add_space(conn)


async def owls(conn: Connection, application_id: UUID, statistics: SearchStatistics) -> Matches:
    scope = SearchScope(application_id=application_id)
    async with searching(conn, application_id):
        return await by_words(conn, scope, "owl", statistics, limit=9, enough=9, ranked=9)


async def test_stale_size_hint_loses_no_hits(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, ["owl", "fox", "hen"])
    statistics = SearchStatistics()
    statistics.note(application_id, space.id, is_large=True)
    scope = SearchScope(application_id=application_id)

    found = await nearest(conn, scope, space, space.clustered(1)[0], statistics=statistics)

    assert len(found) == 3
    assert not statistics.is_large(application_id, space.id)


async def test_statistics_of_words_are_read_once_in_a_while(
    conn: Connection, application_id: UUID, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_document(conn, application_id, space, ["owl by night", "fox by day"])
    await conn.execute("analyze rag.chunks")
    statistics = SearchStatistics()
    kept = WordShares(common={}, rare=0.5)
    statistics.keep(kept)

    async def shares_after_a_search() -> WordShares | None:
        await owls(conn, application_id, statistics)
        return statistics.shares

    assert await shares_after_a_search() is kept
    monkeypatch.setattr(cache, "_KEPT_SECONDS", 0.0)
    await shares_after_a_search()
    monkeypatch.undo()

    assert statistics.shares is not None
    assert statistics.shares.of("owl") == pytest.approx(0.5)
    assert statistics.shares.of("crane") == pytest.approx(0.25)


async def test_no_statement_of_a_search_takes_longer_than_five_seconds(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    for scope in (
        SearchScope(application_id=application_id),
        SearchScope(application_id=application_id, source_ids=[]),
    ):
        async with conn.transaction():
            await nearest(conn, scope, space, space.clustered(1)[0])
            cursor = await conn.execute("show statement_timeout")
            assert await cursor.fetchone() == ("5s",)


async def test_index_is_built_with_the_configured_quality(conn: Connection, space: Space) -> None:
    assert await _options(conn, space) == ["m=16", "ef_construction=256"]


async def _options(conn: Connection, space: Space) -> Any:
    cursor = await conn.execute(
        "select reloptions from pg_class where relname = %s", [f"embeddings_hnsw_{space.id}"]
    )
    [(options,)] = await cursor.fetchall()
    return options


async def test_no_word_statistics_if_no_chunk_has_words(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, ["!!! ???", "..."])
    await conn.execute("analyze rag.chunks")
    statistics = SearchStatistics()

    found = await owls(conn, application_id, statistics)

    assert found.in_order() == []
    assert statistics.shares is None
