"""Text and queries of languages without spaces are changed alike, and any query is accepted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.tokens.keywords import keyword_query, keyword_text


@pytest.mark.parametrize("text", ["", "Plain English, with été and Ωμέγα.", "١٢٣ русский"])
def test_text_with_spaces_is_unchanged(text: str) -> None:
    assert keyword_text(text) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("東京大学", ["東", "京", "大", "学"]),
        ("PDFを読む", ["PDF", "を", "読", "む"]),
        ("한국어 text", ["한", "국", "어", "text"]),
        ("ｶﾀｶﾅ", ["ｶ", "ﾀ", "ｶ", "ﾅ"]),
        ("𠮷野家", ["𠮷", "野", "家"]),
    ],
)
def test_each_cjk_character_becomes_a_word(text: str, words: list[str]) -> None:
    spaced = keyword_text(text)

    assert spaced is not None
    assert spaced.split() == words


def test_run_of_cjk_characters_becomes_a_phrase() -> None:
    query = keyword_query("東京 weather")

    assert query.strict.split() == ['"東', '京"', "weather"]
    assert query.runs == ("東京",)
    assert query.words.split() == ["weather"]


def test_quoted_phrase_is_kept_as_one_phrase() -> None:
    query = keyword_query('"in 東京 today"')

    assert query.strict.count('"') == 2
    assert query.strict.split() == ['"in', "東", "京", 'today"']


def test_word_too_long_for_tsvector_is_dropped() -> None:
    query = keyword_query(f"short {'x' * 3000} 東{'y' * 3000}")

    assert query.words.split() == ["short"]
    assert query.runs == ("東",)


@given(st.text(alphabet=st.characters(), max_size=300))
def test_keyword_query_never_contains_nul_or_lone_surrogates(query: str) -> None:
    changed = keyword_query(query)

    for text in (changed.strict, changed.words, *changed.runs):
        assert "\0" not in text
        text.encode()


def test_length_of_a_repetitive_query_is_bounded() -> None:
    repeated = keyword_query("word " * 1600)
    different = keyword_query(" ".join(f"word{n}" for n in range(1600)))
    run = keyword_query("漢" * 8000)
    phrase = keyword_query('"to be or not to be"')

    assert repeated.strict == "word"
    assert len(different.strict.split()) == 64
    assert len(run.runs[0]) == 64
    assert phrase.strict == '"to be or not to be"'
