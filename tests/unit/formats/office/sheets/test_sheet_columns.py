"""Tables that stand side by side on a sheet."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders.make_sheets import Cell, excel_4, xlsx

PEOPLE: list[list[Cell]] = [["Name", "Age"], ["Ann", 34], ["Bob", 7]]


def extract(data: bytes, name: str = "a.xlsx") -> Document:
    return extract_file(io.BytesIO(data), name=name)


def text_of(*rows: list[Cell]) -> str:
    """What the rows of one sheet become, without its name."""
    return extract(xlsx({"S": rows})).text.removeprefix("## S").strip()


def test_tables_side_by_side_are_read_one_after_the_other() -> None:
    text = text_of(
        ["People", None, None, None, "Towns"],
        [None, None, None, None, "Town", "Mayor", "Size"],
        ["Name", "Age", None, None, "Rome", "Bo", 5],
        ["Ann", 34, None, None, "Bonn", "Al", 6],
        [],
        ["Bob", 7, None, None, "Oslo", "Ed", 7],
    )

    assert text == (
        "People\n\n- Name: Ann; Age: 34\n\n- Name: Bob; Age: 7\n\nTowns\n\n"
        "- Town: Rome; Mayor: Bo; Size: 5\n- Town: Bonn; Mayor: Al; Size: 6\n\n"
        "- Town: Oslo; Mayor: Ed; Size: 7"
    )


def test_rows_of_tables_side_by_side_are_counted() -> None:
    rows: list[list[Cell]] = [[*row, None, *row] for row in PEOPLE]

    document = extract(xlsx({"S": rows}))

    assert document.text.startswith(
        "## S\n\n- Name: Ann; Age: 34\n- Name: Bob; Age: 7\n\n- Name: Ann"
    )
    assert document.metadata["sheets"] == [{"name": "S", "rows": 6}]


@pytest.mark.parametrize(
    ("rows", "first"),
    [
        ([["Name", "Age", None, "Note"], ["Ann", 34, None, "x"]], "- Name: Ann; Age: 34; Note: x"),
        ([["Item", None, 2023, 2024], ["Rain", None, 5, 6]], "- Item: Rain; 2023: 5; 2024: 6"),
        ([[1, 2, None, 3, 4], [5, 6, None, 7, 8]], "| 1 | 2 | 3 | 4 |\n"),
    ],
)
def test_an_empty_column_within_a_table_does_not_cut_it(rows: list[list[Cell]], first: str) -> None:
    assert text_of(*rows).startswith(first)


def test_excel_4_tables_side_by_side_may_start_below_each_other() -> None:
    data = excel_4(
        [["Name", "Age"], ["Ann", 3.0], ["Bob", 7.0, "", "Town", "Size"], ["", "", "", "Rome", 5.0]]
    )

    assert extract(data, "a.xls").text.endswith("- Name: Bob; Age: 7\n\n- Town: Rome; Size: 5")
