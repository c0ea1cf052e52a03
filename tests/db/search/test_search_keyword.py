"""Search by keyword finds words and phrases in any language, and takes any query."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.postgres.database import Connection
from ingest.search.search import Matches, by_words
from ingest.search.statistics import SearchStatistics
from ingest.search.terms import RatedTerm, looser_and_looser
from ingest.store.search.scope import SearchScope
from ingest.store.sources import sources
from tests.support.searchable_chunks import Space, add_document, add_space, searching, texts


@pytest.fixture
async def space(conn: Connection) -> Space:
    return await add_space(conn)


async def matching(
    conn: Connection, scope: SearchScope, query: str, *, limit: int, ranked: int = 1000
) -> Matches:
    async with searching(conn, scope.application_id):
        return await by_words(
            conn, scope, query, SearchStatistics(), limit=limit, enough=limit, ranked=ranked
        )


async def keyword(conn: Connection, application_id: UUID, query: str, limit: int = 10) -> list[str]:
    found = await matching(conn, SearchScope(application_id=application_id), query, limit=limit)
    return await texts(conn, [hit.id for hit in found.in_order()])


async def test_the_first_sentence_of_a_document_finds_it(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    sentence = (
        'The "quick" brown fox - or was it -5 hounds? - jumped; it isn\'t (really) lazy & old!'
    )
    await add_document(conn, application_id, space, ["Foxes are brown.", "Hounds are old or lazy."])
    await add_document(conn, application_id, space, [f"{sentence} And then it rained all day."])

    found = await keyword(conn, application_id, sentence)

    assert found[0].startswith(sentence)


async def test_chunks_with_all_words_come_before_those_with_some(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(
        conn, application_id, space, ["solar solar solar", "wind and solar power", "coal"]
    )
    found = await matching(
        conn, SearchScope(application_id=application_id), "solar wind", limit=5, ranked=100
    )

    assert await texts(conn, [hit.id for hit in found.in_order()]) == [
        "wind and solar power",
        "solar solar solar",
    ]
    assert found.in_order()[0].score > 1 > found.in_order()[1].score > 0


async def test_a_phrase_in_quotes_is_found_before_its_scattered_words(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(
        conn, application_id, space, ["layer upon boundary", "the boundary layer grows"]
    )

    found = await keyword(conn, application_id, '"boundary layer"', limit=1)

    assert found == ["the boundary layer grows"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("大学", "東京大学は本郷にある。"),
        ("本郷 東京", "東京大学は本郷にある。"),
        ("北京烤鸭", "北京烤鸭很好吃"),
        ("烤鸭在哪里", "北京烤鸭很好吃"),
        ("한국어", "한국어를 배웁니다"),
        ("PDF 読む", "PDFを読む方法"),
        ("𠮷野家", "𠮷野家で食べる"),
    ],
)
async def test_words_are_found_in_languages_without_spaces(
    conn: Connection, application_id: UUID, space: Space, query: str, expected: str
) -> None:
    everything = [
        "東京大学は本郷にある。",
        "北京烤鸭很好吃",
        "한국어를 배웁니다",
        "PDFを読む方法",
        "𠮷野家で食べる",
        "京東学大",
    ]
    await add_document(conn, application_id, space, everything)

    found = await keyword(conn, application_id, query)

    assert found[0] == expected


async def test_characters_in_another_order_are_another_word(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, ["京東学大"])

    assert await keyword(conn, application_id, "東京") == []


@pytest.mark.parametrize(
    "query",
    [
        "\0\0",
        "!!! ... ???",
        "the of and",
        "a & | ! : * <-> () ''",
        '"unterminated',
        "\\ ' \\' :*A",
        "x" * 8000,
        "word " * 1600,
        "東" * 4000,
        '"' * 500,
        "or or or -",
        "\ud800",
        "https://example.com/a?b=c&d=%20 user@example.com /etc/passwd -- ; drop table",
    ],
    ids=lambda query: repr(query[:12]),
)
async def test_no_query_is_an_error(
    conn: Connection, application_id: UUID, space: Space, query: str
) -> None:
    await add_document(conn, application_id, space, ["some text"])

    assert await keyword(conn, application_id, query) == []


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    query=st.text(
        alphabet=st.characters() | st.sampled_from("'\"\\&|!:*()<>- 東京"), min_size=1, max_size=80
    )
)
async def test_random_queries_raise_no_errors(
    conn: Connection, application_id: UUID, query: str
) -> None:
    await keyword(conn, application_id, query)


async def test_a_word_in_every_chunk_does_not_hide_the_telling_one(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    common = [f"report of everything number {n}" for n in range(600)]
    await add_document(conn, application_id, space, [*common, "report mentions a heron"])
    await conn.execute("analyze rag.chunks")

    found = await matching(
        conn,
        SearchScope(application_id=application_id),
        "which report has herons and zebras",
        limit=5,
        ranked=100,
    )

    assert await texts(conn, [hit.id for hit in found.in_order()]) == ["report mentions a heron"]


async def test_a_rare_word_weighs_more_than_a_common_one(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    common = [f"wing number {n}" for n in range(50)]
    await add_document(
        conn,
        application_id,
        space,
        [*common, "wing wing flutter", "ornithopter flutter seen near Berlin yesterday"],
    )
    await conn.execute("analyze rag.chunks")

    found = await keyword(conn, application_id, "wing flutter of an ornithopter and more", limit=3)

    assert found[0] == "ornithopter flutter seen near Berlin yesterday"


async def test_a_short_chunk_about_something_beats_a_long_one_that_mentions_it(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(
        conn, application_id, space, ["a heron " + "and more " * 60, "a heron sings"]
    )
    await conn.execute("update rag.chunks set token_count = length(content)")

    found = await matching(
        conn, SearchScope(application_id=application_id), "heron", limit=2, ranked=9
    )
    short, rambling = found.with_all

    assert await texts(conn, [short.id]) == ["a heron sings"]
    assert short.score > 2 * rambling.score


async def test_term_frequency_saturates(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    often = ["owl", "owl owl", "owl owl owl owl owl owl owl owl", "heron"]
    await add_document(conn, application_id, space, often)

    found = await matching(
        conn, SearchScope(application_id=application_id), "owl", limit=9, ranked=9
    )
    scores = [hit.score for hit in found.with_all]

    # BM25 with k1 = 1.2 and chunks of equal length.
    bm25 = [times / (times + 1.2) for times in (8, 2, 1)]
    assert [score / scores[-1] for score in scores] == pytest.approx(
        [value / bm25[-1] for value in bm25]
    )


async def test_missing_words_do_not_change_the_score(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, ["owl by night", "fox"])
    scope = SearchScope(application_id=application_id)

    alone, among = [
        await matching(conn, scope, query, limit=1, ranked=9)
        for query in ("owl", "owl heron stork crane")
    ]

    assert alone.with_all[0].score == among.with_some[0].score


async def test_only_hasty_search_returns_deleted_candidates(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    source = await add_document(conn, application_id, space, ["owl"])
    await sources.tombstone(conn, application_id=application_id, ids=[source])
    careful = SearchScope(application_id=application_id)

    with_care, in_haste = [
        await matching(conn, scope, "owl", limit=1, ranked=9)
        for scope in (careful, replace(careful, is_hasty=True))
    ]

    assert not with_care.with_all
    assert len(in_haste.with_all) == 1


def test_only_rare_words_are_looked_up_in_the_index() -> None:
    shares = {"'rare'": 0.001, "'odd'": 0.002, "'usual'": 0.3, "'common'": 0.9}
    terms = [RatedTerm(*term) for term in shares.items()]

    strict, loose, loosest = looser_and_looser(terms, most=0.01)

    assert loosest == "'rare' | 'odd'"
    assert loose.startswith("('rare' & (('odd') | ('usual') | ('common'))) | ('odd' & ")
    assert strict.count("'usual' & 'common'") == 2
    assert not any("('usual' & (" in query for query in (strict, loose))


def test_a_query_of_one_word_asks_for_that_word() -> None:
    assert list(looser_and_looser([RatedTerm("'only'", 0.5)], most=0.01)) == ["'only'"]
