"""PDF: headers and footers; titles of pages and running heads, which stand in the same place."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document, lines

_SUBJECTS = ("Pumps", "Valves", "Harbours", "Ferries", "Cranes", "Lights")
_PROSE = ("Some words of a text that goes on,", "line after line, so that it has a size.") * 3


def pages(*sheets: bytes) -> list[str]:
    found = extract_file(io.BytesIO(document(*sheets)), name="a.pdf")
    return [found.text[page.start : page.end] for page in found.pages]


def test_headers_and_footers_of_every_page_are_dropped() -> None:
    found = pages(
        *(
            at(50, 770, "ACME annual report")
            + lines(50, 700, f"Words of page {number}.", "More words.", "And some more.")
            + at(300, 30, f"Page {number} of 5")
            for number in range(1, 6)
        )
    )

    assert found == [
        f"Words of page {number}.\nMore words.\nAnd some more." for number in range(1, 6)
    ]


def test_headers_of_alternate_pages_are_dropped_and_rare_ones_kept() -> None:
    def sheet(number: int) -> bytes:
        header = "The Book" if number % 2 else f"Chapter {'abcd'[number // 4]}"
        return at(50, 770, header) + lines(
            50, 700, f"Text {'xyz' * number}.", "Text.", "More text."
        )

    found = pages(*map(sheet, range(10)))

    assert not any("The Book" in page for page in found)
    assert any("Chapter b" in page for page in found)


def test_the_title_of_each_slide_stays_above_its_text() -> None:
    slides = [
        at(50, 740, f"Why we build {subject}", size=24) + lines(50, 640, *_PROSE)
        for subject in _SUBJECTS
    ]

    found = pages(*slides)

    assert [page.split("\n")[0] for page in found] == [
        f"# Why we build {subject}" for subject in _SUBJECTS
    ]


def test_the_name_of_a_chapter_follows_the_text_of_its_first_page() -> None:
    heads = ["Part one of it", *["Part two of it"] * 3, *["Part three of it"] * 3]

    found = pages(*(at(50, 760, head, size=15) + lines(50, 700, *_PROSE) for head in heads))

    assert [page.split("\n\n")[1:] for page in found[1:]] == [
        *(["Part two of it"], [], []),
        *(["Part three of it"], [], []),
    ]


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


def sheet(number: int, head: str, foot: str, *rest: str) -> bytes:
    text = lines(50, 700, f"Sheet {number} begins.", *_PROSE, *rest)
    return at(50, 770, head) + text + at(50, 30, foot)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_in_few_pages_a_running_head_stays_once(count: int) -> None:
    head, foot = "Harbour Board", "Annual report of 2025, page"

    found = pages(*(sheet(n, head, f"{foot} {n}") for n in range(1, count + 1)))

    text = "\n".join(found)
    assert text.count(head) <= 1
    assert text.count(foot) <= 1
    assert all(page.startswith(f"Sheet {n}") for n, page in enumerate(found[1:], start=2))


def test_in_four_pages_a_foot_larger_than_most_of_the_text_is_left_out() -> None:
    found = pages(
        *(
            lines(50, 700, f"Sheet {n}", *_PROSE, size=15 if n == 2 else 11)
            + at(50, 30, f"Pumps, page {n}", size=15)
            for n in range(1, 5)
        )
    )

    assert not any("Pumps" in page for page in found)


@pytest.mark.parametrize("foot", ["{}", "- {} -", "Page {} of 3", "Seite {}", "{}/3"])
def test_in_few_pages_page_numbers_are_left_out(foot: str) -> None:
    found = pages(*(sheet(n, f"Letter of May {n + 20}", foot.format(n)) for n in range(1, 4)))

    assert not any(page.endswith(foot.format(n)) for n, page in enumerate(found, start=1))
    assert [f"Letter of May {n + 20}" in found[n - 1] for n in range(1, 4)] == [True] * 3


def test_in_few_pages_what_differs_or_is_a_title_stays() -> None:
    dates = [f"Paid on the {day}.3.2026" for day in (4, 5)]
    slides = [
        at(50, 740, "What we do", size=24) + lines(50, 640, f"Slide {n}", *_PROSE) for n in (1, 2)
    ]

    receipts = pages(*(sheet(n, "Receipt", dates[n - 1]) for n in (1, 2)))

    assert [date in page for date, page in zip(dates, receipts, strict=True)] == [True, True]
    assert [page.split("\n")[0] for page in pages(*slides)] == ["# What we do"] * 2


def test_in_a_letter_of_two_pages_the_letterhead_stays_first() -> None:
    found = pages(*(sheet(n, "Heron Pumps, 12 Quay Street, Leeds", str(n)) for n in (1, 2)))

    assert found[0].startswith("Heron Pumps, 12 Quay Street, Leeds\n")
    assert found[1].startswith("Sheet 2 begins.")


@pytest.mark.parametrize(
    "titles",
    [("Exercise 1", "Exercise 2", "Exercise 3"), ("Tag 1", "Tag 2"), ("2", "2"), ("\u2022",) * 3],
)
def test_in_few_pages_numbered_titles_figures_and_bullets_stay(titles: tuple[str, ...]) -> None:
    found = pages(*(at(50, 770, title) + lines(50, 700, *_PROSE) for title in titles))

    assert [page.split("\n")[0].lstrip("# ") for page in found] == list(titles)


def test_in_few_pages_a_numbered_running_head_stays_once() -> None:
    found = pages(*(sheet(n, f"Harbour Board \u2013 page {n}", "") for n in (1, 2, 3)))

    assert ["Harbour Board" in page for page in found] == [True, False, False]


@pytest.mark.parametrize(("head", "y"), [("Item and its place", 728), ("Name of the pupil:", 770)])
def test_in_few_pages_column_heads_and_fields_stay(head: str, y: float) -> None:
    found = pages(
        *(at(50, y, head) + lines(50, 700, f"Sheet {n}", *_PROSE) for n in (1, 2, 3)),
    )

    assert all(page.startswith(head) for page in found)


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize(
    ("text", "y"),
    [
        ("{}. Aufgabe", 770),
        ("{} Introduction", 770),
        ("Exercise: {}", 770),
        ("Invoice - {}", 770),
        ("Number of parcels: {}", 30),
        ("Total score {}", 30),
        ("Temperature \N{EN DASH}{}", 30),
        ("Option {}", 60),
        ("Sample P{}", 30),
        ("$ {}", 30),
    ],
)
def test_in_few_pages_titles_and_values_that_count_with_the_page_stay(
    text: str, y: float, count: int
) -> None:
    texts = [text.format(n) for n in range(1, count + 1)]

    found = pages(*(at(50, y, line) + lines(50, 700, *_PROSE) for line in texts))

    kept = [line in page.replace("\\", "") for line, page in zip(texts, found, strict=True)]
    assert kept == [True] * count


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize(
    "foot",
    [
        "Harbour Board \N{EN DASH} {}",
        "Harbour Board | {}",
        "{} | Harbour Board",
        "Harbour Board, p. {}",
        "Harbour Board, Seite: {}",
    ],
)
def test_in_few_pages_a_foot_with_a_separate_page_number_stays_once_at_most(
    foot: str, count: int
) -> None:
    found = pages(*(sheet(n, "", foot.format(n)) for n in range(1, count + 1)))

    assert not any("Harbour Board" in page for page in found[1:])


def test_in_few_pages_a_foot_with_its_page_number_at_the_other_margin_stays_once() -> None:
    found = pages(*(sheet(n, "", "Harbour Board") + at(540, 30, str(n)) for n in (1, 2, 3)))

    assert ["Harbour Board" in page for page in found] == [True, False, False]


@pytest.mark.parametrize("y", [770, 30])
def test_in_many_pages_values_at_the_edge_stay(y: float) -> None:
    scores = [87, 42, 91, 65, 12, 77]

    found = pages(
        *(at(50, y, f"Total score {score}") + lines(50, 700, *_PROSE) for score in scores)
    )

    assert [f"Total score {score}" in page for score, page in zip(scores, found, strict=True)] == [
        True
    ] * 6


@pytest.mark.parametrize(
    "numbers",
    [range(1, 9), range(31, 39), [1, 2, 3, 4, 1, 2, 3, 4]],
    ids=["all", "part", "chapters"],
)
def test_in_many_pages_a_foot_with_its_page_number_is_left_out(numbers: list[int]) -> None:
    found = pages(
        *(lines(50, 700, *_PROSE) + at(50, 30, f"Harbour Board 2024 {n}") for n in numbers)
    )

    assert not any("Harbour" in page for page in found)
