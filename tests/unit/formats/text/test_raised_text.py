"""Super- and subscripts keep what they say when they become plain text."""

import io

import pytest

from ingest.analysis.words import split
from ingest.formats.common.raised_text import (
    lowered,
    raised,
    subscript,
    superscript,
    written_out,
)
from ingest.formats.office.rtf.raised import mark_raised
from ingest.formats.registry import extract
from tests.builders.make_office import open_document, word


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
        # prices and ordinals with a mark in front
        ("12,", "99", " € each", "99"),
        ("13€", "49", "", "49"),
        ("14", "99", " zł", ".99"),
        ("15", "99 €", "", ".99 €"),
        ("16", ",95", "", ",95"),
        ("in 1999,", "12", " it", "[^12]"),
        ("in 2023.", "12", " $5 million", "[^12]"),
        ("1.", "a", " edição", "a"),
        ("n.", "o", " 5", "o"),
        ("said so.", "a", "", "[^a]"),
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
    assert superscript("12", "profit of $500", " was", is_note=True) == "[^12]"
    assert superscript("12", "profit of $500.", is_note=True) == "[^12]"


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


def test_marked_passages_are_written_out() -> None:
    text = f"2{raised('1')}{raised('0')} and CO{lowered('2')}{raised('-')}, x{raised('2 ')}y\ufdd3"

    assert written_out(text) == "2^10 and CO₂⁻, x² y"
    assert written_out(f"one\n{raised('1')} Source") == "one\n[^1] Source"
    assert written_out("plain") == "plain"


RUNS = [
    ("The chip has 2", ""), ("10", "raised"), (" cells, 10", ""), ("-", "raised"), ("3", "raised"),
    ("; CO", ""), ("2", "lowered"), (", 5 m", ""), ("2", "raised"), (", see note", ""),
    ("4", "raised"), (" of the 21", ""), ("st", "raised"), (" century.", ""),
]  # fmt: skip
EXPECTED = "The chip has 2^10 cells, 10^-3; CO₂, 5 m², see note[^4] of the 21st century."


def test_raised_text_of_word() -> None:
    marks = {"raised": "superscript", "lowered": "subscript"}
    body = "".join(
        f'<w:r><w:rPr><w:vertAlign w:val="{marks.get(place, "baseline")}"/></w:rPr>'
        f'<w:t xml:space="preserve">{text}</w:t></w:r>'
        for text, place in RUNS
    )

    document = extract(io.BytesIO(word(f"<w:p>{body}</w:p>")), name="a.docx")

    assert document.text.strip() == EXPECTED


@pytest.mark.parametrize(
    ("above", "below"),
    [("super 58%", "sub 58%"), ("33% 58%", "-33% 58%")],
    ids=["names", "numbers"],
)
def test_raised_text_of_open_document(above: str, below: str) -> None:
    styles = "".join(
        f'<style:style style:name="{name}"><style:text-properties style:text-position="{place}"/>'
        "</style:style>"
        for name, place in (("raised", above), ("lowered", below), ("plain", "0% 100%"))
    )
    body = "".join(
        f'<text:span text:style-name="{place or "plain"}">{text}</text:span>'
        for text, place in RUNS
    )

    document = extract(
        io.BytesIO(open_document(f"<text:p>{body}</text:p>", styles=styles)), name="a.odt"
    )

    assert document.text.strip() == EXPECTED


@pytest.mark.parametrize(
    ("above", "below"),
    [
        (r"{\super %s}", r"{\sub %s}"),
        (r"\super %s\nosupersub ", r"\sub %s\nosupersub "),
        (r"{\b\up6 %s}", r"{\dn6 %s}"),
        (r"\up6 %s\up0 ", r"\dn6 %s\dn0 "),
        (r"{\super\b %s\b0}", r"{\sub\i %s}"),
        (r"\plain\super %s\plain ", r"\plain\sub %s\plain "),
    ],
)
def test_raised_text_of_rtf(above: str, below: str) -> None:
    forms = {"raised": above, "lowered": below, "": "%s"}
    body = "".join(forms[place] % text for text, place in RUNS)

    for start in (r"", r"\uc0 ", r"{\uc2 }"):
        rtf = rf"{{\rtf1\ansi {start}{body}\par}}"

        assert extract(io.BytesIO(rtf.encode()), name="a.rtf").text.strip() == EXPECTED


def test_notes_and_binary_data_of_rtf_stay() -> None:
    rtf = (
        rb"{\rtf1\ansi See{\super\chftn}{\footnote {\super\chftn} The note.} more."
        rb"{\pict\bin9 \super }}}\par}"
    )

    assert extract(io.BytesIO(rtf), name="a.rtf").text.strip() == (
        "See[^1] more.\n\n[^1]: The note."
    )
    assert b"\\bin9 \\super }}" in mark_raised(rtf)
    assert rb"\super \uc0\u-560\uc1 x" in mark_raised(b"{" * 20_000 + rb"\super x")


def test_raised_text_in_markdown_outside_code() -> None:
    text = (
        "The chip has 2<sup>10</sup> cells, CO<SUB>2</SUB>, note<sup>4</sup> and <sup>long</sup>"
        ".\n\n`2<sup>10</sup>`\n\n```\n2<sup>10</sup>\n```\n"
    )

    document = extract(io.BytesIO(text.encode()), name="a.md")

    assert document.text.strip() == (
        "The chip has 2^10 cells, CO₂, note[^4] and long.\n\n`2<sup>10</sup>`\n\n"
        "```\n2<sup>10</sup>\n```"
    )


def test_groups_and_emphasis_of_rtf_do_not_change_what_is_raised() -> None:
    rtf = rb"{\rtf1\ansi 2{\super{\*\bkmkstart a}10} and {\b 2}{\super 10}.\par}"

    assert extract(io.BytesIO(rtf), name="a.rtf").text.strip() == "2^10 and **2**^10."
