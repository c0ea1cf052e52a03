"""Super- and subscripts keep what they say when they become plain text."""

import pytest

from ingest.analysis.words import split
from ingest.formats.common.raised_text import subscript, superscript


@pytest.mark.parametrize(
    ("before", "text", "after", "expected"),
    [
        # values
        ("2", "10", " cells", "^10"),
        ("a tolerance of 10", "-3", ";", "^-3"),
        ("10", "\u22123", "", "^-3"),
        ("2", "n", "", "^n"),
        ("2", "2n+1", "", "^(2n+1)"),
        ("10", "6.5", "", "^6.5"),
        # units and variables
        ("45 m", "2", "", "²"),
        ("kg/m", "3", "", "³"),
        ("mol·min", "-1", "", "⁻¹"),
        ("E = mc", "2", "", "²"),
        ("x", "n", "", "ⁿ"),
        ("x", "2n", "", "²ⁿ"),
        ("e", "x", "", "^x"),
        ("sin", "2", " x", "²"),
        ("(a+b)", "2", "", "²"),
        ("x", "y²", "", "^(y²)"),
        ("Ca", "2+", "", "²⁺"),
        ("SO₄", "2-", "", "²⁻"),
        ("dated by ", "14", "C", "¹⁴"),
        ("", "235", "U", "²³⁵"),
        # notes
        ("See note", "4", ".", "[^4]"),
        ("the end.", "12", "", "[^12]"),
        ("»so«", "3", "", "[^3]"),
        ("(as shown before)", "2", "", "[^2]"),
        ("as found", "3,4\u20137", "", "[^3,4\u20137]"),
        ("Total", "a", "", "[^a]"),
        ("Wikipedia", "[12]", "", "[12]"),
        ("Straße", "1", "", "[^1]"),
        ("", "1", "See page 4", "[^1] "),
        ("", "1", " Source", "[^1]"),
        ("word", "*", "", "*"),
        # words
        ("the 21", "st", " century", "st"),
        ("le 1", "er", " mai", "er"),
        ("XIX", "e", " siècle", "e"),
        ("M", "me", " Curie", "me"),
        ("n", "o", " 5", "o"),
        ("Java", "TM", "", "™"),
        ("$19", "99", "", ".99"),
        ("19", "99", " €", ".99"),
        ("NO₃", "\u2212", "", "⁻"),
        ("John Smith", "1,*", "", "[^1,*]"),
        ("price", "incl. VAT and duties", "", " incl. VAT and duties"),
        ("", "", "", ""),
    ],
)
def test_raised_text(before: str, text: str, after: str, expected: str) -> None:
    assert superscript(text, before, after) == expected


def test_raised_text_that_links_to_a_note_is_its_mark() -> None:
    assert superscript("1", "in 2023", is_note=True) == "[^1]"
    assert superscript("1", "x", is_note=True) == "[^1]"
    assert superscript("(2)", "m", is_note=True) == "[^2]"


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("CO", "2", "₂"),
        ("(NH₄)", "2", "₂"),
        ("x", "i", "_i"),
        ("x", "max", "_max"),
        ("T", "1/2", "_(1/2)"),
        ("1010", "2", "_2"),
        ("word", "set in small letters", " set in small letters"),
        ("x", "*", "*"),
    ],
)
def test_lowered_text(before: str, text: str, expected: str) -> None:
    assert subscript(text, before) == expected


@pytest.mark.parametrize(
    ("text", "found", "not_found"),
    [
        ("2^10", ["2", "10"], ["210"]),
        ("2¹⁰", ["2", "10"], ["210"]),
        ("10⁻³", ["10", "3"], ["103"]),
        ("m²", ["m2"], []),
        ("CO₂", ["co2"], []),
        ("note[^4]", ["note", "4"], ["note4"]),
    ],
)
def test_the_keyword_index_reads_them_apart_from_numbers(
    text: str, found: list[str], not_found: list[str]
) -> None:
    words = split(text)
    known = {*words.in_order, *words.compounds}

    assert set(found) <= known
    assert not known & set(not_found)
