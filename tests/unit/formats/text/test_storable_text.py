"""Whatever goes in, storable text comes out."""

# ruff: noqa: RUF001  (the letters of other scripts are the point)

import unicodedata
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest import storable_text
from ingest.storable_text import clean, clean_json, clean_line, is_garbled, unreadable

# Surrogates and controls often, which st.text() avoids or seldom draws.
dirty = st.text(
    st.one_of(
        st.characters(codec=None),
        st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF, categories=["Cs"]),
        st.sampled_from(
            "\0\r\n\x85\u00ad\u200b\ufeff\u0301\u1100\u1161e\ufe0f\U0001f3f4\U000e0041\U000e007f\U0001fffe"
        ),
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


def test_adjacent_surrogates_become_one_character() -> None:
    assert clean("\ud83d\ude00") == ("😀", {"surrogate_paired": 1})


def test_lone_surrogates_are_dropped_and_counted() -> None:
    assert clean("a\ud835b\udc00c") == ("abc", {"surrogate": 2})


def test_every_line_end_becomes_one_newline() -> None:
    assert clean("a\r\nb\rc\x0cd\u2028e\x85f")[0] == "a\nb\nc\nd\ne\nf"


def test_invisible_characters_do_not_split_words() -> None:
    assert clean("\ufeffhy\u00adphen zero\u200bwidth")[0] == "hyphen zerowidth"


def test_tag_characters_cannot_hide_instructions() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey me")

    assert clean(f"visible{hidden}")[0] == "visible"


def test_zero_width_joiners_in_emoji_and_persian_are_kept() -> None:
    assert clean("👩\u200d🚀 می\u200cخواهم")[0] == "👩\u200d🚀 می\u200cخواهم"


def test_emoji_tag_sequences_are_kept() -> None:
    flag = "🏴" + "".join(chr(0xE0000 + ord(letter)) for letter in "gbsct") + "\U000e007f"

    assert clean(f"{flag}{flag[:3]}!") == (f"{flag}🏴!", {"tag": 2})


def test_text_is_normalised_to_nfc() -> None:
    assert clean("❤\ufe0f ok") == ("❤\ufe0f ok", {})
    assert clean("葛\U000e0100 ok") == ("葛\U000e0100 ok", {})
    assert clean("a" + "\ufe01\U000e0101" * 9) == ("a\ufe01", {"tag": 17})


def test_noncharacters_are_removed() -> None:
    assert clean("a\ufdd0b\uffffc\U0010fffed") == ("abcd", {"invisible": 3})


@pytest.mark.parametrize("marks", ["\u0301\u0316", "\u0301\U000101fd"])
def test_long_combining_sequences_are_cut(marks: str) -> None:
    cleaned, counts = clean("x" + marks * 1_000_000 + "y")  # sorted as they are: hours

    assert len(cleaned) <= 32
    assert counts["mark"] > 1_999_000


def test_accents_are_kept() -> None:
    hebrew = "בְּרֵאשִׁ֖ית"
    stacked = "q" + "\u0323\u0307" * 8

    assert clean(hebrew)[1] == clean(stacked)[1] == {}


def test_unreadable_characters_are_counted_and_kept() -> None:
    text = "a\ufffd\ue000\U000f0000"

    assert unreadable(text) == {"replacement": 1, "private_use": 2}
    assert clean(text) == (text, {})
    assert unreadable("äöü") == {}


@pytest.mark.parametrize(
    ("kind", "few", "many"),
    [("replacement", 50, 51), ("control", 10, 11), ("private_use", 200, 201), ("nul", 900, None)],
)
def test_text_is_garbled_above_a_share_of_bad_characters(
    kind: str, few: int, many: int | None
) -> None:
    assert not is_garbled(Counter({kind: few}), 1000)
    assert many is None or is_garbled(Counter({kind: many}), 1000)


def test_decomposed_letters_are_composed() -> None:
    assert clean("cafe\u0301")[0] == "café"


def test_tabs_and_newlines_are_kept() -> None:
    assert clean("a\tb\nc") == ("a\tb\nc", {})


def test_title_is_a_single_line_or_none() -> None:
    assert clean_line(" A\r\n title\0 ") == "A title"
    assert clean_line(" \0\u200b ") is None


def test_metadata_contains_only_json_values() -> None:
    assert clean_json({"a": float("nan"), 1: b"x", "deep": [{"k\0": "v\0"}]}) == {
        "a": None,
        "1": "b'x'",
        "deep": [{"k": "v"}],
    }


def test_extremely_nested_metadata_is_truncated() -> None:
    nested: list[Any] = []
    for _ in range(500):
        nested = [nested]

    assert len(str(clean_json(nested))) < 2000


def test_fast_path_text_needs_no_cleaning() -> None:
    plain = "".join(filter(storable_text._PLAIN.fullmatch, map(chr, range(0x110000))))

    assert len(plain) > 700
    # Spoilt by something else, the same characters go the long way.
    assert clean(plain + "\0")[0] == plain
    assert clean(plain) == (plain, Counter())
