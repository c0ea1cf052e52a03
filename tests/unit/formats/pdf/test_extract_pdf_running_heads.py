"""PDF: titles of pages and running heads, which stand in the same place."""

import io

from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document, lines

_SUBJECTS = ("Pumps", "Valves", "Harbours", "Ferries", "Cranes", "Lights")
_PROSE = ("Some words of a text that goes on,", "line after line, so that it has a size.") * 3


def pages(*sheets: bytes) -> list[str]:
    found = extract_file(io.BytesIO(document(*sheets)), name="a.pdf")
    return [found.text[page.start : page.end] for page in found.pages]


def test_the_title_of_each_slide_stays_above_its_text() -> None:
    slides = [
        at(50, 740, f"Why we build {subject}", size=24) + lines(50, 640, *_PROSE)
        for subject in _SUBJECTS
    ]

    found = pages(*slides)

    assert [page.split("\n")[0] for page in found] == [
        f"# Why we build {subject}" for subject in _SUBJECTS
    ]


def test_the_name_of_a_chapter_follows_the_text_of_its_pages() -> None:
    heads = ["Part one of it", *["Part two of it"] * 3, *["Part three of it"] * 3]

    found = pages(*(at(50, 760, head, size=15) + lines(50, 700, *_PROSE) for head in heads))

    assert found[1].endswith("\n\nPart two of it")
    assert found[6].endswith("\n\nPart three of it")


def test_a_numbered_running_foot_in_bold_is_no_heading() -> None:
    sheets = [
        lines(50, 700, *_PROSE) + at(50, 30, f"{number + 2} All about {subject}", font="B")
        for number, subject in enumerate(_SUBJECTS)
    ]

    found = pages(*sheets)

    assert found[1].endswith("\n\n3 All about Valves")
    assert not any("#" in page for page in found)


def test_a_word_broken_at_the_end_of_a_page_takes_nothing_from_a_running_foot() -> None:
    sheets = [
        lines(50, 700, *_PROSE, "Then they went back to re-") + at(50, 30, f"xiv {subject}")
        for subject in _SUBJECTS
    ]

    assert pages(*sheets)[1].endswith("Then they went back to re-\n\nxiv Valves")
