"""What searches remember may be out of date, and nothing is missed for it."""

from typing import Any
from uuid import UUID

import pytest

from ingest.postgres.database import Connection
from ingest.search import statistics as cache
from ingest.search.bm25 import Statistics
from ingest.search.keyword_ranking import WordQuestion
from ingest.search.statistics import SearchStatistics
from ingest.store.search.scope import SearchScope
from tests.support.searchable_chunks import (
    Space,
    add_document,
    found_by_words,
    nearest,
    searching,
)


async def owls(conn: Connection, application_id: UUID, statistics: SearchStatistics) -> Statistics:
    async with searching(conn, application_id):
        known = await statistics.of_words(conn, application_id)
    return WordQuestion.of("owl", known).statistics


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


async def test_statistics_of_a_small_application_are_exact_at_once(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    statistics = SearchStatistics()
    await add_document(conn, application_id, space, ["owl by night", "fox by day"])
    await owls(conn, application_id, statistics)
    await add_document(conn, application_id, space, ["owl again"])

    found = await owls(conn, application_id, statistics)

    assert found.chunks == 3
    assert found.found == [2]


async def test_statistics_of_a_large_application_are_estimated_and_kept_for_a_while(
    conn: Connection, application_id: UUID, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_SAMPLE", 200)
    monkeypatch.setattr(cache, "_KEPT_FROM", 100)
    texts = ["owl by night", *["fox by day"] * 3] * 250
    await add_document(conn, application_id, space, texts)
    now = [0.0]
    statistics = SearchStatistics(clock=lambda: now[0])

    first = await owls(conn, application_id, statistics)
    await add_document(conn, application_id, space, texts)
    kept = await owls(conn, application_id, statistics)
    now[0] = 60
    later = await owls(conn, application_id, statistics)

    assert first.chunks == pytest.approx(1000, rel=0.3)
    assert first.found[0] == pytest.approx(250, rel=0.5)
    assert kept.chunks == first.chunks
    assert later.chunks == pytest.approx(2000, rel=0.3)


async def test_languages_are_those_of_the_documents(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, ["The pump is cleaned every week by two men."])
    await add_document(conn, application_id, space, ["Die Pumpe wird jede Woche gereinigt."])
    await add_document(conn, application_id, space, ["Die Leitung wird jeden Monat entleert."])

    async with searching(conn, application_id):
        found = await SearchStatistics().of_words(conn, application_id)

    assert found.languages == ["de", "en"]


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


async def test_chunks_without_words_are_not_found(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, ["!!! ???", "..."])

    assert await found_by_words(conn, SearchScope(application_id=application_id), "owl") == []
