"""PDF: tables with and without ruled lines, and what is none."""

import io

from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document, grid, lines


def extract(content: bytes) -> str:
    return extract_file(io.BytesIO(document(content)), name="a.pdf").text


def cells(xs: list[float], ys: list[float], rows: list[list[str]]) -> bytes:
    return b"".join(
        at(x + 4, y, text, size=10)
        for y, row in zip(ys, rows, strict=True)
        for x, text in zip(xs, row, strict=True)
        if text
    )


def test_a_ruled_table_is_markdown_with_the_text_around_it() -> None:
    table = grid([50, 150, 250, 350], [700, 680, 660, 640]) + cells(
        [50, 150, 250],
        [686, 666, 646],
        [["Item", "Price", "Stock"], ["Nut | bolt", "2", ""], ["Screw", "3", "40"]],
    )

    text = extract(at(50, 730, "Before the table.") + table + at(50, 600, "After it."))

    assert text == (
        "Before the table.\n\n"
        "| Item | Price | Stock |\n|---|---|---|\n"
        "| Nut \\| bolt | 2 |  |\n| Screw | 3 | 40 |\n\n"
        "After it."
    )


def test_ruled_table_cells_are_read_in_any_drawing_order() -> None:
    first = lines(54, 688, "Name", size=9) + lines(54, 668, "Ann", "Lee", size=9)
    second = lines(204, 688, "Town", size=9) + lines(204, 668, "Rome", size=9)

    text = extract(grid([50, 200, 350], [700, 680, 640]) + first + second)

    assert text == "| Name | Town |\n|---|---|\n| Ann Lee | Rome |"


def test_text_across_joined_cells_is_not_cut() -> None:
    rules = grid([50, 150, 250], [680, 660, 640]) + grid([50, 250], [700, 680])
    table = (
        rules
        + at(100, 686, "Joined heading", size=10)
        + cells([50, 150], [666, 646], [["a", "b"], ["c", "d"]])
    )

    assert "Joined heading" in extract(table)


def test_rules_around_a_form_with_few_words_make_no_table() -> None:
    text = extract(
        grid([50, 150, 250, 350, 450], [700, 680, 660, 640, 620])
        + cells([50, 350], [686, 626], [["Name", ""], ["", "Date"]])
    )

    assert "|" not in text
    assert "Name" in text
    assert "Date" in text


def test_rows_of_the_same_columns_are_a_table_without_rules() -> None:
    table = cells(
        [50, 200, 350],
        [700, 686, 672, 658],
        [
            ["Town", "People", "Area"],
            ["Rome", "2,800", "1,285"],
            ["Oslo", "700", "454"],
            ["Bern", "134", "52"],
        ],
    )

    assert extract(table) == (
        "| Town | People | Area |\n|---|---|---|\n"
        "| Rome | 2,800 | 1,285 |\n| Oslo | 700 | 454 |\n| Bern | 134 | 52 |"
    )


def test_two_columns_are_a_table_if_the_second_holds_numbers() -> None:
    rows = [["Rent", "1,200"], ["Power", "85"], ["Water", "40"]]

    numbers = extract(cells([50, 300], [700, 686, 672], rows))
    words = extract(cells([50, 300], [700, 686, 672], [[a, "to be paid soon"] for a, _ in rows]))

    assert numbers == "| Rent | 1,200 |\n|---|---|\n| Power | 85 |\n| Water | 40 |"
    assert "|" not in words


def test_columns_of_prose_are_not_a_table() -> None:
    prose = "a column of a text in three"
    row = [prose, "which goes on and on so that", "nobody takes it for a table"]

    text = extract(cells([40, 230, 420], [700, 686, 672, 658], [row] * 4))

    assert "|" not in text


def test_prose_is_left_alone() -> None:
    text = extract(lines(50, 700, *["Some words of a text that goes on and on."] * 8))

    assert "|" not in text
