"""PDF: order, paragraphs, hyphens, headings."""

import io

import pytest

from ingest.formats.pdf.headings.mark import mark_headings
from ingest.formats.pdf.layout.hyphens import join_hyphenated
from ingest.formats.pdf.layout.reading_order import sort_lines
from ingest.formats.pdf.layout.text_lines import HYPHEN, Line, PageLines
from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders.make_pdf import Sheet, at, document, lines

_PROSE = ("Some words of a text that goes on and on,", "line after line, so that it has a size.")


def extract(
    *sheets: Sheet | bytes, catalog: bytes = b"", extra: list[bytes] | None = None
) -> Document:
    data = document(*sheets, catalog=catalog, extra=extra or [])
    return extract_file(io.BytesIO(data), name="a.pdf")


def pages(found: Document) -> list[str]:
    return [found.text[page.start : page.end] for page in found.pages]


def hyphens_joined(*texts: str) -> list[str]:
    page = PageLines([Line(text) for text in texts])
    join_hyphenated([page])
    return [line.text for line in page.lines]


def test_a_line_written_last_comes_before_those_below_it() -> None:
    found = extract(lines(50, 600, "first below", "second below") + at(50, 700, "Written last"))

    assert found.text == "Written last\n\nfirst below\nsecond below"


def test_columns_keep_the_order_of_the_file() -> None:
    left = lines(50, 700, "left one", "left two", "left three")
    right = lines(320, 700, "right one", "right two", "right three")

    found = extract(left + right)

    assert " ".join(found.text.split()) == (
        "left one left two left three right one right two right three"
    )


def test_a_title_over_two_columns_comes_first_though_written_last() -> None:
    left = lines(50, 700, "left one", "left two")
    right = lines(320, 700, "right one", "right two")

    found = extract(
        left + right + at(50, 750, "A title that is as wide as both of the columns are")
    )

    assert found.text.split("\n", 1)[0].startswith("A title")


def test_a_headline_written_before_the_columns_above_it_leaves_each_whole() -> None:
    headline = at(50, 500, "A headline below both of the columns, as wide as they are together")
    left = lines(50, 700, "left one", "left two", "left three")
    right = lines(320, 700, "right one", "right two", "right three")

    below = at(50, 470, "Text below it")

    found = extract(headline + left + right + below)

    assert " ".join(found.text.split()).startswith(
        "left one left two left three right one right two right three A headline"
    )


def test_a_foot_written_first_leaves_the_text_in_its_order() -> None:
    foot = at(50, 30, "208 A report of a company that has a long name and Annex 209")
    left = lines(50, 700, "Lines of the left", "column", "are read", "at first.")
    right = lines(320, 700, "Those of the right", "one", "follow", "them.")

    text = " ".join(extract(foot + left + right).text.split())

    assert text.startswith(
        "Lines of the left column are read at first. Those of the right one follow them. 208 A"
    )


def test_text_printed_over_text_keeps_its_order() -> None:
    table = lines(50, 700, "row one", "row two", "row three", "row four")

    found = extract(table + lines(50, 693, "a note printed over", "the rows of the table"))

    assert found.text.startswith("row one\nrow two\nrow three\nrow four")


def test_rotated_page_is_read_as_displayed() -> None:
    # Written sideways, shown upright: the first line has the smaller x.
    content = b"".join(
        b"BT /F 12 Tf 0 1 -1 0 %d 100 Tm (%s) Tj ET\n" % (x, text)
        for x, text in ((214, b"below"), (200, b"above"))
    )

    assert extract(Sheet(content=content, entries=b"/Rotate 90")).text == "above\nbelow"


def test_a_gap_between_lines_starts_a_paragraph() -> None:
    first = lines(50, 700, "one", "two", "three")

    assert extract(first + lines(50, 620, "four", "five")).text == "one\ntwo\nthree\n\nfour\nfive"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["an exam" + HYPHEN, "ple of it"], ["an example", "of it"]),
        (["an exam" + HYPHEN, "ple"], ["an example"]),
        (["adip" + HYPHEN, "iscing, elit"], ["adipiscing,", "elit"]),
        (["inter" + HYPHEN, "nation" + HYPHEN, "al law"], ["international", "law"]),
        (["Anglo" + HYPHEN, "Saxon times"], ["Anglo-Saxon", "times"]),
        (["a self" + HYPHEN, "made man"], ["a self-made", "man"]),
        (["state-of" + HYPHEN, "the art"], ["state-of-the", "art"]),
        (
            ["a well-known one", "a well" + HYPHEN, "known one"],
            ["a well-known one", "a well-known", "one"],
        ),
        (["pre" + HYPHEN, "and post-war"], ["pre-", "and post-war"]),
        (["in 1990" + HYPHEN, "2000"], ["in 1990-", "2000"]),
        (["the end" + HYPHEN], ["the end-"]),
    ],
)
def test_broken_words_are_joined_and_compounds_keep_their_hyphen(
    texts: list[str], expected: list[str]
) -> None:
    assert hyphens_joined(*texts) == expected


def test_word_hyphenated_at_the_end_of_a_line_is_joined() -> None:
    found = extract(lines(50, 700, "This is a demon-", "stration of it."))

    assert found.text == "This is a demonstration of it."


def test_larger_lines_are_headings_by_their_size() -> None:
    content = (
        at(50, 750, "A Report", size=24)
        + at(50, 700, "Its First Part", size=16)
        + lines(50, 680, *_PROSE * 3)
        + at(50, 500, "Its Second Part", size=16)
        + lines(50, 480, *_PROSE * 3)
    )

    headings = [line for line in extract(content).text.split("\n") if line.startswith("#")]

    assert headings == ["# A Report", "## Its First Part", "## Its Second Part"]


def test_a_heading_of_two_lines_is_one() -> None:
    content = lines(50, 750, "A Title That Is", "Rather Long", size=20)

    assert "# A Title That Is Rather Long\n" in extract(content + lines(50, 650, *_PROSE * 3)).text


def test_large_numbered_lines_below_each_other_are_headings_of_their_own() -> None:
    titles = lines(50, 740, "A. Call to order", "B. Approval of the agenda", size=20, font="B")

    found = extract(titles + lines(50, 600, *_PROSE * 3))

    assert found.text.startswith("# A. Call to order\n\n# B. Approval of the agenda\n")
    assert found.warnings == ()


def test_lines_merged_into_a_heading_are_not_numbered_headings() -> None:
    body = [Line("word " * 40, right=500, top=500 - 20 * row, size=10) for row in range(4)]
    title, rest = (
        Line("A heading", top=700, bottom=680, right=300, size=20),
        Line("that goes on", top=675, bottom=655, right=300, size=20, bold=True),
    )

    mark_headings([PageLines([title, rest, *body], box=(0, 800, 600, 0))], [])

    assert (title.text, title.level) == ("A heading that goes on", 1)
    assert (rest.text, rest.level) == ("", 0)


def test_a_page_without_lines_is_in_order() -> None:
    page = PageLines([], box=(0, 800, 600, 0), jumps=True)

    sort_lines(page)

    assert page.lines == []


def test_bold_numbered_lines_are_headings_and_bold_words_are_not() -> None:
    content = (
        at(50, 700, "1.2 Method", font="B")
        + lines(50, 680, *_PROSE * 2)
        + at(50, 600, "Important: do not touch", font="B")
        + at(50, 580, "2 apples were eaten", font="F")
        + lines(50, 560, *_PROSE * 2)
    )

    headings = [line for line in extract(content).text.split("\n") if line.startswith("#")]

    assert headings == ["# 1.2 Method"]


def test_entries_of_a_table_of_contents_are_not_headings() -> None:
    content = at(50, 700, "Introduction . . . . . . . . . 5", size=18)

    assert "#" not in extract(content + lines(50, 650, *_PROSE * 3)).text


def test_a_page_that_is_all_large_has_no_headings() -> None:
    slide = lines(50, 700, *["A poster says its few words large"] * 6, size=24)

    assert "#" not in extract(slide + lines(50, 300, "small print")).text


def test_bookmarks_make_headings_of_lines_in_the_body_font() -> None:
    outline = [
        b"<< /Type /Outlines /First 12 0 R /Last 12 0 R /Count 1 >>",
        b"<< /Title (2 Results) /Parent 11 0 R /Dest [15 0 R /Fit] >>",
    ]
    # Objects 13 and 14 are the contents and the page itself; the destination names the page.
    outline[1] = outline[1].replace(b"15 0 R", b"14 0 R")

    found = extract(
        at(50, 700, "Results") + lines(50, 650, *_PROSE),
        catalog=b"/Outlines 11 0 R",
        extra=outline,
    )

    assert found.text.startswith("# Results\n\n")


def test_what_only_looks_like_markdown_is_escaped() -> None:
    found = extract(lines(50, 700, "# not a heading", "| not a row", "------"))

    assert found.text == "\\# not a heading\n\\| not a row\n\\------"


def test_a_page_is_never_left_empty() -> None:
    found = extract(*[at(50, 770, "Form 12")] * 5)

    assert pages(found) == ["Form 12"] * 5
    assert found.coverage.with_text == 5


@pytest.mark.parametrize("rotate", [0, 90])
def test_text_upside_down_that_is_set_in_pieces_keeps_its_lines(rotate: int) -> None:
    rows = ("Every word of these lines", "is an object of its own,", "as recognition writes it.")
    content = b"".join(
        at(60 + 70 * column, 500 - 14 * row, word)
        for row, line in enumerate(rows)
        for column, word in enumerate(line.split())
    )
    matrix = {0: b"-1 0 0 -1 600 800", 90: b"0 -1 1 0 0 800"}[rotate]
    sheet = Sheet(content=b"q %s cm\n%sQ\n" % (matrix, content), entries=b"/Rotate %d" % rotate)

    assert extract(sheet).text.split() == " ".join(rows).split()


@pytest.mark.parametrize("matrix", [b"0 1 -1 0 600 0", b"0 -1 1 0 0 800", b"-1 0 0 -1 600 800"])
def test_text_that_runs_up_or_down_the_page_is_read_as_if_it_were_upright(matrix: bytes) -> None:
    rows = [
        ("Article", "Part", "Amount"),
        ("A-1", "bolt", "120.00"),
        ("A-2", "nut", "7.50"),
        ("A-3", "rod", "1,020.10"),
    ]
    content = (
        at(60, 540, "Deliveries of the year", size=20)
        + lines(
            60, 500,
            "The first line of the paragraph is about as long as the second one is,",
            "because a line that is wrapped reaches the end of the column that it is in",
            "and goes on below it until the end.",
        )
        + b"".join(
            at(60 + 150 * column, 420 - 20 * row, text)
            for row, cells in enumerate(rows)
            for column, text in enumerate(cells)
        )
    )  # fmt: skip
    upright = document(Sheet(content=content))
    turned = document(Sheet(content=b"q %s cm\n%sQ\n" % (matrix, content)))

    texts = [extract_file(io.BytesIO(data), name="a.pdf").text for data in (upright, turned)]

    assert "| A-3 | rod | 1,020.10 |" in texts[0]
    assert texts[1] == texts[0]
