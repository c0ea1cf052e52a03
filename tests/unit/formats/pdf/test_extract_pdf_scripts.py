"""PDF: text from right to left and from top to bottom."""

import io

import pytest

from ingest.formats.pdf.layout.right_to_left import in_logical_order
from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import document

_LAM, _ALEF, _BEH, _FATHA = "\u0644", "\u0627", "\u0628", "\u064e"


def one_by_one(count: int) -> list[tuple[float, float]]:
    """Places of characters from right to left, 10 points each."""
    return [(100.0 - 10 * index, 110.0 - 10 * index) for index in range(count)]


def test_characters_of_one_glyph_are_put_back_in_its_order() -> None:
    places = [*one_by_one(2), (90.0, 100.0), (80.0, 90.0)]  # the second and third at one place

    assert in_logical_order(_BEH + _ALEF + _LAM + _BEH, places) == _BEH + _LAM + _ALEF + _BEH


def test_ligatures_in_logical_order_are_unchanged() -> None:
    assert in_logical_order(_LAM + _ALEF, [(90.0, 100.0)] * 2) == _LAM + _ALEF


def test_arabic_article_is_not_a_ligature() -> None:
    assert in_logical_order(_ALEF + _LAM + _BEH, one_by_one(3)) == _ALEF + _LAM + _BEH


def test_a_mark_follows_the_letter_that_it_is_on() -> None:
    places = [(90.0, 100.0), (83.0, 87.0), (80.0, 90.0)]

    assert in_logical_order(_ALEF + _FATHA + _BEH, places) == _ALEF + _BEH + _FATHA


def test_mark_on_the_preceding_letter_is_unchanged() -> None:
    places = [(90.0, 100.0), (93.0, 97.0), (80.0, 90.0)]

    assert in_logical_order(_ALEF + _FATHA + _BEH, places) == _ALEF + _FATHA + _BEH


def test_latin_text_is_left_alone() -> None:
    assert in_logical_order("fi", [(0.0, 10.0)] * 2) == "fi"


@pytest.fixture(scope="module")
def vertical() -> bytes:
    """Two columns of Japanese from right to left, every character set by itself."""
    font = [
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Ryumin-Light /Encoding /Identity-V"
        b" /DescendantFonts [12 0 R] >>",
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Ryumin-Light /FontDescriptor 13 0 R"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /DW 1000 >>",
        b"<< /Type /FontDescriptor /FontName /Ryumin-Light /Flags 4 /Ascent 880 /Descent -120"
        b" /CapHeight 700 /ItalicAngle 0 /StemV 80 /FontBBox [0 -120 1000 880] >>",
    ]
    first = 842  # the first of hiragana in Adobe-Japan1
    content = b"".join(
        b"BT /V 10 Tf 1 0 0 1 %d %d Tm <%04x> Tj ET\n" % (x, 700 - 10 * row, first + start + row)
        for x, start in ((400, 0), (380, 40))
        for row in range(40)
    )
    return document(content, fonts={"V": b"11 0 R"}, extra=font)


def test_vertical_text_is_read_column_by_column_from_the_right(vertical: bytes) -> None:
    text = extract_file(io.BytesIO(vertical), name="a.pdf").text

    columns = [line for line in text.split("\n") if line]
    assert columns[0].startswith("ぁあぃいぅうぇえぉお")
    assert columns[1].startswith("どな")
