"""Whatever goes in, storable text comes out."""

# ruff: noqa: RUF001  (the letters of other scripts are the point)

import unicodedata
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ingest.pipeline.hygiene import clean, clean_json, clean_line

# Surrogates and controls often, which st.text() avoids or seldom draws.
dirty = st.text(
    st.one_of(
        st.characters(codec=None),
        st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF, categories=["Cs"]),
        st.sampled_from("\0\r\n\x85\u00ad\u200b\ufeff\u0301\u1100\u1161e\U000e0041"),
    )
)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), dirty),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(dirty, inner)),
    max_leaves=20,
)


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for item in pair for text in strings(item)]
    return [text for item in value for text in strings(item)] if isinstance(value, list) else []


@given(dirty)
def test_clean_text_can_be_stored(text: str) -> None:
    cleaned, _ = clean(text)

    assert cleaned.encode("utf-8").find(0) == -1
    assert unicodedata.is_normalized("NFC", cleaned)
    assert "\r" not in cleaned


@given(dirty)
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    once, _ = clean(text)

    assert clean(once) == (once, {})


@given(json_values)
def test_every_string_in_metadata_becomes_storable(value: Any) -> None:
    cleaned = clean_json(value)

    assert all(clean(text) == (text, {}) for text in strings(cleaned))


def test_nul_is_removed_and_counted() -> None:
    assert clean("a\0b\0") == ("ab", {"nul": 2})


def test_halves_side_by_side_become_one_character() -> None:
    assert clean("\ud83d\ude00") == ("😀", {"surrogate_paired": 1})


def test_single_halves_are_dropped_and_counted() -> None:
    assert clean("a\ud835b\udc00c") == ("abc", {"surrogate": 2})


def test_every_line_end_becomes_one_newline() -> None:
    assert clean("a\r\nb\rc\x0cd\u2028e\x85f")[0] == "a\nb\nc\nd\ne\nf"


def test_invisible_characters_do_not_split_words() -> None:
    assert clean("\ufeffhy\u00adphen zero\u200bwidth")[0] == "hyphen zerowidth"


def test_tag_characters_cannot_hide_instructions() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey me")

    assert clean(f"visible{hidden}")[0] == "visible"


def test_joiners_of_emoji_and_persian_stay() -> None:
    assert clean("👩\u200d🚀 می\u200cخواهم")[0] == "👩\u200d🚀 می\u200cخواهم"


def test_decomposed_letters_are_composed() -> None:
    assert clean("cafe\u0301")[0] == "café"


def test_tabs_and_newlines_stay() -> None:
    assert clean("a\tb\nc") == ("a\tb\nc", {})


def test_a_title_is_one_line_or_nothing() -> None:
    assert clean_line(" A\r\n title\0 ") == "A title"
    assert clean_line(" \0\u200b ") is None


def test_metadata_holds_only_what_json_knows() -> None:
    assert clean_json({"a": float("nan"), 1: b"x", "deep": [{"k\0": "v\0"}]}) == {
        "a": None,
        "1": "b'x'",
        "deep": [{"k": "v"}],
    }


def test_metadata_that_nests_without_end_is_cut() -> None:
    nested: list[Any] = []
    for _ in range(500):
        nested = [nested]

    assert len(str(clean_json(nested))) < 2000
