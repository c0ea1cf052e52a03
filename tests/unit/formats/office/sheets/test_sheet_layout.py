"""Headers of several rows, merged cells, forms, and number formats of each kind of workbook."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from tests.builders.make_mail import ole
from tests.builders.make_sheets import Cell, excel_97_stream, ods, xlsb, xlsx

FORMATS = ["General", "0.0%", '#,##0.00 "EUR"', "dd.mm.yyyy"]
NAMES = ["Code", "Share", "Amount", "Since"]
ROWS: list[list[str | float]] = [[*NAMES], ["a", 0.125, 1234.5, 46086.0]]
SHOWN = "## S\n\n- Code: a; Share: 12.5%; Amount: 1,234.50 EUR; Since: 05.03.2026"


def text(data: bytes, name: str = "a.xlsx") -> str:
    return extract_file(io.BytesIO(data), name=name).text


def text_of(*rows: list[Cell], merged: list[str] | None = None) -> str:
    return text(xlsx({"S": rows}, merged=merged or ())).removeprefix("## S").strip()


def test_xlsx_numbers_are_shown_by_their_formats() -> None:
    cells = "".join(
        f'<c r="{place}2" s="{style}"><v>{value}</v></c>'
        for place, style, value in [("B", 2, 0.125), ("C", 3, 1234.5), ("D", 4, 46086)]
    )
    header = "".join(
        f'<c r="{place}1" t="inlineStr"><is><t>{name}</t></is></c>'
        for place, name in zip("ABCD", NAMES, strict=True)
    )
    first = '<c r="A2" t="inlineStr"><is><t>a</t></is></c>'
    sheet = f'<row r="1">{header}</row><row r="2">{first}{cells}</row>'

    assert text(xlsx({"S": sheet}, formats=FORMATS)) == SHOWN


def test_xlsx_numbers_below_a_date_that_state_no_format_have_none() -> None:
    rows = [(46086, ' s="4"'), (0.9, ""), (0.5, ' s="2"'), (7, "")]
    cells = "".join(
        f'<row r="{at}"><c r="A{at}" t="inlineStr"><is><t>n{at}</t></is></c>'
        f'<c r="B{at}"{style}><v>{value}</v></c></row>'
        for at, (value, style) in enumerate(rows, start=2)
    )
    header = "".join(
        f'<c r="{place}1" t="inlineStr"><is><t>{name}</t></is></c>'
        for place, name in (("A", "Name"), ("B", "Value"))
    )

    assert text(xlsx({"S": f'<row r="1">{header}</row>{cells}'}, formats=FORMATS)) == (
        "## S\n\n- Name: n2; Value: 05.03.2026\n- Name: n3; Value: 0.9\n"
        "- Name: n4; Value: 50.0%\n- Name: n5; Value: 7"
    )


def test_xlsb_numbers_are_shown_by_their_formats() -> None:
    assert text(xlsb(ROWS, formats=FORMATS), "a.xlsb") == SHOWN


def test_xls_numbers_are_shown_by_their_formats() -> None:
    data = ole({"Workbook": excel_97_stream(ROWS, formats=FORMATS)})

    assert text(data, "a.xls") == SHOWN


@pytest.mark.parametrize("kind", ["xlsx", "xlsb", "xls"])
def test_a_number_too_large_for_a_duration_does_not_cost_the_sheet(kind: str) -> None:
    rows: list[list[str | float]] = [["Code", "Share", "Amount", "Time"]]
    formats = [*FORMATS[:3], "[h]:mm"]
    rows += [["a", 0.125, 1.0, 18005551234.0], ["b", 0.5, 2.0, 1.25]]
    if kind == "xlsx":
        cells = [
            f'<c r="{"ABCD"[column]}{number}" t="str"><v>{value}</v></c>'
            if isinstance(value, str)
            else f'<c r="{"ABCD"[column]}{number}" s="{column + 1}"><v>{value}</v></c>'
            for number, row in enumerate(rows, start=1)
            for column, value in enumerate(row)
        ]
        sheet = "".join(
            f'<row r="{number}">{"".join(cells[4 * number - 4 : 4 * number])}</row>'
            for number in range(1, 4)
        )
        data = xlsx({"S": sheet}, formats=formats)
    elif kind == "xlsb":
        data = xlsb(rows, formats=formats)
    else:
        data = ole({"Workbook": excel_97_stream(rows, formats=formats)})

    assert text(data, f"a.{kind}") == (
        "## S\n\n- Code: a; Share: 12.5%; Amount: 1.00 EUR; Time: 18005551234\n"
        "- Code: b; Share: 50.0%; Amount: 2.00 EUR; Time: 30:00"
    )


@pytest.mark.parametrize("flat", [False, True])
def test_ods_numbers_are_read_as_shown(flat: bool) -> None:
    def cell(kind: str, value: str, shown: str) -> str:
        attributes = f'office:value-type="{kind}" {value} table:style-name="ce1"'
        return f"<table:table-cell {attributes}><text:p>{shown}</text:p></table:table-cell>"

    names = "".join(cell("string", "", name) for name in NAMES)
    values = (
        cell("string", "", "a")
        + cell("percentage", 'office:value="0.125"', "12,5 %")
        + cell("currency", 'office:currency="EUR" office:value="1234.5"', "1.234,50 €")
        + cell("date", 'office:date-value="2026-03-05"', "5. März 2026")
    )
    rows = f"<table:table-row>{names}</table:table-row><table:table-row>{values}</table:table-row>"

    assert text(ods(rows, flat=flat), "a.fods" if flat else "a.ods") == (
        "## S\n\n- Code: a; Share: 12,5 %; Amount: 1.234,50 €; Since: 5. März 2026"
    )


def test_ods_numbers_without_a_text_are_read_as_they_are() -> None:
    cell = '<table:table-cell office:value-type="float" office:value="2.5"/>'

    assert text(ods(f"<table:table-row>{cell}</table:table-row>"), "a.ods") == "## S\n\n2.5"


def test_merged_groups_name_their_columns_and_merged_rows_are_repeated() -> None:
    rows: list[list[Cell]] = [
        ["Shift plan"],
        ["Region", "Morning", None, "Evening"],
        [None, "Guards", "Cooks", "Guards", "Cooks"],
        ["Harbour", 42, 43, 44, 45],
        [None, 45, 46, 47, 48],
        ["Hill", 72, 73, 74, 75],
    ]

    found = text_of(*rows, merged=["A1:E1", "A2:A3", "B2:C2", "D2:E2", "A4:A5"])

    assert found == (
        "Shift plan\n\n"
        "- Region: Harbour; Morning Guards: 42; Morning Cooks: 43; Evening Guards: 44;"
        " Evening Cooks: 45\n"
        "- Region: Harbour; Morning Guards: 45; Morning Cooks: 46; Evening Guards: 47;"
        " Evening Cooks: 48\n"
        "- Region: Hill; Morning Guards: 72; Morning Cooks: 73; Evening Guards: 74;"
        " Evening Cooks: 75"
    )


def test_ods_cells_merged_over_rows_are_repeated() -> None:
    def cell(text: str, spans: str = "") -> str:
        return (
            f'<table:table-cell office:value-type="string" {spans}>'
            f"<text:p>{text}</text:p></table:table-cell>"
        )

    rows = [
        cell("Town") + cell("Street"),
        cell("Rome", 'table:number-rows-spanned="2" table:number-columns-spanned="1"') + cell("A"),
        "<table:covered-table-cell/>" + cell("B"),
    ]
    data = ods("".join(f"<table:table-row>{row}</table:table-row>" for row in rows))

    assert text(data, "a.ods") == ("## S\n\n- Town: Rome; Street: A\n- Town: Rome; Street: B")


def test_three_rows_of_names_are_joined() -> None:
    found = text_of(
        ["Site", "2023"],
        [None, "H1", None, "H2"],
        [None, "Plan", "Actual", "Plan", "Actual"],
        ["North", 1, 2, 3, 4],
        merged=["A1:A3", "B1:E1", "B2:C2", "D2:E2"],
    )

    assert found == (
        "- Site: North; 2023 H1 Plan: 1; 2023 H1 Actual: 2; 2023 H2 Plan: 3; 2023 H2 Actual: 4"
    )


def test_two_rows_of_names_need_no_merged_cells() -> None:
    found = text_of(
        ["Region", "2023", None, "2024", None],
        [None, "Plan", "Actual", "Plan", "Actual"],
        ["North", 100, 110, 120, 125],
        ["South", 90, 85, 95, 99],
    )

    assert found.startswith(
        "- Region: North; 2023 Plan: 100; 2023 Actual: 110; 2024 Plan: 120; 2024 Actual: 125\n"
    )


def test_a_row_of_words_below_a_gap_in_the_header_is_data() -> None:
    assert text_of(["Name", None, "Town"], ["Ann", "x", "Rome"], ["Bob", "y", "Oslo"]) == (
        "- Name: Ann; x; Town: Rome\n- Name: Bob; y; Town: Oslo"
    )


def test_a_merged_title_and_a_long_merged_note_are_said_once() -> None:
    note = "A long note beside the table. " * 5
    found = text_of(
        ["Towns of the coast"],
        ["Town", "People", note],
        ["Rome", 3],
        ["Oslo", 1],
        merged=["A1:C1", "C2:C4"],
    )

    assert found.count("Towns of the coast") == found.count(note.strip()) == 1


def test_dates_may_name_columns_of_numbers() -> None:
    found = text_of(["Item", "2024-01-31", "2024-02-29"], ["Sales", 10, 12], ["Costs", 7, 8])

    assert found == (
        "- Item: Sales; 2024-01-31: 10; 2024-02-29: 12\n- Item: Costs; 2024-01-31: 7; 2024-02-29: 8"
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [
                ["Customer", "ACME GmbH"],
                ["Contact", "Jane Doe"],
                ["Voltage", "400 V"],
                ["Order date", "2024-05-01"],
                ["Remarks", "Deliver to gate 3"],
            ],
            "- Customer: ACME GmbH\n- Contact: Jane Doe\n- Voltage: 400 V\n"
            "- Order date: 2024-05-01\n- Remarks: Deliver to gate 3",
        ),
        ([["Kunde", "Nord AG"], ["Telefon", "030 1234"]], "- Kunde: Nord AG\n- Telefon: 030 1234"),
        (
            [["Заказчик", "Север"], ["Адрес", "Москва"], ["Дата", "05.03.2026"]],
            "- Заказчик: Север\n- Адрес: Москва\n- Дата: 05.03.2026",
        ),
        ([["顧客", "北海社"], ["担当者", "山田"]], "- 顧客: 北海社\n- 担当者: 山田"),
        (
            [["Pump type:", "P-7", "Made:", 2019], ["Flow:", "9 l/s", "Head:", "12 m"]],
            "- Pump type: P-7; Made: 2019\n- Flow: 9 l/s; Head: 12 m",
        ),
        (
            [["Pump", "P-7"], ["Built", "2019-03-01"], ["Weight", 120], ["Head", "12 m"]],
            "- Pump: P-7\n- Built: 2019-03-01\n- Weight: 120\n- Head: 12 m",
        ),
    ],
)
def test_forms_are_labels_with_values(rows: list[list[Cell]], expected: str) -> None:
    assert text_of(*rows) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["Town", "Mayor"], ["Rome", "Bo"], ["Oslo", "Eva"]], "- Town: Rome; Mayor: Bo"),
        ([["Name", "Result"], ["Ann", 7], ["Bob", "absent"], ["Cy", 9]], "- Name: Ann; Result: 7"),
        ([["Name", "E-mail"], ["Ann", "a@x.org"], ["Bo", "b@x.org"]], "- Name: Ann; E-mail: a@x"),
        ([["Item", "Price"], ["Phone", 99], ["Lamp", 12], ["Desk", 80]], "- Item: Phone; Price: 9"),
    ],
)
def test_tables_of_two_columns_are_no_forms(rows: list[list[Cell]], expected: str) -> None:
    assert text_of(*rows).startswith(expected)


def test_a_first_record_of_negative_amounts_in_brackets_is_kept() -> None:
    rows = '<row r="1"><c r="A1" t="inlineStr"><is><t>Net</t></is></c>'
    rows += '<c r="B1" t="inlineStr"><is><t>Gross</t></is></c></row>'
    for at, (net, gross) in enumerate([(-500, -300), (200, 100), (300, 120)], start=2):
        rows += f'<row r="{at}"><c r="A{at}" s="1"><v>{net}</v></c>'
        rows += f'<c r="B{at}" s="1"><v>{gross}</v></c></row>'
    data = xlsx({"S": rows}, formats=["#,##0;(#,##0)"])

    assert text(data) == (
        "## S\n\n- Net: (500); Gross: (300)\n- Net: 200; Gross: 100\n- Net: 300; Gross: 120"
    )
