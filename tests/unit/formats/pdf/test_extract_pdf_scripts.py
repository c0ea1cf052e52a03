"""PDF: text from right to left and from top to bottom."""

import io
from collections.abc import Sequence

import pytest

from ingest.formats.common.letter_order import order_evidence
from ingest.formats.pdf.layout.right_to_left import in_logical_order
from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import document, grid

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


def japanese(mode: bytes, content: bytes) -> bytes:
    """A page in a font whose codes are those of Adobe-Japan1; `mode` is `H` or `V`."""
    font = [
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Ryumin-Light /Encoding /Identity-%s"
        b" /DescendantFonts [12 0 R] >>" % mode,
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Ryumin-Light /FontDescriptor 13 0 R"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /DW 1000 >>",
        b"<< /Type /FontDescriptor /FontName /Ryumin-Light /Flags 4 /Ascent 880 /Descent -120"
        b" /CapHeight 700 /ItalicAngle 0 /StemV 80 /FontBBox [0 -120 1000 880] >>",
    ]
    return document(content, fonts={"V": b"11 0 R"}, extra=font)


def column(x: int, y: int, start: int, length: int) -> bytes:
    """Hiragana below each other, every character set by itself."""
    first = 842  # of hiragana in Adobe-Japan1
    return b"".join(
        b"BT /V 10 Tf 1 0 0 1 %d %d Tm <%04x> Tj ET\n" % (x, y - 10 * row, first + start + row)
        for row in range(length)
    )


def hiragana(start: int, length: int) -> str:
    return "".join(map(chr, range(0x3041 + start, 0x3041 + start + length)))


@pytest.mark.parametrize("mode", [b"H", b"V"])
def test_vertical_text_is_read_column_by_column_from_the_right(mode: bytes) -> None:
    # The upper tier is written last; the last column of each is the end of a paragraph.
    lower = column(400, 280, 40, 20) + column(380, 280, 60, 20) + column(360, 280, 20, 10)
    upper = column(400, 700, 0, 38) + column(380, 700, 38, 38) + column(360, 700, 10, 4)

    text = extract_file(io.BytesIO(japanese(mode, lower + upper)), name="a.pdf").text

    assert text == (f"{hiragana(0, 76)}{hiragana(10, 4)}\n{hiragana(40, 40)}{hiragana(20, 10)}")


def test_a_table_of_single_characters_is_not_vertical() -> None:
    places = [(x, y) for y in range(6) for x in range(6)]
    cells = b"".join(
        column(100 + 60 * x, 700 - 60 * y - 8 * (x % 2), 6 * y + x, 1) for x, y in places
    )

    text = extract_file(io.BytesIO(japanese(b"H", cells)), name="a.pdf").text

    assert text.split()[:3] == ["ぁ", "あ", "ぃ"]


_HEBREW = (
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd"  # two words that end in a final letter
)
_ARABIC = (
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645"
    " \u0627\u0644\u0648\u062b\u064a\u0642\u0629"
)


@pytest.mark.parametrize("text", [_HEBREW, _ARABIC])
def test_letters_that_begin_or_end_words_tell_the_order(text: str) -> None:
    assert order_evidence(text) > 0
    assert order_evidence(text[::-1]) < 0
    assert order_evidence("Latin words") == 0


def drawn(*texts: str) -> bytes:
    """The characters from left to right, one line for each text."""
    return drawn_at([(50 + 6 * len(text), 700 - 30 * row, text) for row, text in enumerate(texts)])


def drawn_at(texts: Sequence[tuple[float, float, str]], extra: bytes = b"") -> bytes:
    """The characters of each text from left to right; with the place of its right end."""
    letters = sorted({letter for _, _, text in texts for letter in text} - {" "})
    codes = {letter: 0x41 + place for place, letter in enumerate(letters)}
    pairs = "".join(f"<{code:02x}> <{ord(letter):04x}>\n" for letter, code in codes.items())
    cmap = (
        "begincmap 1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"{len(codes)} beginbfchar\n{pairs}endbfchar endcmap"
    ).encode()
    font = [
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 12 0 R"
        b" /FirstChar 32 /LastChar 255 /Widths [%s] >>" % b" ".join([b"500"] * 224),
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(cmap), cmap),
    ]
    content = b"".join(
        b"BT /R 12 Tf 1 0 0 1 %d %d Tm <%b> Tj ET\n"
        % (right - 6 * len(text), y, bytes(codes.get(c, 0x20) for c in text).hex().encode())
        for right, y, text in texts
    )
    return document(content + extra, extra=font, fonts={"R": b"11 0 R"})


@pytest.mark.parametrize("text", [_HEBREW, _ARABIC])
def test_right_to_left_text_is_read_whatever_the_producer_wrote(text: str) -> None:
    in_the_order_of_speech = extract_file(io.BytesIO(drawn(text)), name="a.pdf")
    as_it_looks = extract_file(io.BytesIO(drawn(text[::-1])), name="a.pdf")

    assert in_the_order_of_speech.text == as_it_looks.text == text


def test_lines_that_contradict_each_other_are_flagged() -> None:
    found = extract_file(io.BytesIO(drawn(_HEBREW, _HEBREW[::-1], _HEBREW)), name="a.pdf")

    assert "reading_direction_unsure" in found.warnings
    assert found.text.split() == 3 * _HEBREW.split()


def test_korean_lines_are_joined_inside_a_word_and_with_a_space_behind_one() -> None:
    line = "가나다라 마바사아 자차카타 파하거너 더러머버"

    found = extract_file(io.BytesIO(drawn(f"{line} ", line, line)), name="a.pdf")

    assert found.text == f"{line} {line}{line}"


@pytest.mark.parametrize("rules", [b"", grid([100, 250, 400, 550], [715, 695, 675, 655, 635])])
def test_the_columns_of_a_table_in_hebrew_are_read_from_the_right(rules: bytes) -> None:
    rows = [
        ["\u05e9\u05dd", "\u05e2\u05d9\u05e8", "\u05de\u05d7\u05d9\u05e8"],
        ["\u05e1\u05e4\u05e8\u05d9\u05dd", "\u05d7\u05d9\u05e4\u05d4", "120.50"],
        ["\u05de\u05d9\u05dd \u05e7\u05e8\u05d9\u05dd", "\u05e2\u05db\u05d5", "17.00"],
        ["\u05e9\u05dc\u05d5\u05dd", "\u05d9\u05e4\u05d5", "1,305.25"],
    ]
    cells = [
        # As it looks: words of Hebrew from the right, figures from the left.
        (396 - 150 * column + 150, 700 - 20 * row, text if text[0].isdigit() else text[::-1])
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    ]

    text = extract_file(io.BytesIO(drawn_at(cells, rules)), name="a.pdf").text

    wanted = ["| " + " | ".join(row) + " |" for row in rows]
    assert text.splitlines() == [wanted[0], "|---|---|---|", *wanted[1:]]
