"""PDF: kinds of headings and what resembles them, and the levels of documents of many kinds."""

import pytest

from ingest.formats.pdf.headings.levels import set_levels
from ingest.formats.pdf.headings.outline import match_outline
from ingest.formats.pdf.layout.text_lines import Line, PageLines
from tests.builders.make_pdf import at, lines
from tests.unit.formats.pdf.headed_pages import PROSE, headings, sections


def test_authors_and_dates_around_the_title_are_no_headings() -> None:
    def centred(y: float, text: str, size: float) -> bytes:
        return at(306 - 0.25 * size * len(text), y, text, size=size)

    title = centred(740, "On Pumps", 24) + centred(700, "Ann Lee and Tom Rowe", 16)
    title += centred(670, "March 2024", 16) + lines(50, 640, *PROSE * 3)
    text = sections(at(50, 700, "1 Valves", size=18), at(50, 550, "Cold hall", size=18))

    assert headings(title, text) == ["# On Pumps", "## 1 Valves", "## Cold hall"]


@pytest.mark.parametrize("author", ["G. Mezzetti", "The Committee", "by Ann Lee"])
def test_lines_of_a_title_page_without_text_are_no_headings(author: str) -> None:
    title = at(50, 600, "The Book of Pumps", size=24) + at(50, 560, author, size=18, font="B")
    notice = lines(50, 300, "Rome, Via Roma 1", size=8)
    chapters = sections(
        *(
            at(50, 700 - 150 * n, name, size=18, font="B")
            for n, name in enumerate(["Valves", "Taps"])
        )
    )

    assert headings(title + notice, chapters) == ["# The Book of Pumps", "## Valves", "## Taps"]


def test_a_numbered_bold_heading_goes_on_below_if_its_line_is_full() -> None:
    title = lines(50, 640, "III. Explanation of one Small Rule", "Applicability", font="B")

    assert headings(title + lines(50, 600, *PROSE * 5)) == [
        "# III. Explanation of one Small Rule Applicability"
    ]


def test_the_only_section_below_a_title_is_a_heading() -> None:
    title = at(50, 740, "On Pumps", size=24)

    assert headings(title + sections(at(50, 700, "Cold hall", size=18))) == [
        "# On Pumps",
        "## Cold hall",
    ]


def test_headings_without_number_are_beside_numbered_ones_of_their_size() -> None:
    text = sections(at(50, 700, "1 Valves", size=18), at(50, 550, "1.1 Cold hall", size=15))
    more = sections(at(50, 700, "Terms", size=15), at(50, 550, "Sources", size=18))

    assert headings(text, more) == ["# 1 Valves", "## 1.1 Cold hall", "## Terms", "# Sources"]


def test_levels_without_headings_are_left_out_and_the_rarest_join_the_next() -> None:
    sizes = [30, 26, 23, 20, 18, 16, 14, 14]
    pages = [sections(at(50, 700, f"{'ABCDEFGH'[n]}bc", size=size)) for n, size in enumerate(sizes)]

    levels = [title.count("#") for title in headings(*pages)]

    assert levels == sorted(levels)
    assert levels[0] == 1
    assert levels[-3:] == [5, 6, 6]


@pytest.mark.parametrize(
    ("high", "low"),
    [("Abschnitt 1 Allgemeines", "§ 1 Zweck"), ("CHAPTER II. Duties", "Article 3. Controls")],
)
def test_articles_are_below_chapters_of_their_size(high: str, low: str) -> None:
    content = sections(at(50, 700, high, size=16), at(50, 550, low, size=16))

    assert headings(content) == [f"# {high}", f"## {low}"]


def test_the_number_of_an_article_is_joined_to_its_bold_title() -> None:
    titles = b"".join(
        at(50, 705 - 150 * n, f"Artikel {n + 1}", font="B")
        + at(50, 690 - 150 * n, title, font="B")
        + lines(50, 670 - 150 * n, *PROSE * 3)
        for n, title in enumerate(["Zweck", "Geltung", "Aufsicht"])
    )

    assert headings(titles) == [
        "# Artikel 1: Zweck",
        "# Artikel 2: Geltung",
        "# Artikel 3: Aufsicht",
    ]


def test_numbers_that_count_as_sections_do_are_headings_in_one_font() -> None:
    titles = ["1. Purpose", "1.1 Cold store", "1.2 Pumps", "2. Costs"]
    content = sections(*(at(50, 705 - 150 * n, title) for n, title in enumerate(titles)))

    assert headings(content) == ["# 1. Purpose", "## 1.1 Cold store", "## 1.2 Pumps", "# 2. Costs"]


@pytest.mark.parametrize(
    "titles",
    [
        ["1. Purpose", "3. Cold store", "7. Pumps"],  # do not count
        ["1. Purpose", "2. Costs"],  # too few
        ["1. purpose of it", "2. costs of it", "3. end of it"],
        ["1. Ann Lee. On pumps", "2. Tom Rowe. On costs", "3. Ann Lee. On the end"],
    ],
)
def test_other_numbers_are_no_headings_in_one_font(titles: list[str]) -> None:
    content = sections(*(at(50, 705 - 150 * n, title) for n, title in enumerate(titles)))

    assert headings(content) == []


def test_an_enumeration_is_no_row_of_headings() -> None:
    items = [f"{n}. {title}" for n, title in enumerate(["Purpose", "Costs", "Pumps", "Valves"], 1)]
    bold = lines(50, 700, *items, font="B")

    assert headings(bold + lines(50, 600, *PROSE * 20)) == []
    plain = b"".join(at(50, 700 - 30 * n, item) for n, item in enumerate(items))
    assert headings(plain + lines(50, 500, *PROSE * 2)) == []


def test_capitals_are_headings_in_one_font() -> None:
    titles = ["PURPOSE", "COLD STORE", "PUMPS"]
    content = sections(*(at(50, 705 - 150 * n, title) for n, title in enumerate(titles)))

    assert headings(content) == [f"# {title}" for title in titles]
    assert headings(sections(at(50, 705, "CONFIDENTIAL"))) == []


def test_names_of_speakers_are_no_headings() -> None:
    names = ["ANNA", "BEN (OFF)"] * 4
    pages = (at(50, 705 - 150 * n, name) for n, name in enumerate(names[:4]))
    again = (at(50, 705 - 150 * n, name) for n, name in enumerate(names[4:]))

    assert headings(sections(*pages), sections(*again)) == []


@pytest.mark.parametrize("name", ["Theorem 2", "Lemma 3.1 (Gauss)", "Définition 4", "Satz"])
def test_the_names_of_theorems_are_no_headings(name: str) -> None:
    assert headings(at(50, 700, name, font="B") + lines(50, 680, *PROSE * 6)) == []


@pytest.mark.parametrize(
    "text",
    ["log.txt Page 1/1", "Pumps, Seite 3 von 9", "ann@a.example", "Copyright (c) 2024 Ann Lee"],
)
def test_numbers_of_pages_and_addresses_are_no_headings(text: str) -> None:
    content = sections(at(50, 700, text, size=16), at(50, 550, "Real One", size=16))

    assert headings(content) == ["# Real One"]


def test_the_header_of_a_table_is_no_heading() -> None:
    header = at(50, 700, "Command", font="B") + at(250, 700, "Meaning of it", font="B")

    assert headings(header + lines(50, 680, *PROSE * 6)) == []


def test_the_size_of_a_line_is_that_of_its_longest_word() -> None:
    initial = at(50, 700, "T", size=30) + at(70, 700, "he first words of a long chapter")
    number = b"".join(
        at(30, 500 - 14 * n, f"{n + 10}", size=5)
        + at(50, 500 - 14 * n, "call(x, y) and more of it")
        for n in range(20)
    )

    assert headings(initial + lines(50, 680, *PROSE * 5)) == []
    assert headings(number + lines(50, 690, *PROSE)) == []


def _page(*texts: str, level: int = 0) -> PageLines:
    return PageLines([Line(text, size=12, level=level) for text in texts], box=(0, 800, 600, 0))


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Performance", ["VI. PERFORMANCE"]),
        ("Copying", ["Appendix A Copying"]),
        ("Chapter 3: Pumps", ["3 Pumps"]),
        ("字体", ["1.2 字体"]),
        ("What the members said about it", ["2 What the", "members said", "about it"]),
    ],
)
def test_the_number_and_the_lines_of_a_bookmarked_heading_may_differ(
    title: str, shown: list[str]
) -> None:
    page = _page("Text above.", *shown, "Text below.")

    assert len(match_outline([page], [(0, 2, title)])) == 1

    assert [(line.text, line.level) for line in page.lines if line.level] == [(" ".join(shown), 2)]


def test_a_bookmark_may_miss_the_page_of_its_heading_but_not_of_a_text() -> None:
    before, heading, text = _page("Text."), _page("Pumps", level=1), _page("Valves")
    pages = [before, heading, text]

    match_outline(pages, [(0, 3, "Pumps"), (1, 3, "Valves")])

    assert [line.level for page in pages for line in page.lines] == [0, 3, 0]


def test_the_lines_of_a_whole_title_are_its_heading_rather_than_those_without_its_number() -> None:
    page = PageLines([Line("APPENDIX A", size=12), Line("GENERATED TEXTS", size=12)])

    match_outline([page], [(0, 1, "Appendix A Generated texts")])

    assert [(line.text, line.level) for line in page.lines] == [
        ("APPENDIX A GENERATED TEXTS", 1),
        ("", 0),
    ]


def test_of_equal_lines_the_heading_is_the_one_that_is_bookmarked() -> None:
    page = PageLines([Line("Pumps"), Line("Pumps", level=1)], box=(0, 800, 600, 0))

    match_outline([page], [(0, 4, "Pumps")])

    assert [line.level for line in page.lines] == [0, 4]


@pytest.mark.parametrize(
    ("text", "is_heading"),
    [("0.9.12 as the upstream version.", False), ("5.1.2 angle: as it is measured.", True)],
)
def test_a_number_that_goes_on_in_a_sentence_is_no_heading(text: str, is_heading: bool) -> None:
    content = sections(at(50, 700, text, font="B"))

    assert headings(content) == ([f"# {text}"] if is_heading else [])


@pytest.mark.parametrize(("text", "is_heading"), [("Warning:", False), ("Notes", True)])
def test_labels_in_large_type_end_with_a_mark(text: str, is_heading: bool) -> None:
    content = sections(at(50, 700, text, size=16), at(50, 550, "Real One", size=16))

    assert headings(content) == [f"# {text}"] * is_heading + ["# Real One"]


@pytest.mark.parametrize("title", ["Step 2: Test the pump", "2) Pumps", "How do I open it?"])
def test_bold_lines_above_text_are_headings_in_short_documents(title: str) -> None:
    content = sections(at(50, 700, title, font="B"), at(50, 550, "Cold hall", font="B"))

    assert headings(content) == [f"# {title}", "# Cold hall"]
    label = at(50, 700, title, font="B") + at(50, 670, "Cold hall", font="B")
    assert headings(label + lines(50, 640, *PROSE * 2)) == []


def test_a_list_below_it_is_the_text_of_a_heading() -> None:
    title = at(50, 740, "Tomato soup", size=20) + at(50, 700, "Contents of it", size=15)
    items = at(50, 680, "\u2022 tomatoes") + at(50, 660, "\u2022 salt")
    text = sections(*[b"", at(50, 550, "Steps", size=15), at(50, 400, "Hints", size=15)])

    assert headings(title + items, text) == [
        "# Tomato soup",
        "## Contents of it",
        "## Steps",
        "## Hints",
    ]


@pytest.mark.parametrize(
    ("high", "low"),
    [("一、概述", "（一）目的"), ("第1章 概述", "第2節 目的")],  # noqa: RUF001
)
def test_chinese_numbers_tell_levels(high: str, low: str) -> None:
    found = [Line(high, size=12), Line(low, size=12), Line(low, size=12), Line(high, size=12)]

    set_levels(found, 11, 1.15)

    assert [line.level for line in found] == [1, 2, 2, 1]


def test_bookmarks_that_differ_in_their_figures_only_find_their_own_lines() -> None:
    titles = ["Version 4.1", "Version 4.2", "2 Version 4.3", "Version 3.9"]
    page = PageLines([Line(title, size=14) for title in titles])

    match_outline([page], [(0, 2, title.removeprefix("2 ")) for title in reversed(titles[1:])])

    assert [line.level for line in page.lines] == [0, 2, 2, 2]


def test_a_long_heading_that_was_joined_is_found_by_its_bookmark() -> None:
    title = "Why the pumps of the old harbour were built by people who had never seen a pump" * 2
    page = PageLines([Line("Text."), Line(title, size=16, level=1)])

    assert len(match_outline([page], [(0, 2, title)])) == 1
