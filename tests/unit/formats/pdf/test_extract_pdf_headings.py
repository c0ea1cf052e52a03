"""PDF: what is a heading, what only looks like one, and their levels."""

import pytest

from tests.builders.make_pdf import at, lines
from tests.unit.formats.pdf.headed_pages import PROSE, headings, sections


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

    assert headings(notes + at(50, 90, "Important", font="B") + lines(50, 70, *PROSE)) == [
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

    assert headings(content) == ["# 1 First", "# 2 Second", "# 3 Third"]


def test_a_size_that_sets_paragraphs_is_no_size_of_headings() -> None:
    code = [
        lines(50, 700 - 90 * row, *["x = call(y, z) and more of it"] * 6, size=7)
        for row in range(6)
    ]
    text = [at(50, 720 - 90 * row, f"A short paragraph of {'abcdef'[row]}.") for row in range(6)]

    assert headings(b"".join(part for pair in zip(text, code, strict=True) for part in pair)) == []


def test_a_bold_heading_goes_on_below_if_its_line_is_full() -> None:
    body = lines(50, 600, *PROSE * 5)
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


@pytest.mark.parametrize("leader", [" . . . . ", "....", " "])
@pytest.mark.parametrize("size", [12, 16])
def test_entries_of_a_table_of_contents_are_no_headings(leader: str, size: float) -> None:
    titles = ["1 Valves", "2 Pumps", "3 Cold hall"]
    entries = [f"{title}{leader}{7 * place}" for place, title in enumerate(titles, start=1)]
    contents = lines(50, 700, "Contents", *entries, size=size, font="B")
    text = sections(
        *(at(50, 700 - 150 * place, title, size=16) for place, title in enumerate(titles))
    )

    found = headings(contents + at(50, 400, PROSE[0]), text)

    assert [title.lstrip("# ") for title in found if "Contents" not in title] == titles


def test_numbered_titles_that_end_with_numbers_are_headings() -> None:
    content = sections(*(at(50, 700 - 150 * n, f"Version {n + 1}", size=16) for n in range(4)))

    assert headings(content) == [f"# Version {n + 1}" for n in range(4)]


@pytest.mark.parametrize("title", ["3.4 mc", "2.3.1 if", "10.2 Go"])
def test_a_long_number_before_a_short_word_is_no_figure(title: str) -> None:
    assert headings(sections(at(50, 700, title, size=16))) == [f"# {title}"]


@pytest.mark.parametrize(
    "caption",
    ["Figure 3-1: Flow of the pump", "Table 3. Rates", "Abb. 2: Kurven", "Tableau 4 \u2013 Prix"],
)
def test_captions_in_large_type_are_no_headings(caption: str) -> None:
    content = sections(at(50, 700, caption, size=16), at(50, 550, "Real One", size=16))

    assert headings(content) == ["# Real One"]


def test_large_headings_that_end_with_a_full_stop_are_headings() -> None:
    content = sections(
        *(at(50, 700 - 150 * n, f"{n + 1}.1 Part {'abc'[n]} of it.", size=16) for n in range(3))
    )

    assert len(headings(content)) == 3


_HEAVY = [  # its weight follows from the width of its stems
    b"<< /Type /Font /Subtype /TrueType /BaseFont /Plain /Encoding /WinAnsiEncoding"
    b" /FirstChar 32 /LastChar 126 /Widths [%s] /FontDescriptor 12 0 R >>" % (b"500 " * 95),
    b"<< /Type /FontDescriptor /FontName /Plain /Flags 32 /StemV 150 /ItalicAngle 0 /Ascent 800"
    b" /Descent -200 /CapHeight 700 /FontBBox [0 -200 1000 800] >>",
]


@pytest.mark.parametrize(("body", "expected"), [("F", ["# Cold hall"]), ("W", [])])
def test_a_weight_that_all_text_states_is_not_bold(body: str, expected: list[str]) -> None:
    content = at(50, 700, "Cold hall", font="W") + lines(50, 680, *PROSE * 5, font=body)

    assert headings(content, extra=_HEAVY, fonts={"W": b"11 0 R"}) == expected


@pytest.mark.parametrize(
    "text",
    [
        "• Clone it as a module",
        "DIST += $(FONTS)",
        "y = ax + b for all",
        "https://a.example",
        "h hh",
    ],
)
def test_items_code_formulas_and_addresses_in_large_type_are_no_headings(text: str) -> None:
    content = sections(at(50, 700, text, size=16), at(50, 550, "Real One", size=16))

    assert headings(content) == ["# Real One"]


@pytest.mark.parametrize(
    ("below", "expected"),
    [("implement what is common to all.", []), ("Implements what is common.", ["# Core modules"])],
)
def test_a_bold_term_that_its_definition_goes_on_is_no_heading(
    below: str, expected: list[str]
) -> None:
    content = at(50, 700, "Core modules", font="B") + lines(50, 680, below, *PROSE * 4)

    assert headings(content) == expected


@pytest.mark.parametrize("label", ["Tip", "Note:", "Warnung", "Astuce"])
def test_labels_of_paragraphs_are_no_headings(label: str) -> None:
    content = at(50, 700, label, font="B") + lines(50, 680, *PROSE * 6)

    assert headings(content) == []


def test_the_author_below_the_title_of_a_book_is_no_heading() -> None:
    title = at(50, 600, "The Book of Pumps", size=24) + at(50, 200, "Ann Lee", size=18)
    notice = lines(50, 100, *PROSE)
    chapter = sections(at(50, 700, "1 Valves", size=18))

    assert headings(title, notice, chapter) == ["# The Book of Pumps", "## 1 Valves"]


@pytest.mark.parametrize("before", [0, 1])
def test_the_last_line_of_a_page_is_a_heading_if_its_text_is_on_the_next(before: int) -> None:
    page = sections(at(50, 700, "Valves", size=18)) + at(50, 100, "Pumps", size=18)
    first = [sections(at(50, 700, "Safety", size=18))] * before

    found = headings(*first, page, lines(50, 700, *PROSE * 3))

    assert found == ["# Safety"] * before + ["# Valves", "# Pumps"]


def test_a_bold_heading_of_several_words_may_repeat() -> None:
    pages = [
        at(50, y, "Detailed Description", font="B") + lines(50, y - 20, *PROSE * 6)
        for y in (700, 600, 500, 650, 550)
    ]

    assert headings(*pages) == ["# Detailed Description"] * 5


@pytest.mark.parametrize("font", ["B", "I"])
def test_a_long_number_in_bold_or_italics_is_a_heading(font: str) -> None:
    content = sections(at(50, 700, "3.1.2 Angle: how it is measured.", font=font))
    italic = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Oblique >>"

    assert headings(content, extra=[italic], fonts={"I": b"11 0 R"}) == [
        "# 3.1.2 Angle: how it is measured."
    ]


def test_a_numbered_heading_in_small_bold_type_is_a_heading() -> None:
    content = sections(at(50, 700, "II. THE MODEL", size=10.5, font="B"))

    assert headings(content) == ["# II. THE MODEL"]
