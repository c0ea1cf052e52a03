"""PDF: tables without rules whose header has a line of groups above it."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document

_ROWS = (
    ("Region", "Plan", "Actual", "Plan", "Actual"),
    ("North", "10", "12", "14", "15"),
    ("South", "20", "22", "24", "25"),
    ("West", "30", "32", "34", "35"),
)
_XS = (54, 154, 224, 294, 364)


def extract(*groups: tuple[float, str], last: bool = False) -> str:
    above = b"".join(at(x, 718, name, size=10) for x, name in groups)
    table = b"".join(
        at(x, 700 - 18 * place, cell, size=10)
        for place, row in enumerate(_ROWS)
        for x, cell in zip(_XS, row, strict=True)
    )
    content = table + above if last else above + table
    return extract_file(io.BytesIO(document(content)), name="a.pdf").text


@pytest.mark.parametrize("last", [False, True])
def test_groups_between_their_columns_name_each_of_them(*, last: bool) -> None:
    assert extract((190, "2023"), (330, "2024"), last=last) == (
        "| Region | 2023 Plan | 2023 Actual | 2024 Plan | 2024 Actual |\n"
        "|---|---|---|---|---|\n"
        "| North | 10 | 12 | 14 | 15 |\n"
        "| South | 20 | 22 | 24 | 25 |\n"
        "| West | 30 | 32 | 34 | 35 |"
    )


def test_names_above_single_columns_are_no_groups() -> None:
    text = extract((58, "in all"), (158, "new"), (228, "old"), (298, "up"), (368, "down"))

    assert "new Actual" not in text
    assert "| North | 10 | 12 | 14 | 15 |" in text


def test_a_header_in_lower_case_is_a_row_of_its_own() -> None:
    rows = [("item", "price", "stock"), ("Nut", "2", "9"), ("Bolt", "3", "40"), ("Nail", "4", "7")]
    content = b"".join(
        at(x, 700 - 18 * place, cell, size=10)
        for place, row in enumerate(rows)
        for x, cell in zip(_XS, row, strict=False)
    )

    found = extract_file(io.BytesIO(document(content)), name="a.pdf").text

    assert found.startswith("| item | price | stock |\n|---|---|---|\n| Nut | 2 | 9 |")


def test_names_over_several_columns_name_them() -> None:
    found = extract((158, "First half of the year"), (298, "Second half of the year"))

    assert found.startswith(
        "| Region | First half of the year Plan | First half of the year Actual |"
        " Second half of the year Plan | Second half of the year Actual |\n"
    )


@pytest.mark.parametrize("xs", [(154, 294), (158, 300)])
def test_names_above_the_first_of_columns_that_repeat(xs: tuple[float, float]) -> None:
    found = extract((xs[0], "2023"), (xs[1], "2024"))

    assert found.startswith("| Region | 2023 Plan | 2023 Actual | 2024 Plan | 2024 Actual |\n")


def test_a_line_above_a_table_that_is_no_group_stays_above_it() -> None:
    found = extract((100, "Report of"), (420, "Oslo"))

    assert "Report of Plan" not in found
    assert "Oslo Actual" not in found


def test_names_of_single_columns_beside_groups_are_part_of_their_header() -> None:
    rows = (
        ("", "Men", "Women", "Men", "Women", "people"),
        ("20-29", "10", "12", "14", "15", "51"),
        ("30-39", "20", "22", "24", "25", "91"),
    )
    xs = (54, 154, 224, 294, 364, 450)
    content = b"".join(
        at(x, 700 - 18 * place, cell, size=10)
        for place, row in enumerate(rows)
        for x, cell in zip(xs, row, strict=True)
        if cell
    )
    names = ((54, "Age"), (165, "Living in town"), (300, "Living elsewhere"), (450, "All"))
    above = b"".join(at(x, 718, name, size=10) for x, name in names)

    found = extract_file(io.BytesIO(document(above + content)), name="a.pdf").text

    assert found.startswith(
        "| Age | Living in town Men | Living in town Women | Living elsewhere Men |"
        " Living elsewhere Women | All people |\n"
    )


def test_names_of_two_words_are_not_split_at_their_columns() -> None:
    found = extract((160, "All of it"), (300, "New of it"), last=False)

    assert "All of it Plan | All of it Actual | New of it Plan | New of it Actual |" in found
