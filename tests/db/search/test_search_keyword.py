"""Search by keyword finds words and phrases in any language, and takes any query."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.postgres.database import Connection
from ingest.store.search.scope import SearchScope
from ingest.store.sources import sources
from tests.db.search.keyword_hits import keyword
from tests.support.searchable_chunks import Space, add_document, found_by_words


async def test_the_first_sentence_of_a_document_finds_it(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    sentence = "The quick brown fox - or was it 5 hounds? - jumped; it isn't (really) lazy & old!"
    await add_document(conn, application_id, space, ["Foxes are brown.", "Hounds are old or lazy."])
    await add_document(conn, application_id, space, [f"{sentence} And then it rained all day."])

    found = await keyword(conn, application_id, sentence)

    assert found[0].startswith(sentence)


async def test_a_phrase_in_quotes_is_in_every_hit(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(
        conn, application_id, space, ["layer upon boundary", "the boundary layer grows"]
    )

    assert await keyword(conn, application_id, '"boundary layer" grows upon') == [
        "the boundary layer grows"
    ]


async def test_a_phrase_of_common_words_is_found(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    apart = [f"wing number {n} and tail" for n in range(300)]
    await add_document(conn, application_id, space, [*apart, "the wing tail joint"])

    assert await keyword(conn, application_id, '"wing tail"', most=50) == ["the wing tail joint"]


async def test_an_excluded_word_or_phrase_is_in_no_hit(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(
        conn, application_id, space, ["owl by day", "owl by night", "night owl by day"]
    )

    assert await keyword(conn, application_id, "owl -night") == ["owl by day"]
    assert set(await keyword(conn, application_id, 'owl -"night owl"')) == {
        "owl by day",
        "owl by night",
    }


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
        ("郷", "東京大学は本郷にある。"),
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
    ("text", "query"),
    [
        ("ERR-4711: pump stopped", "4711"),
        ("ERR-4711: pump stopped", "ERR 4711"),
        ("ERR-4711: pump stopped", "err4711"),
        ("fixes CVE-2024-12345", "12345"),
        ("fixes CVE-2024-12345", "cve-2024-12345"),
        ("def getUserById(self):", "get user by id"),
        ("def get_user_by_id(self):", "getUserById"),
        ("edit /etc/ntp/daemon.conf first", "daemon.conf"),
        ("edit /etc/ntp/daemon.conf first", "daemon"),
        ("certified by ISO27001", "iso 27001"),
        ("certified by ISO 27001", "ISO27001"),
        ("a line of AT&T", "AT&T"),
        ("write to jane.doe@example.org", "example.org"),
        ("write to jane.doe@example.org", "jane.doe@example.org"),
        ("version 1.23.4 is out", "1.23.4"),
        ("written in C++", "c++"),
        ("the WHO says", "WHO"),
        ("to be or not to be", "to be or not to be"),
        ("Straße nach Köln", "strasse"),
        ("Straße nach Köln", "koeln"),
        ("die Pruefung", "Prüfung"),
        ("ＡＢＣ－１２３４", "ABC-1234"),
        ("ｺﾝﾋﾟｭｰﾀｰ", "コンピューター"),
        ("ёлка стоит", "елка"),
        ("漢語大詞典", "汉语"),
        ("the café is open", "cafe"),
        ("the oﬃce is open", "office"),
        ("كَتَبَ الطالب", "كتب"),
    ],
)
async def test_spellings_and_parts_of_identifiers_are_found(
    conn: Connection, application_id: UUID, space: Space, text: str, query: str
) -> None:
    others = ["a pump ran dry", "nothing to see", "IT departments", "12 and 3"]
    await add_document(conn, application_id, space, [text, *others])

    found = await keyword(conn, application_id, query)

    assert found[0] == text


@pytest.mark.parametrize("query", ["kündigen", "pruefung", "Fristen", "Wochenende"])
async def test_compounds_and_inflections_are_found_by_their_letters(
    conn: Connection, application_id: UUID, space: Space, query: str
) -> None:
    text = "Die Kündigungsfrist beträgt vier Wochen. Die Prüfsumme steht auf der letzten Seite."
    await add_document(conn, application_id, space, [text])
    await add_document(conn, application_id, space, ["Das Wasser wird jeden Morgen gewechselt."])

    assert await keyword(conn, application_id, query) == [text]


async def test_another_number_is_not_found(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, ["version 12.34", "article 47112"])

    assert await keyword(conn, application_id, "1.234") == []
    assert await keyword(conn, application_id, "4711") == []


@pytest.mark.parametrize(
    "query",
    [
        "\0\0",
        "!!! ... ???",
        "x & | ! : * <-> () ''",
        '"unterminated',
        "\\ ' \\' :*Q",
        "x" * 8000,
        "word " * 1600,
        "東" * 4000,
        '"' * 500,
        "or or or -",
        "-only -excluded",
        "\ud800",
        "https://example.com/q?b=c&d=%20 user@example.com /etc/passwd -- ; drop table",
    ],
    ids=lambda query: repr(query[:12]),
)
async def test_no_query_is_an_error(
    conn: Connection, application_id: UUID, space: Space, query: str
) -> None:
    await add_document(conn, application_id, space, ["some text"])

    assert await keyword(conn, application_id, query) == []


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
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


async def test_only_hasty_search_returns_deleted_candidates(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    source = await add_document(conn, application_id, space, ["owl"])
    await sources.tombstone(conn, application_id=application_id, ids=[source])
    careful = SearchScope(application_id=application_id)

    with_care, in_haste = [
        await found_by_words(conn, scope, "owl")
        for scope in (careful, replace(careful, is_hasty=True))
    ]

    assert not with_care
    assert len(in_haste) == 1
