"""PDF: paragraphs, raised figures, footnotes, and what stands in the margins."""

import io

from ingest.formats.pdf.layout.raised import join_broken
from ingest.formats.pdf.layout.text_lines import Line, PageLines
from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document, lines

_LONG = "This line is as wide as the column of its page can be"


def extract(*sheets: bytes) -> str:
    return extract_file(io.BytesIO(document(*sheets)), name="a.pdf").text


def test_line_breaks_inside_a_paragraph_are_spaces() -> None:
    text = extract(lines(50, 700, _LONG, _LONG, "and ends here.", "Another begins."))

    assert text == f"{_LONG} {_LONG} and ends here.\nAnother begins."


def test_lines_that_were_broken_by_hand_are_one_paragraph() -> None:
    text = extract(
        lines(50, 700, _LONG, "Oil of class 46 is used for it only. Run the", "pump first.")
    )

    assert text == f"{_LONG} Oil of class 46 is used for it only. Run the pump first."


def test_lines_that_had_room_for_more_keep_their_breaks() -> None:
    address = lines(50, 640, "Heron Pumps", "12 Quay Street", "Leeds")

    assert extract(lines(50, 700, _LONG, _LONG) + address).endswith(
        "\n\nHeron Pumps\n12 Quay Street\nLeeds"
    )


_INDENTED = (
    "we try to extend the bounds of the",
    "known by an index of all words, as",
    "is usual for a book of this length",
    "and end the paragraph here.",
)


def test_a_narrower_block_of_prose_has_an_edge_of_its_own() -> None:
    text = extract(lines(100, 700, *_INDENTED) + lines(50, 600, *[_LONG] * 5))

    assert text.startswith(" ".join(_INDENTED))


def test_prose_beside_marks_that_end_at_one_place_has_the_edge_of_its_lines() -> None:
    marks = at(50, 760, ".") + at(50, 745, ".") + at(50, 730, ".")

    text = extract(marks + lines(50, 700, _LONG, _LONG, "Harbour and quay."))

    assert text.endswith(f"{_LONG} {_LONG} Harbour and quay.")


def test_entries_of_an_index_keep_their_lines_though_some_are_full() -> None:
    entries = (
        "Harbours of the north and of the west, 12",
        "Heron pumps",
        "Hinges and brackets for them, of brass, 44",
        "Hoists, 20",
        "Hydrants of all towns along the old coast, 3",
        "Ice, 7",
        "Inlets, 9",
        "Keel, 12",
        "Ladders, 14",
    )

    assert extract(lines(50, 700, *entries)) == "\n".join(entries)


def test_numbered_lines_keep_their_breaks() -> None:
    code = (
        "1 first comes a line of code that is as wide as its column,",
        "2 then one that is as wide as that, and that has a comment",
        "3 and the last one of them ends here, because all is said.",
    )

    assert extract(lines(50, 700, *code)) == "\n".join(code)


def test_a_narrower_block_of_code_keeps_its_lines() -> None:
    code = ("for each in alist[:]:", "spam = eggs(each)", "print(spam, each)", "total += spam")

    text = extract(lines(100, 700, *code) + lines(50, 600, *[_LONG] * 5))

    assert text.startswith("\n".join(code))


def test_verses_keep_their_lines() -> None:
    verses = ("So long as men can breathe", "Or eyes can see, so long", "Lives this, and this") * 2

    text = extract(lines(100, 700, *verses) + lines(50, 600, *[_LONG] * 5))

    assert text.startswith("\n".join(verses))


def test_rows_of_a_table_that_is_too_short_to_be_sure_keep_their_lines() -> None:
    cells = (("Period", "Added", "Total"), ("Weekly", "42.30", "91.70"))
    rows = b"".join(
        at(x, 700 - 14 * row, text)
        for row, texts in enumerate(cells)
        for x, text in zip((50, 170, 290), texts, strict=True)
    )

    assert extract(rows) == "Period Added Total\nWeekly 42.30 91.70"


def test_items_of_a_list_keep_their_lines() -> None:
    items = lines(50, 700, f"- {_LONG}", f"- {_LONG}", f"2. {_LONG}")

    assert extract(items).count("\n") == 2


def test_an_indented_line_begins_a_paragraph() -> None:
    content = (
        lines(50, 700, f"{_LONG} we.") + lines(70, 685.6, _LONG[:-8]) + lines(50, 671.2, "Go.")
    )

    assert extract(content).startswith(f"{_LONG} we.\n{_LONG[:-8]}")


def test_a_sentence_goes_on_in_the_next_column() -> None:
    left = lines(40, 700, *["words of the first column go on"] * 3)
    right = lines(320, 700, *["and in the second they do, too"] * 3)

    assert "go on and in the second" in extract(left + right)


def raised(before: str, figures: str, after: str, *, rise: int) -> bytes:
    return (
        f"BT /F 12 Tf 1 0 0 1 72 700 Tm ({before}) Tj {rise} Ts /F 7 Tf ({figures}) Tj "
        f"0 Ts /F 12 Tf ({after}) Tj ET"
    ).encode()


def test_raised_and_lowered_figures_keep_apart() -> None:
    assert extract(raised("The chip has 2", "10", " cells.", rise=5)) == "The chip has 2¹⁰ cells."
    assert extract(raised("It is 10", "-3", " of it.", rise=5)) == "It is 10⁻³ of it."
    assert extract(raised("Air has CO", "2", " in it.", rise=-2)) == "Air has CO₂ in it."
    assert extract(raised("See the note", "4", " below.", rise=5)) == "See the note^4 below."
    assert extract(raised("There are 2", "10", " cells.", rise=0)) == "There are 210 cells."


def test_the_parts_of_a_fraction_are_joined() -> None:
    places = ((50, 110, "from 1"), (110, 170, "\u20444 to 1"), (169, 200, "\u20442 inch"))
    page = PageLines([Line(text, x, 712, end, 700, 12) for x, end, text in places])
    page.box, page.has_parts = (0, 800, 600, 0), True

    join_broken(page)

    assert page.text == "from 1\u20444 to 1\u20442 inch"


def test_footnotes_of_the_first_column_follow_the_text() -> None:
    left = lines(40, 300, *["words of the first column go on"] * 3)
    note = lines(40, 220, "1 Measured in the cold hall.", size=8)
    right = lines(320, 300, *["and in the second they do, too"] * 3)

    assert extract(left + note + right).endswith("do, too\n\n1 Measured in the cold hall.")


def test_a_stamp_in_the_margin_is_last_and_no_heading() -> None:
    stamp = b"BT /F 20 Tf 0 1 -1 0 30 300 Tm (arXiv:1706.03762v7 [cs.CL] 2 Aug 2023) Tj ET\n"

    text = extract(stamp + lines(60, 700, *[_LONG] * 6))

    assert text.endswith("arXiv:1706.03762v7 [cs.CL] 2 Aug 2023")
    assert "#" not in text


def test_the_title_of_the_chapter_above_each_page_follows_the_text() -> None:
    def sheet(number: int) -> bytes:
        head = at(50, 770, "First chapter" if number < 4 else "Second chapter")
        page = "abcdefgh"[number]
        return head + lines(50, 700, *(f"{word} of {page}" for word in ("Text", "More", "Rest")))

    found = extract_file(io.BytesIO(document(*map(sheet, range(8)))), name="a.pdf")

    for number, page in enumerate(found.pages):
        end = {0: "\n\nFirst chapter", 4: "\n\nSecond chapter"}.get(number, "")
        assert found.text[page.start : page.end].endswith(f"Rest of {'abcdefgh'[number]}{end}")


def with_mark(x: float, y: float, before: str, mark: str, after: str, *, size: float) -> bytes:
    return (
        f"BT /F {size} Tf 1 0 0 1 {x} {y} Tm ({before}) Tj {0.4 * size} Ts /F {0.6 * size} Tf "
        f"({mark}) Tj 0 Ts /F {size} Tf ({after}) Tj ET\n"
    ).encode()


def test_footnotes_stand_at_the_end_of_the_section_with_their_mark() -> None:
    rest = ["Nothing else of what was said is of any use to the reader of this page."] * 8
    content = (
        at(50, 740, "The first pump", size=20)
        + with_mark(50, 700, "It was built in the cellar", "1", " of the old house.", size=12)
        + lines(50, 685, *rest)
        + at(50, 500, "The second pump", size=20)
        + with_mark(50, 470, "It was bought in the spring", "2", " of that year.", size=12)
        + lines(50, 455, *rest)
        + lines(50, 90, "1 Which has burnt down since then, and", "40 others with it.", size=8)
        + lines(50, 70, "2 For a hundred crowns.", size=8)
    )

    text = extract(content)

    first, second = text.split("# The second pump")
    assert "cellar^1 of" in first
    assert first.rstrip().endswith("burnt down since then, and\n40 others with it.")
    assert second.rstrip().endswith("2 For a hundred crowns.")


def test_a_footnote_marked_by_a_star_keeps_its_lines() -> None:
    rest = ["Nothing else of what was said is of any use to the reader of this page."] * 8
    content = (
        with_mark(50, 740, "The pumps of the old house", "*", "", size=20)
        + lines(50, 700, *rest)
        + at(50, 500, "The second pump", size=20)
        + lines(50, 470, *rest)
        + lines(50, 90, "* Printed by leave of the owner, who", "keeps all rights.", size=8)
    )

    text = extract(content)

    assert "* Printed by leave of the owner, who\nkeeps all rights.\n\n# The second" in text


def test_a_footnote_without_its_mark_stays_at_the_end_of_the_page() -> None:
    rest = ["Nothing else of what was said is of any use to the reader of this page."] * 8
    content = (
        at(50, 740, "The first pump", size=20)
        + with_mark(50, 700, "It was built in the cellar", "1", " of the old house.", size=12)
        + lines(50, 685, *rest)
        + at(50, 500, "The second pump", size=20)
        + lines(50, 470, *rest)
        + lines(50, 90, "1 Which has burnt down since then.", size=8)
        + lines(50, 70, "2 The mark of this one is lost.", size=8)
    )

    text = extract(content)

    assert text.endswith("2 The mark of this one is lost.")
    assert text.index("1 Which has burnt down") < text.index("# The second pump")


def test_a_word_that_is_broken_over_two_pages_is_whole_again() -> None:
    first = lines(50, 700, *[_LONG] * 3, "and at the end of the page there is an exam-")
    first += lines(50, 90, "1 A note at the foot of the page.", size=8)
    second = lines(50, 700, "ple of a word that is broken.", *[_LONG] * 3)

    text = extract_file(io.BytesIO(document(first, second)), name="a.pdf").text

    assert "there is an example\n" in text
    assert "\nof a word that is broken." in text
