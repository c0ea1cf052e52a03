"""PDF: running heads that repeat headings, page numbers of some pages, what browsers print."""

import io

import pytest

from ingest.formats.pdf.layout.text_lines import Line, PageLines
from ingest.formats.pdf.running_heads.known_heads import drop_known
from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document, lines

_BOX = (0, 800, 600, 0)
_SUBJECTS = ("Pumps", "Valves", "Harbours", "Ferries", "Cranes", "Lights")
_PROSE = ("Some words of a text that goes on,", "line after line, so that it has a size.") * 3


def pages(*sheets: bytes) -> list[str]:
    found = extract_file(io.BytesIO(document(*sheets)), name="a.pdf")
    return [found.text[page.start : page.end] for page in found.pages]


@pytest.mark.parametrize(
    "foot",
    ["2.{n} {subject} and more | {page}", "Old Harbours: {cut}", "Chapter 2. Old... 2.{n} {cut}"],
)
def test_a_running_foot_that_says_what_headings_say_is_left_out(foot: str) -> None:
    title = at(50, 740, "2 Old Harbours", size=24)
    sheets = [
        (title if n == 1 else b"")
        + at(50, 660, f"2.{n} {subject} and more", size=16)
        + lines(50, 630, *_PROSE)
        + at(50, 30, foot.format(page=n + 12, n=n, subject=subject, cut=f"{subject} and m..."))
        for n, subject in enumerate(_SUBJECTS, start=1)
    ]

    found = pages(*sheets)

    assert not any("|" in page or "Chapter" in page or "..." in page for page in found)
    assert all(page.endswith("so that it has a size.") for page in found)


def test_what_a_running_foot_says_beside_a_heading_stays() -> None:
    sheets = [
        at(50, 660, f"2.{n} {subject}", size=16)
        + lines(50, 630, *_PROSE)
        + at(50, 30, f"{subject}: made in {place}")
        for n, (subject, place) in enumerate(zip(_SUBJECTS, "ABCDEF", strict=True), start=1)
    ]

    found = pages(*sheets)

    assert [page[-1] for page in found] == list("ABCDEF")


def test_page_numbers_that_stand_alone_on_some_pages_are_left_out() -> None:
    feet = ["xi", "12", "13 Of pumps", "14", "15 Of valves", "16"]

    found = pages(*(lines(50, 700, *_PROSE) + at(50, 30, foot) for foot in feet))

    assert [page.removeprefix(found[0]).strip() for page in found] == [
        *("", "", "13 Of pumps", "", "15 Of valves", ""),
    ]


def test_figures_at_the_edge_that_do_not_count_with_the_pages_stay() -> None:
    feet = ["31", "12", "Of pumps", "17", "Of valves", "16", "8"]

    found = pages(*(lines(50, 700, *_PROSE) + at(50, 30, foot) for foot in feet))

    assert all(page.endswith(foot) for page, foot in zip(found, feet, strict=True))


def test_running_heads_of_half_of_the_pages_that_say_what_headings_say_are_left_out() -> None:
    chapter = [
        at(50, 700, f"{n} Of {subject}", size=24) + lines(50, 600, *_PROSE)
        for n, subject in enumerate(_SUBJECTS, start=1)
    ]
    second = [
        at(50, 770, f"Chapter {n}: Of {subject}      {2 * n}") + lines(50, 700, *_PROSE)
        for n, subject in enumerate(_SUBJECTS, start=1)
    ]

    found = pages(*(page for both in zip(chapter, second, strict=True) for page in both))

    assert not any("Chapter" in page for page in found)
    assert [page.split("\n")[0] for page in found[::2]] == [
        f"# {n} Of {subject}" for n, subject in enumerate(_SUBJECTS, start=1)
    ]


@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize(
    "head", ["11/30/26, 4:18 PM  The Pumps of Leeds", "The Pumps of Leeds  2026-11-30 16:18"]
)
def test_what_a_browser_prints_at_the_edges_is_there_once_at_most(head: str, count: int) -> None:
    foot = "https://pumps.example/leeds.html {}/{}"
    sheets = [
        at(24, 770, head, size=8)
        + lines(34, 756, f"The text of page {'abcdef'[n]} goes on", *_PROSE)
        + at(24, 16, foot.format(n + 1, count), size=8)
        for n in range(count)
    ]

    found = pages(*sheets)

    assert not any("Leeds" in page or "https" in page for page in found[1:-1])
    assert sum(page.count("Leeds") for page in found) <= 1
    assert sum(page.count("https") for page in found) <= 1


def test_titles_of_slides_that_name_their_section_again_stay() -> None:
    """The heading of the section is in a table of contents on another slide."""
    slides = []
    for name in _SUBJECTS:
        contents = [_line(f"Of {name}", 500, level=1), _line("Of others", 480)]
        title, *text = _line(f"Of {name} (1/2)", 780, size=14), *map(_line, _PROSE, (700, 680, 660))
        slides += [PageLines(lines, box=_BOX) for lines in (contents, [title, *text])]

    drop_known(slides)

    assert [page.lines[0].text for page in slides[1::2]] == [f"Of {n} (1/2)" for n in _SUBJECTS]


@pytest.mark.parametrize("foot", ["Invoice No. {}", "Rechnung Nr. {}", "Lot #{}"])
def test_numbers_of_other_things_than_pages_stay(foot: str) -> None:
    feet = [foot.format(number) for number in range(17, 26)]

    found = pages(*(lines(50, 700, *_PROSE) + at(50, 30, foot) for foot in feet))

    assert [page.rpartition("\n")[2] for page in found] == feet


def _line(text: str, y: float, size: float = 10, level: int = 0) -> Line:
    return Line(text, left=50, top=y + size, right=300, bottom=y, size=size, level=level)
