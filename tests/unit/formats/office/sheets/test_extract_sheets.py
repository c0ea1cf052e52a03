"""Workbooks: rows as records, sheets, formats of all ages."""

import io
import zipfile

import pytest

from tests.builders.make_files import zipped
from tests.builders.make_mail import ole
from tests.builders.make_sheets import (
    Cell,
    excel_4,
    excel_97_stream,
    ods,
    ods_row,
    xlsx,
)
from tests.unit.formats.office.sheets.workbooks import PEOPLE, extract, refusal


def text_of(*rows: list[Cell]) -> str:
    """What the rows of one sheet become, without its name."""
    return extract(xlsx({"S": rows})).text.removeprefix("## S").strip()


def test_rows_are_records_under_the_name_of_their_sheet() -> None:
    document = extract(
        xlsx({"People": PEOPLE, "Empty": [], "Towns": [["Town", "River"], ["A", "B"]]})
    )

    assert document.text == (
        "## People\n\n- Name: Ann; Age: 34\n- Name: Bob; Age: 7\n\n## Towns\n\n- Town: A; River: B"
    )


def test_a_hidden_sheet_without_cells_needs_no_warning() -> None:
    assert extract(xlsx({"Open": PEOPLE, "Lists": []}, hidden=["Lists"])).warnings == ()


def test_a_hidden_sheet_is_read_and_marked() -> None:
    document = extract(xlsx({"Open": PEOPLE, "Secret": [["only word"]]}, hidden=["Secret"]))

    assert document.text.endswith("## Secret (hidden)\n\nonly word")
    assert document.warnings == ("hidden_sheets",)
    assert document.metadata["sheets"] == [
        {"name": "Open", "rows": 3},
        {"name": "Secret", "rows": 1, "hidden": True},
    ]


def test_empty_cells_are_left_out_and_line_ends_become_spaces() -> None:
    assert text_of(["Name", "Age", "City"], ["Ann\nLee", None, "Rome"], ["Bob", 7, None]) == (
        "- Name: Ann Lee; City: Rome\n- Name: Bob; Age: 7"
    )


def test_windows_characters_that_are_control_characters_are_read() -> None:
    rows: list[list[Cell]] = [["Name", "Price"], ["Women\x92s wear \x96 new\x85", "5 \x80"]]

    assert text_of(*rows) == "- Name: Women\u2019s wear \u2013 new\u2026; Price: 5 \u20ac"


def test_names_of_columns_without_values_are_kept() -> None:
    assert text_of(
        ["Name", "Age", "Locker|Key", "Phone"],
        ["Ann", 7],
        [None],
        ["Bob", 8],
    ) == ("- Name: Ann; Age: 7\n\n- Name: Bob; Age: 8\n\n| Locker\\|Key | Phone |\n|---|---|")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (3.0, "3"),
        (0.1 + 0.2, "0.3"),
        (True, "TRUE"),
        (-1.5, "-1.5"),
        (1e21, "1E+21"),
        (1e-7, "1E-07"),
    ],
)
def test_values_look_as_people_see_them(value: float, shown: str) -> None:
    assert text_of(["Name", "Value"], ["x", value]) == f"- Name: x; Value: {shown}"


def test_title_above_the_header_is_kept_as_a_line() -> None:
    assert (
        text_of(["All people"], *PEOPLE)
        == "All people\n\n- Name: Ann; Age: 34\n- Name: Bob; Age: 7"
    )


def test_column_group_names_are_prefixed_to_column_names() -> None:
    text = text_of(
        [None, "2023", None, "2024"], ["Town", "Rain", "Sun", "Rain", "Sun"], ["A", 1, 2, 3, 4]
    )

    assert text.endswith("- Town: A; 2023 Rain: 1; 2023 Sun: 2; 2024 Rain: 3; 2024 Sun: 4")


def test_a_blank_row_separates_tables() -> None:
    assert text_of(*PEOPLE, [], ["Town", "Mayor"], ["Rome", "Bo"]) == (
        "- Name: Ann; Age: 34\n- Name: Bob; Age: 7\n\n- Town: Rome; Mayor: Bo"
    )


def test_a_blank_row_inside_of_a_table_does_not_take_its_header_away() -> None:
    assert text_of(*PEOPLE, [], ["Cy", 5]).endswith("- Name: Bob; Age: 7\n\n- Name: Cy; Age: 5")


def test_blank_row_below_a_header_is_allowed() -> None:
    assert text_of(["Name", "Age"], [], ["Ann", 34]) == "- Name: Ann; Age: 34"


def test_without_a_clear_header_rows_are_a_table() -> None:
    assert text_of([1, 2], [3, "a|b"]) == "| 1 | 2 |\n|---|---|\n| 3 | a\\|b |"


def test_a_header_of_two_lone_words_is_kept() -> None:
    assert text_of(["Name", "Age"]) == "| Name | Age |\n|---|---|"


def test_a_single_column_is_text_that_cannot_be_taken_for_structure() -> None:
    assert text_of(["# no heading"], ["second"]) == "\\# no heading\nsecond"


@pytest.mark.parametrize("end", ["</c>", "<v/></c>", "<v></v></c>"])
@pytest.mark.parametrize("formula", ["<f>SUM(A1)</f>", '<f t="shared" si="0"/>', "<f/>"])
def test_formulas_without_values_are_named(formula: str, end: str) -> None:
    row = f'<row r="1"><c r="A1"><v>1</v></c><c r="B1" s="2">{formula}{end}</row>'

    document = extract(xlsx({"S": row}))

    assert document.warnings == ("formulas_not_calculated",)
    assert document.metadata["notRead"] == ["formulas"]


@pytest.mark.parametrize(
    "cell",
    ['<c r="B1"><f>A1</f><v>1</v></c>', '<c r="B1" t="str"><f>A1</f><v></v></c>', '<c r="B1"/>'],
)
def test_formulas_with_values_are_read(cell: str) -> None:
    row = f'<row r="1"><c r="A1"><v>1</v></c>{cell}</row>'

    assert extract(xlsx({"S": row})).warnings == ()


def test_broken_sheet_does_not_affect_the_others() -> None:
    document = extract(xlsx({"Good": PEOPLE, "Bad": '<row r="1"><c r="A1"><v>1</oops>'}))

    assert "Ann" in document.text
    assert document.warnings == ("sheets_failed",)
    assert document.metadata["sheets"][1] == {"name": "Bad", "rows": 0, "failed": True}


def test_a_workbook_of_broken_sheets_is_corrupt() -> None:
    assert refusal(xlsx({"Bad": '<row r="1"><c r="A1"><v>1</oops>'})).code == "corrupt"


def test_a_workbook_without_cells_is_empty() -> None:
    assert refusal(xlsx({"S": []})).code == "empty_content"


@pytest.mark.parametrize("flat", [False, True])
def test_open_document_workbooks_are_read(flat: bool) -> None:
    data = ods(ods_row("Name", "City") + ods_row("Ann", "Rome"), flat=flat)

    assert extract(data, "a.fods" if flat else "a.ods").text == "## S\n\n- Name: Ann; City: Rome"


@pytest.mark.parametrize("kind", ["", "application/vnd.oasis.opendocument.spreadsheet-template"])
def test_open_document_sheets_are_read_without_a_usual_mimetype(kind: str) -> None:
    with zipfile.ZipFile(
        io.BytesIO(ods(ods_row("Name", "City") + ods_row("Ann", "Rome")))
    ) as found:
        parts = {name: found.read(name) for name in found.namelist() if name != "mimetype"}
    data = zipped(parts | ({"mimetype": kind.encode()} if kind else {}))

    assert extract(data, "a.ots").text == "## S\n\n- Name: Ann; City: Rome"


def test_excel_97_workbooks_are_read() -> None:
    data = ole({"Workbook": excel_97_stream([["Name", "Age"], ["Ann", 34.0]])})

    assert extract(data, "a.xls").text == "## S\n\n- Name: Ann; Age: 34"


def test_workbooks_from_before_containers_are_read() -> None:
    document = extract(excel_4([["Name", "Age"], ["Ann", 34.0]]), "a.xls")

    assert document.text == "## Sheet 1\n\n- Name: Ann; Age: 34"
    assert document.extractor.startswith("xlrd")


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (ole({"Workbook": excel_97_stream([["Name"]], locked=True)}), "a.xls"),
        (excel_4([["Name"]], locked=True), "a.xls"),
        (ods("", manifest="<m:file-entry><m:encryption-data/></m:file-entry>"), "a.ods"),
    ],
)
def test_a_workbook_with_a_password_is_encrypted(data: bytes, name: str) -> None:
    assert refusal(data, name).code == "encrypted"
