"""PDF: raised marks behind figures and words, in text and in the cells of tables."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document, grid, lines

_DIGIT = 0.556  # width of a figure of Helvetica by font size


def extract(content: bytes) -> str:
    return extract_file(io.BytesIO(document(content)), name="a.pdf").text


def marked(x: float, y: float, figure: str, mark: str, *, gap: float, rise: float) -> bytes:
    """A figure of digits and commas with a raised mark at this distance behind it, in points."""
    width = 10 * sum(0.278 if sign == "," else _DIGIT for sign in figure)
    return at(x, y, figure, size=10) + at(x + width + gap, y + rise, mark, size=6)


@pytest.mark.parametrize("is_ruled", [True, False])
@pytest.mark.parametrize(("gap", "rise"), [(0, 4), (1.5, 4), (3, 4), (0, 7)])
def test_marks_behind_figures_in_cells_keep_apart(
    gap: float, rise: float, *, is_ruled: bool
) -> None:
    def row(y: float, name: str, mark: str, people: str, behind: str) -> bytes:
        return (
            at(54, y, name, size=10)
            + marked(154, y, people, mark, gap=gap, rise=rise)
            + marked(254, y, "83879", behind, gap=gap, rise=rise)
        )

    head = at(54, 686, "Land", size=10) + at(154, 686, "People", size=10)
    table = head + at(254, 686, "Area", size=10)
    table += row(666, "Austria", "3", "8,935,112", "1")
    table += row(646, "France", "12", "67,413,000", "2")
    table += row(626, "Spain", "1", "2020", "3")
    if is_ruled:
        table += grid([50, 150, 250, 350], [700, 680, 660, 640, 620])

    assert extract(lines(50, 760, "Some text before it.") + table).endswith(
        "| Land | People | Area |\n|---|---|---|\n"
        "| Austria | 8,935,112³ | 83879¹ |\n"
        "| France | 67,413,000¹² | 83879² |\n"
        "| Spain | 2020¹ | 83879³ |"
    )


def test_a_mark_behind_a_space_belongs_to_its_word() -> None:
    content = at(50, 700, "Land") + at(79, 705, "2", size=7) + at(90, 700, "and sea.")

    assert extract(content) == "Land^2 and sea."


def test_marks_of_several_notes_are_one_mark() -> None:
    assert extract(at(50, 700, "Rossi") + at(79, 705, "1,2)", size=7)) == "Rossi^1,2)"


@pytest.mark.parametrize("below", [b"", at(84, 693, "3", size=7)])
def test_what_stands_above_another_figure_is_no_mark(below: bytes) -> None:
    content = at(50, 700, "Buy 5") + at(84, 706, "2", size=7) + at(92, 700, "of it.") + below

    assert ("Buy 5²" in extract(content)) is not bool(below)


def test_the_numerator_of_a_fraction_is_no_exponent() -> None:
    fraction = at(85, 704, "1", size=6) + at(88.4, 700, "/") + at(91.8, 699, "2", size=6)

    text = extract(lines(50, 740, "Some text before it.") + at(50, 700, "Bolts 2 ") + fraction)

    assert "\u00b9" not in text


def test_figures_of_the_size_of_the_text_are_no_marks() -> None:
    content = at(50, 700, "The second Haj 2 and") + at(170, 700, "12", size=7)

    assert extract(content + at(185, 700, "more.")) == "The second Haj 2 and 12 more."


def note(x: float, y: float) -> bytes:
    """A note with a raised mark, behind which pdfium breaks the line."""
    return (
        f"BT 1 0 0 1 {x} {y} Tm 4 Ts /F 6 Tf (1) Tj 0 Ts /F 10 Tf ( In the cold hall.) Tj ET\n"
    ).encode()


def test_the_raised_mark_of_a_note_begins_its_line() -> None:
    content = lines(50, 700, *["Text of the page."] * 5) + note(50, 100)

    assert extract(content).endswith("\n1 In the cold hall.")


def test_the_raised_mark_of_a_note_makes_no_table() -> None:
    rows = [("Land", "People", "Area"), ("Austria", "35", "83"), ("France", "67", "54")]
    table = b"".join(
        at(x, 600 - 20 * place, cell, size=10)
        for place, row in enumerate(rows)
        for x, cell in zip((58, 158, 258), row, strict=True)
    )

    assert extract(lines(50, 700, "Some text.") + table + note(50, 545)).endswith(
        "| France | 67 | 54 |\n\n1 In the cold hall."
    )
