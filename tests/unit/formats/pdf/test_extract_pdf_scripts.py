"""PDF: text from right to left and from top to bottom."""

# ruff: noqa: RUF001  (the letters of other scripts are the point)

import io
import random
import re
from collections.abc import Sequence

import pytest

from ingest.formats.common.letter_order import order_evidence
from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document, grid


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


def without_shapes(content: bytes) -> bytes:
    """A page in a font whose characters show nothing, as those that no font of a machine has."""
    ranges = b"1 beginbfrange <21> <7e> <3041> endbfrange"
    meaning = b"begincmap 1 begincodespacerange <00> <ff> endcodespacerange %s endcmap" % ranges
    font = [
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 0 0] /FontMatrix [.001 0 0 .001 0 0]"
        b" /CharProcs << /a 12 0 R >> /Encoding << /Differences [33%s] >> /FirstChar 33"
        b" /LastChar 126 /Widths [%s] /ToUnicode 13 0 R >>" % (b" /a" * 94, b" 1000" * 94),
        b"<< /Length 9 >>\nstream\n1000 0 d0\nendstream",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(meaning), meaning),
    ]
    return document(content, fonts={"V": b"11 0 R"}, extra=font)


@pytest.mark.parametrize("shift", [None, 0.0, 0.3])
def test_vertical_text_that_pdfium_drops_is_read(shift: float | None) -> None:
    """Also beside the number of the page, and where it is drawn over itself to be bold."""
    starts = {400: 0, 380: 38}
    columns = b"".join(
        b"BT /V 10 Tf 1 0 0 1 %.1f %d Tm <%02x> Tj ET\n"
        % (x + drawn, 700 - 10 * row, 33 + start + row)
        for drawn in ([0.0] if shift is None else [0.0, shift])
        for x, start in starts.items()
        for row in range(38)
    )
    number = b"".join(at(50 + 20 * index, 40, "No. 7") for index in range(3))

    found = extract_file(io.BytesIO(without_shapes(columns + number)), name="a.pdf").text

    assert hiragana(0, 38) in found
    assert hiragana(38, 38) in found


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


LIGATURES = {"\ue001": "\u0644\u0627", "\ue002": "\u05e9\u05c1"}
"""Glyphs of several characters: lam with alef, shin with its dot."""


def drawn(*texts: str) -> bytes:
    """The characters from left to right, one line for each text."""
    return drawn_at([(50 + 6 * len(text), 700 - 30 * row, text) for row, text in enumerate(texts)])


def drawn_at(texts: Sequence[tuple[float, float, str]], extra: bytes = b"") -> bytes:
    """The characters of each text from left to right; with the place of its right end."""
    letters = sorted({letter for _, _, text in texts for letter in text} - {" "})
    codes = {letter: 0x41 + place for place, letter in enumerate(letters)}
    pairs = "".join(
        f"<{code:02x}> <{LIGATURES.get(letter, letter).encode('utf-16-be').hex()}>\n"
        for letter, code in codes.items()
    )
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


# As read, and as displayed from left to right.
_DISPLAYED = [
    (
        "שלום עולם, היום 12.5% מהתושבים הגיעו ב-03.09.98 (Windows 95 Pro) לירושלים.",
        ".םילשוריל (Windows 95 Pro) 03.09.98-ב ועיגה םיבשותהמ 12.5% םויה ,םלוע םולש",
    ),
    ("הטלפון 02-345678 או info@example.com בלבד", "דבלב info@example.com וא 02-345678 ןופלטה"),
    ("מחיר: $45.90 [כולל מס], 3×5", "5×3 ,[סמ ללוכ] $45.90 :ריחמ"),
    ("בנספח א' (סעיף ב)", "(ב ףיעס) 'א חפסנב"),
    # Signs between Arabic figures are turned with the text.
    ("ارتفعت النسبة 45.5% والرقم 966-55-34", "34-55-966 مقرلاو %45.5 ةبسنلا تعفترا"),
    ("قال «نعم» بتاريخ ٠٣/٠٤/٩٨ في المدينة", "ةنيدملا يف ٠٣/٠٤/٩٨ خيراتب «معن» لاق"),
    ("شرکت با Windows 95 در تهران است", "تسا نارهت رد Windows 95 اب تکرش"),
    ("کمپنی کے ملازم، لاہور میں ہیں۔", "۔ںیہ ںیم روہال ،مزالم ےک ینپمک"),
]


@pytest.mark.parametrize(("logical", "shown"), _DISPLAYED)
def test_words_are_turned_as_they_are_displayed(logical: str, shown: str) -> None:
    assert extract_file(io.BytesIO(drawn(shown)), name="a.pdf").text.replace("\\", "") == logical


@pytest.mark.parametrize(("logical", "shown"), _DISPLAYED)
def test_the_order_of_the_file_does_not_matter(logical: str, shown: str) -> None:
    words = enumerate(re.finditer(r"\S+", shown))
    pieces = [(50 + 6 * word.end() + 3 * number, 700, word[0]) for number, word in words]
    random.Random(7).shuffle(pieces)

    found = extract_file(io.BytesIO(drawn_at(pieces)), name="a.pdf")

    assert found.text.replace("\\", "") == logical


def test_brackets_open_and_close_however_they_are_stored() -> None:
    as_typed = "[דבלב םויה[ )םלוע םולש) בתכ אוה"

    found = extract_file(io.BytesIO(drawn(as_typed)), name="a.pdf")

    assert found.text == "הוא כתב (שלום עולם) [היום בלבד]"


def test_a_hebrew_passage_in_an_english_line_turns_alone() -> None:
    shown = "The words הריד רכש (rent) are of 1948."

    assert extract_file(io.BytesIO(drawn(shown)), name="a.pdf").text == (
        "The words שכר דירה (rent) are of 1948."
    )


def test_an_english_cell_beside_hebrew_keeps_the_end_of_its_sentence() -> None:
    row = "The roof is new.     .שדח גגה לש עבצה"

    text = extract_file(io.BytesIO(drawn(row, "םויה לש םלוע םולש")), name="a.pdf").text

    assert text.startswith("הצבע של הגג חדש. The roof is new.")


def test_lowered_figures_in_a_hebrew_line_stay_lowered() -> None:
    water = at(275, 700, "H") + at(283.7, 697, "2", size=7) + at(287.6, 700, "O")

    found = extract_file(io.BytesIO(drawn_at([(340, 700, "םה םימ")], water)), name="a.pdf")

    assert found.text == "מים הם H\u2082O"


def test_letters_of_a_ligature_keep_their_order() -> None:
    shown = "مويلا ةنيدملا يف \ue001هأ"
    hebrew = "םויה לש ם\ue002"

    assert extract_file(io.BytesIO(drawn(shown)), name="a.pdf").text == "أهلا في المدينة اليوم"
    assert extract_file(io.BytesIO(drawn(hebrew)), name="a.pdf").text == "שׁם של היום"


@pytest.mark.parametrize("is_before", [True, False])
def test_a_mark_follows_the_letter_that_it_is_on(*, is_before: bool) -> None:
    base = [(200, 700, "םויה לש םולש")]
    marks = [(200 - 1, 700, "\u05b8"), (200 - 6 * 10, 700, "\u05bc")]

    found = extract_file(
        io.BytesIO(drawn_at([*marks, *base] if is_before else [*base, *marks])), name="a.pdf"
    )

    assert found.text == "ש\u05b8לום של היו\u05bcם"


def test_what_stretches_letters_is_no_text() -> None:
    assert extract_file(io.BytesIO(drawn("ةني??دملا يف موي?لا")), name="a.pdf").text == (
        "اليوم في المدينة"
    )


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
