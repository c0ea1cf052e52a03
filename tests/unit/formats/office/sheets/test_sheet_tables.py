"""Where tables begin and end on a sheet: below forms and titles, one below the other."""

import pytest

from tests.builders.make_sheets import Cell, xlsx
from tests.unit.formats.office.sheets.workbooks import extract

ITEMS: list[list[Cell]] = [
    ["No", "Item", "Qty", "Unit", "Price", "Total", "Remark"],
    [1, "Rope", 100, "m", 1.2, 120, "blue"],
    [2, "Buoy", 4, "pc", 55, 220],
]
ROPE = "- No: 1; Item: Rope; Qty: 100; Unit: m; Price: 1.2; Total: 120; Remark: blue"


def text_of(*rows: list[Cell], merged: list[str] | None = None) -> str:
    return extract(xlsx({"S": rows}, merged=merged or ())).text.removeprefix("## S").strip()


def empty_cells(count: int) -> list[Cell]:
    return [None] * count


def test_a_table_follows_the_fields_of_its_form_without_a_blank_row() -> None:
    text = text_of(
        ["ACME GmbH"],
        ["Rechnungsnummer:", None, "R-2026-0815"],
        ["Datum:", None, "05.03.2026", "Kunde:", "Nordwind"],
        *ITEMS,
    )

    assert text.startswith(
        "ACME GmbH\n- Rechnungsnummer: R-2026-0815\n- Datum: 05.03.2026; Kunde: Nordwind\n\n" + ROPE
    )


def test_labels_and_values_above_a_table_may_have_no_colons() -> None:
    text = text_of(
        ["Order form"],
        ["Customer", "Harbour Ltd", "Order no", "PO-771"],
        ["Phone", "+49 30 1234", "Currency", "EUR"],
        ["Project", "Quay"],
        *ITEMS,
    )

    assert text.startswith(
        "Order form\n- Customer: Harbour Ltd; Order no: PO-771\n"
        "- Phone: +49 30 1234; Currency: EUR\n- Project: Quay\n\n" + ROPE
    )


def test_fields_nearly_as_wide_as_the_table_are_no_header() -> None:
    text = text_of(
        ["Customer", "Harbour Ltd", "Order no", "PO-771"],
        ["Phone", "+49 30 1234", "Currency", "EUR"],
        ["Item", "Qty", "Unit", "Price", "Remark"],
        ["Rope", 1, "m", 2.5, "blue"],
    )

    assert text == (
        "- Customer: Harbour Ltd; Order no: PO-771\n- Phone: +49 30 1234; Currency: EUR\n\n"
        "- Item: Rope; Qty: 1; Unit: m; Price: 2.5; Remark: blue"
    )


def test_names_of_columns_that_are_usual_labels_are_a_header_of_wider_records() -> None:
    text = text_of(["Customer", "Revenue"], ["A", 1, "note"], ["B", 3])

    assert text == "- Customer: A; Revenue: 1; note\n- Customer: B; Revenue: 3"


@pytest.mark.parametrize("lines", [1, 6, 19])
def test_many_lines_may_stand_above_a_header(lines: int) -> None:
    above: list[list[Cell]] = [[f"Remark {number}"] for number in range(lines)]

    text = text_of(*above, ["Department", "Budget"], ["IT", 100], ["HR", 50])

    assert text.endswith(
        f"Remark {lines - 1}\n\n- Department: IT; Budget: 100\n- Department: HR; Budget: 50"
    )


def test_a_name_beside_the_names_of_columns_is_kept() -> None:
    text = text_of([None, "Plan", None, "Remark"], ["Item", 2025, 2026], ["Rope", 1, 2, "blue"])

    assert text == "- Item: Rope; Plan 2025: 1; Plan 2026: 2; Remark: blue"


def test_a_row_of_units_may_leave_out_columns_and_values_may_be_missing() -> None:
    text = text_of(
        ["yyyy", "mm", "tmax", "rain", "sun"],
        [None, None, "degC", "mm", "hours"],
        [1978, 9, 17.5, 26.7, "---"],
    )

    assert text == "- yyyy: 1978; mm: 9; tmax degC: 17.5; rain mm: 26.7; sun hours: ---"


def test_a_table_below_another_has_its_own_header() -> None:
    text = text_of(
        ["Name", "Age", "City"],
        ["Ann", 34, "Rome"],
        ["Bob", 7, "Oslo"],
        ["Revenue by quarter"],
        ["Quarter", "Revenue", "Growth"],
        ["Q1", 100, 0.05],
        ["Q2", 120, 0.2],
        ["Staff"],
        ["Town", "Heads"],
        ["Rome", 3],
    )

    assert text == (
        "- Name: Ann; Age: 34; City: Rome\n- Name: Bob; Age: 7; City: Oslo\n\n"
        "Revenue by quarter\n\n- Quarter: Q1; Revenue: 100; Growth: 0.05\n"
        "- Quarter: Q2; Revenue: 120; Growth: 0.2\n\nStaff\n\n- Town: Rome; Heads: 3"
    )


def test_titles_may_be_years_and_look_like_the_record_above() -> None:
    text = text_of(
        ["Year", "Sum"], [2022], [2023], ["Town", "Heads"], ["Rome", 3], [2024], ["A", "B"]
    )

    assert text == (
        "- Year: 2022\n\n| Sum |\n|---|\n\n2023\n\n"
        "- Town: Rome; Heads: 3\n- Town: 2024\n- Town: A; Heads: B"
    )


def test_a_record_of_words_after_one_of_a_single_cell_is_no_header() -> None:
    rows: list[list[Cell]] = [["Dan"], ["Eve", "unknown", "Bonn"], ["Fay", "unknown", "Kiel"]]

    text = text_of(["Name", "Age", "City"], ["Ann", 34, "Rome"], *rows, ["Gus", 3, "Ulm"])

    assert text.splitlines()[1:4] == [
        "- Name: Dan",
        "- Name: Eve; Age: unknown; City: Bonn",
        "- Name: Fay; Age: unknown; City: Kiel",
    ]


def test_a_header_is_left_out_where_it_is_repeated() -> None:
    header: list[Cell] = ["Name", "Age"]
    rows: list[list[Cell]] = [
        header,
        ["Ann", 34],
        header,
        ["Bob", 7],
        ["Cid", 51],
        header,
        ["Dan", 5],
    ]

    assert text_of(*rows) == (
        "- Name: Ann; Age: 34\n- Name: Bob; Age: 7\n- Name: Cid; Age: 51\n- Name: Dan; Age: 5"
    )


def test_sections_and_notes_are_no_records() -> None:
    note = "Source: World Statistics Office, 2025; figures are rounded."
    text = text_of(
        ["Product", "Q1", "Q2"],
        ["North"],
        ["Pump", 1, 2],
        ["Short"],
        ["South"],
        ["Pump", 7, 8],
        [note],
        merged=["A2:C2", "A5:C5"],
    )

    assert text == (
        "North\n\n- Product: Pump; Q1: 1; Q2: 2\n- Product: Short\n\nSouth\n\n"
        f"- Product: Pump; Q1: 7; Q2: 8\n\n{note}"
    )


def test_empty_columns_of_a_table_without_a_header_are_left_out() -> None:
    rows: list[list[Cell]] = [[None, 1, None, None, 2], [None, 3], [None, 5, None, None, 6]]

    assert text_of(*rows) == "| 1 | 2 |\n|---|---|\n| 3 |  |\n| 5 | 6 |"


def test_a_drawing_on_a_grid_of_narrow_columns_is_no_table() -> None:
    rows = [[*empty_cells(at), f"Rack {at}", 15 + at] for at in range(12)]

    assert text_of(["Room", 3, 4], *rows).startswith("Room; 3; 4\n- Rack 0: 15\n- Rack 1: 16\n")


def test_a_long_table_without_a_header_keeps_its_columns() -> None:
    rows: list[list[Cell]] = [[number, None, number + 1] for number in range(300)]

    lines = text_of(*rows[:250], [7, 8, 9]).splitlines()

    assert (lines[0], lines[-1]) == ("| 0 |  | 1 |", "| 7 | 8 | 9 |")


@pytest.mark.parametrize("missing", ["n/a", "Unknown", "TBD"])
def test_a_record_without_values_below_a_section_is_no_header(missing: str) -> None:
    text = text_of(["Name", "Age"], ["Ann", 34], ["Class B"], ["Bob", missing], ["Cid", 5])

    assert text.splitlines()[1:] == [
        "- Name: Class B",
        f"- Name: Bob; Age: {missing}",
        "- Name: Cid; Age: 5",
    ]


def test_a_table_like_the_one_above_begins_where_names_of_columns_are_repeated() -> None:
    days: list[list[Cell]] = [[f"{day} Jan", day] for day in range(1, 14)]

    text = text_of(["Day", "Sum"], *days, ["Sales South"], ["Day", "Pieces"], ["1 Feb", 3])

    assert text.endswith("- Day: 13 Jan; Sum: 13\n\nSales South\n\n- Day: 1 Feb; Pieces: 3")


def test_the_first_record_of_a_table_that_is_wider_than_its_names_is_no_header() -> None:
    text = text_of(
        ["Gene", "Reads", None, None, None],
        ["NM_0001", 15.67, "Cd69", "Cont", "up"],
        ["NM_0002", 9.07, "Ccdc", "IL2", "down"],
        ["NM_0003", 9.31, "Nudt", "IL15", "flat"],
    )

    assert text.startswith("| Gene | Reads |  |  |  |\n|---|---|---|---|---|\n| NM_0001 | 15.67 |")


def test_rows_of_words_that_come_again_are_records() -> None:
    text = text_of(["Ann", "Berlin"], ["Bob", "Paris"], ["Ann", "Berlin"])

    assert text == "| Ann | Berlin |\n|---|---|\n| Bob | Paris |\n| Ann | Berlin |"


def test_a_row_like_the_first_of_many_rows_of_words_is_a_record() -> None:
    rows: list[list[Cell]] = [[f"{day}. Jan", "Bob"] for day in range(1, 20)]

    text = text_of(["Shift", "Ann"], *rows, ["Shift", "Ann"])

    assert text.endswith("- Shift: 19. Jan; Ann: Bob\n- Shift: Shift; Ann: Ann")


def test_a_record_of_words_below_numbers_is_no_header() -> None:
    text = text_of([1, 2, 3], ["Ann", "Berlin", "Nurse", "B"], ["Bob", "Paris", "Cook", "A"])

    assert text.startswith("| 1 | 2 | 3 |  |\n|---|---|---|---|\n| Ann | Berlin |")


def test_long_texts_without_other_cells_are_records_where_the_others_are_long_too() -> None:
    question = "How many people work there on the day of the survey?"
    text = text_of(
        ["Question", "Answer"],
        ["What is the name of your organisation?", "ACME"],
        [question],
    )

    assert text.endswith(f"- Question: {question}")


def test_all_notes_below_a_table_are_read_alike() -> None:
    notes = [f"({mark}) A footnote that is longer than a name, {mark}" for mark in "abcdefgh"]
    below: list[list[Cell]] = [[note] for note in notes]

    text = text_of(["Item", "Qty"], ["Rope", 1], *below, ["(i) short"])

    assert text.endswith("Qty: 1\n\n" + "\n\n".join([*notes, "(i) short"]))
