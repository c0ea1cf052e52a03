"""PDF: where a paragraph ends and the next one begins."""

import io
from dataclasses import replace

import pytest

from ingest.formats.pdf.layout.line_ends import line_ends
from ingest.formats.pdf.layout.line_pitch import is_new_paragraph, widest_pitches
from ingest.formats.pdf.layout.paragraphs import is_wrapped
from ingest.formats.pdf.layout.raised import join_broken
from ingest.formats.pdf.layout.text_lines import Line, PageLines
from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document, lines

_LONG = "This line is as wide as the column of its page can be"
_MONO = {"C": b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>"}
_GOES_ON = "each of the lines goes on in the one that follows it, and"
_ENDS = "the end of this sentence is at the end of its full line."
_NOTE = "in small type, as wide as the column of its page, goes on"
_LAST = "here it ends."


def justified(*texts: str, left: float = 50, right: float = 400, y: float = 700) -> bytes:
    """Lines below each other that all end at the right edge; the last one ends where it ends."""
    scales = [100 * (right - left) / (7.2 * len(text)) for text in texts[:-1]]
    return b"".join(
        at(left, y - 14 * place, text, font="C", before=f"{scale:.4f} Tz")
        for place, (text, scale) in enumerate(zip(texts, [*scales, 80], strict=True))
    )


def extract_mono(*content: bytes) -> str:
    data = document(b"".join(content), fonts=_MONO)
    return extract_file(io.BytesIO(data), name="a.pdf").text


def test_a_gap_between_paragraphs_tells_them_apart_though_the_last_line_is_full() -> None:
    above = justified(*[_GOES_ON] * 4, _ENDS, "")
    below = justified("The next " + _GOES_ON, _GOES_ON, _LAST, y=700 - 5 * 14 - 3)

    text = extract_mono(above, below)

    assert text.split("\n\n") == [
        " ".join([_GOES_ON] * 4 + [_ENDS]),
        f"The next {_GOES_ON} {_GOES_ON} {_LAST}",
    ]


def test_items_farther_apart_than_most_lines_of_their_page_are_told_apart() -> None:
    items = [justified(_ENDS.capitalize(), "", y=700 - 20 * place) for place in range(9)]

    text = extract_mono(*items, justified(*[_GOES_ON] * 5, _LAST, y=500))

    assert text.split("\n\n")[:9] == [_ENDS.capitalize()] * 9


def test_an_indented_line_begins_a_paragraph_though_the_one_above_is_indented_too() -> None:
    text = extract_mono(
        justified(_GOES_ON, "so.", y=728),
        justified("One: " + _ENDS, "", left=70, y=700),
        justified("Next, " + _GOES_ON, "", left=70, y=686),
        justified(_GOES_ON, _GOES_ON, _LAST, y=672),
    )

    assert text.split("\n")[1:] == [
        f"One: {_ENDS}",
        f"Next, {_GOES_ON} {_GOES_ON} {_GOES_ON} {_LAST}",
    ]


@pytest.mark.parametrize("first", ["\u2022 One, ", "PUMP   "])
def test_sentences_of_an_item_or_a_definition_are_one_paragraph(first: str) -> None:
    text = extract_mono(
        justified(_GOES_ON, _GOES_ON, "end.", y=760),
        justified(first + _ENDS, "", y=700),
        justified("And " + _GOES_ON, _GOES_ON, _LAST, left=70, y=686),
    )

    begins = " ".join(first.split())
    assert text.endswith(f"\n\n{begins} {_ENDS} And {_GOES_ON} {_GOES_ON} {_LAST}")


def test_a_dash_between_two_parts_of_a_sentence_begins_no_item() -> None:
    dash = "- that is how wide this page is - and it ends here."

    assert extract_mono(justified(_GOES_ON, dash)) == f"{_GOES_ON} {dash}"


def test_items_with_dashes_keep_their_lines() -> None:
    items = ("- those that are as wide as the column of the page, and", "- small ones")

    text = extract_mono(justified(f"{_GOES_ON} these:", *items))

    assert text.endswith("these:\n" + "\n".join(items))


def test_behind_an_article_a_name_goes_on_in_the_sentence() -> None:
    text = extract_mono(
        justified(_GOES_ON, _GOES_ON, ""),
        justified("This is the most beautiful of all, the", "", right=310, y=672),
        justified("Wharf there.", y=658),
    )

    assert text.endswith("the most beautiful of all, the Wharf there.")


def test_a_line_of_code_is_no_part_of_the_sentence_above() -> None:
    sheet = (
        lines(50, 700, *[_LONG] * 3)
        + at(50, 656.8, "rm -rf /tmp/pumps", font="C")
        + lines(50, 600, *[_LONG] * 3)
        + at(50, 500, "ls -l /tmp/valves", font="C")
    )

    assert "\nrm -rf /tmp/pumps\n" in extract_mono(sheet)


def test_the_first_line_of_a_note_is_part_of_it_though_its_mark_is_small() -> None:
    note = (
        f"BT 1 0 0 1 50 109 Tm /F 6 Tf 3 Ts (4) Tj /F 9 Tf 0 Ts ( A note {_NOTE}) Tj ET\n".encode()
    )

    text = extract_mono(
        lines(50, 700, *[_LONG] * 9) + note + at(50, 98, "in its next line.", size=9)
    )

    assert text.endswith(f"4 A note {_NOTE} in its next line.")


def test_a_paragraph_that_begins_with_an_accent_is_apart() -> None:
    above = justified(_GOES_ON, _GOES_ON, "it is.")
    below = lines(50, 700 - 2 * 14 - 20.5, "\u00c9vitez that.")

    assert "it is.\n\n\u00c9vitez" in extract_mono(above, below)


def test_a_line_that_is_higher_for_its_figures_or_formulas_begins_no_paragraph() -> None:
    distances = [14, 17, 14, 14, 17, 14, 17]
    ys = [700 - sum(distances[:place]) for place in range(8)]
    texts = [_GOES_ON] * 3 + [_ENDS, f"Next, {_GOES_ON}", *[_GOES_ON] * 2, _LAST]
    sheet = [justified(text, "", y=y) for text, y in zip(texts[:-1], ys, strict=False)]

    assert extract_mono(*sheet, at(50, ys[-1], _LAST, font="C")) == " ".join(texts)


def test_figures_in_a_right_to_left_line_do_not_set_it_apart() -> None:
    text = "هذا نص طويل يمتد على سطر كامل من الصفحة"
    lines_ = [
        Line(f"{text}{end}", left=50, right=300, top=700 - 10 * n, bottom=690 - 10 * n, size=9)
        for n, end in enumerate(["", "", "", "", "."])
    ]
    below = Line(f"{text} 35", left=50, right=300, top=648, bottom=638, size=9)
    pitches = widest_pitches(lines_)

    assert not is_new_paragraph(lines_[-1], below, pitches)
    assert is_new_paragraph(lines_[-1], replace(below, text=text), pitches)


@pytest.mark.parametrize("keys", [("1987", "1993", "2001"), ("384337", "384526", "384584")])
def test_entries_with_numbers_of_as_many_figures_keep_their_lines(keys: tuple[str, ...]) -> None:
    entries = [f"{key} an entry that is as wide as the column is" for key in keys]

    assert extract_mono(justified(*entries, "")) == "\n".join(entries)


def test_a_year_at_the_beginning_of_a_line_is_part_of_its_sentence() -> None:
    texts = [_GOES_ON, f"1987 {_GOES_ON}", *[_GOES_ON] * 9, f"1993 {_GOES_ON}", _LAST]

    assert extract_mono(justified(*texts)) == " ".join(texts)


def test_behind_a_word_joined_at_its_hyphen_the_sentence_goes_on() -> None:
    broken = ("This is a short line with a re-", "construction (as it is called) and its end.")

    assert extract_mono(lines(50, 700, *broken)) == (
        "This is a short line with a reconstruction (as it is called) and its end."
    )


def test_a_line_that_begins_in_other_type_is_part_of_its_paragraph() -> None:
    small = Line(
        "priority is high, and then this line is as wide as it is",
        left=50,
        right=350,
        top=700,
        bottom=686,
        size=9.75,
    )
    below = Line("Everything goes on.", left=50, right=250, top=686, bottom=672, size=12)
    page = PageLines([small, below], box=(0, 800, 600, 0))

    assert is_wrapped(small, below, line_ends(page))


def test_what_follows_a_mark_in_brackets_is_on_its_line() -> None:
    parts = [
        Line("Of the old country [4]", left=50, right=200, top=717, bottom=700, size=12),
        Line(", which is far away", left=200, right=300, top=714, bottom=700, size=12),
    ]
    page = PageLines(parts, box=(0, 800, 600, 0), has_parts=True)

    join_broken(page)

    assert [line.text for line in page.lines] == ["Of the old country [4], which is far away"]


def test_a_line_broken_behind_a_comma_goes_on_but_a_list_with_commas_does_not() -> None:
    wide = justified(*[_GOES_ON] * 3, "so.", y=760)
    prose = justified("This line is broken by hand, somewhere,", "", right=310)
    listed = justified("all of the old pumps by the harbour,", "", right=310, y=640)

    text = extract_mono(
        wide,
        prose,
        justified("because it is so.", y=686),
        listed,
        justified("some of the valves,", y=626),
    )

    assert "somewhere, because it is so." in text
    assert text.endswith("by the harbour,\nsome of the valves,")


@pytest.mark.parametrize(
    "entries",
    [
        ("The pumps of the harbour, and all of the valves 289", "The marks of the harbour 290"),
        ("a pump of the harbour in all of its years, 31, 245", "a valve of the harbour, 7, 12"),
        (
            "1.2 the pumps of the harbour . . . . . . . . . . 182",
            "a valve of the harbour . . 183",
        ),
    ],
)
def test_entries_that_end_in_pages_keep_their_lines(entries: tuple[str, str]) -> None:
    text = extract_mono(justified(*[_GOES_ON] * 3, *entries, ""))

    assert "\n".join(entries) in text


def test_a_title_that_ends_in_two_years_goes_on() -> None:
    years = "the pumps that the harbour has bought from 1996", "until the end of the year of 2021"

    assert " ".join(years) in extract_mono(justified(*[_GOES_ON] * 3, *years, ""))
