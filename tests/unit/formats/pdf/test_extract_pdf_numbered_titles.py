"""PDF: titles that count with the pages, and running heads with their page number."""

import io
from typing import Any

import pytest

from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document, lines

_SUBJECTS = ("Pumps", "Valves", "Harbours", "Ferries", "Cranes", "Lights")
_PROSE = ("Some words of a text that goes on,", "line after line, so that it has a size.") * 3


def pages(*sheets: bytes) -> list[str]:
    found = extract_file(io.BytesIO(document(*sheets)), name="a.pdf")
    return [found.text[page.start : page.end] for page in found.pages]


@pytest.mark.parametrize("y", [770, 730])
@pytest.mark.parametrize(
    "title",
    [
        "Exercise {}",
        "{}. Aufgabe",
        "Exercice n° {}",
        "Übungsblatt {}",
        "Question {} of 12",
        "Slide {}: {}",
        "Working paper {} of the board",
        "Tutorial exercise {}",
        "Report of {} March 2026",
        "Invoice No. {}",
    ],
)
def test_titles_that_count_with_the_page_stay_above_its_text(title: str, y: float) -> None:
    titles = [title.format(n, subject) for n, subject in enumerate(_SUBJECTS, start=1)]

    found = pages(*(at(50, y, text) + lines(50, 700, *_PROSE) for text in titles))

    assert [page.replace("\\", "").split("\n")[0].lstrip("# ") for page in found] == titles


@pytest.mark.parametrize(
    ("title", "foot"), [({"size": 16}, ""), ({"font": "B"}, ""), ({}, "{}"), ({}, "Board | {}")]
)
def test_a_title_is_told_by_its_type_or_by_another_page_number(
    title: dict[str, Any], foot: str
) -> None:
    found = pages(
        *(
            at(50, 770, f"Harbour Board {n}", **title)
            + lines(50, 700, *_PROSE)
            + at(50, 30, foot.format(n))
            for n in range(1, 7)
        )
    )

    firsts = [page.split("\n")[0].lstrip("# ") for page in found]
    assert firsts == [f"Harbour Board {n}" for n in range(1, 7)]
    assert not any("|" in page for page in found)


@pytest.mark.parametrize("y", [770, 30])
@pytest.mark.parametrize(
    "text",
    [
        "Harbour Board {}",
        "{} Harbour Board",
        "Page {} of 12",
        "\N{EN DASH} {} \N{EN DASH}",
        "Chapter 2 | {}",
        "Página {} de 12",
        "Exercises, p. {}",
        "Harbour Board {}/12",
    ],
)
def test_running_heads_with_their_page_number_are_left_out(text: str, y: float) -> None:
    found = pages(*(at(50, y, text.format(n)) + lines(50, 700, *_PROSE) for n in range(1, 7)))

    assert [page[: len(_PROSE[0])] for page in found] == [_PROSE[0]] * 6
    assert [page[-len(_PROSE[-1]) :] for page in found] == [_PROSE[-1]] * 6


@pytest.mark.parametrize("head", [{}, {"size": 16}])
def test_what_stands_in_the_middle_of_a_sentence_is_no_title(
    head: dict[str, Any],
) -> None:
    text = ("words of a sentence that goes on", "from line to line and from page to page") * 3

    found = pages(
        *(at(50, 770, f"Exercises {n}", **head) + lines(50, 700, *text) for n in range(1, 7))
    )

    assert not any("Exercises" in page for page in found)


def test_a_page_number_at_the_other_margin_is_no_title() -> None:
    found = pages(
        *(
            lines(50, 700, *_PROSE) + at(50, 770, "Exercises") + at(300, 770, str(n))
            for n in range(1, 7)
        )
    )

    assert not any("Exercises" in page for page in found)
