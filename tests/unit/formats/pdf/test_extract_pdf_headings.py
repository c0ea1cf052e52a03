"""PDF: what is a heading, what only looks like one, and their levels."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document, lines

_PROSE = ("Some words of a text that goes on and on,", "line after line, so that it has a size.")


def headings(*sheets: bytes, catalog: bytes = b"", extra: list[bytes] | None = None) -> list[str]:
    data = document(*sheets, catalog=catalog, extra=extra or [])
    text = extract_file(io.BytesIO(data), name="a.pdf").text
    return [line for line in text.split("\n") if line.startswith("#")]


def sections(*titles: bytes) -> bytes:
    """Each title at its place, 150 points apart, with prose below it."""
    return b"".join(
        title + lines(50, 680 - 150 * place, *_PROSE * 3) for place, title in enumerate(titles)
    )


@pytest.mark.parametrize(
    "text",
    ["1,186 crore", "$4.5m", "85%", "*A12345B678*", "Introduction . . . . 5", "2 000 000 km"],
)
def test_figures_and_codes_in_large_type_are_no_headings(text: str) -> None:
    assert headings(sections(at(50, 700, text, size=24), at(50, 550, "Real One", size=16))) == [
        "# Real One"
    ]


@pytest.mark.parametrize("text", ["2.1 Basic types", "2023 Highlights", "3 steps to success"])
def test_numbers_before_words_are_headings(text: str) -> None:
    assert headings(sections(at(50, 700, text, size=16))) == [f"# {text}"]


def test_a_bold_line_alone_and_the_usual_words_are_headings() -> None:
    content = sections(
        at(50, 700, "Cold hall", font="B"), at(50, 550, "Conclusion"), at(50, 400, "The end")
    )

    assert headings(content) == ["# Cold hall", "# Conclusion"]


def test_a_label_that_repeats_is_no_heading() -> None:
    notes = sections(*(at(50, 700 - 150 * place, "Note", font="B") for place in range(4)))

    assert headings(notes + at(50, 90, "Important", font="B") + lines(50, 70, *_PROSE)) == [
        "# Important"
    ]


def test_of_headings_of_one_level_without_text_between_them_the_last_remains() -> None:
    title = at(50, 770, "Ann Lee", size=16) + at(50, 735, "Town of Rome", size=16)

    assert headings(title + sections(at(50, 700, "One Title", size=16))) == ["# One Title"]


def test_the_number_of_a_chapter_is_joined_to_its_title() -> None:
    content = at(50, 740, "Chapter 3", size=18) + sections(at(50, 700, "The Pumps", size=24))

    assert headings(content) == ["# Chapter 3: The Pumps"]


def test_sections_numbered_alike_have_the_same_level() -> None:
    content = sections(
        at(50, 700, "1 First", size=16),
        at(50, 550, "2 Second", size=16),
        at(50, 400, "3 Third", size=18),
    )

    assert headings(content) == ["## 1 First", "## 2 Second", "## 3 Third"]


def test_a_size_that_sets_paragraphs_is_no_size_of_headings() -> None:
    code = [
        lines(50, 700 - 90 * row, *["x = call(y, z) and more of it"] * 6, size=7)
        for row in range(6)
    ]
    text = [at(50, 720 - 90 * row, f"A short paragraph of {'abcdef'[row]}.") for row in range(6)]

    assert headings(b"".join(part for pair in zip(text, code, strict=True) for part in pair)) == []


def test_a_bold_heading_goes_on_below_if_its_line_is_full() -> None:
    body = lines(50, 600, *_PROSE * 5)
    full = lines(50, 640, "Explanation of one Small Change", "Applicability", font="B")
    short = lines(50, 640, "Minutes", "Of a session in June", font="B")

    assert headings(full + body) == ["# Explanation of one Small Change Applicability"]
    assert headings(short + body) == ["# Minutes"]


def test_the_text_of_tables_tells_the_size_of_the_body() -> None:
    rows = [("Valve", "Place", "Pressure")] + [
        (f"V-{n}", "cellar", f"{n}.5 bar") for n in range(12)
    ]
    cells = b"".join(
        at(60 + 150 * column, 640 - 20 * row, text, size=9)
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    )
    note = at(50, 380, "All valves were tested in the spring of that year.", size=12)

    assert headings(at(50, 700, "Valve register", size=12.5) + cells + note) == ["# Valve register"]
