"""Workbooks in one file of XML, as Excel 2003 writes them."""

import io

from ingest.formats.registry import extract as extract_file
from ingest.model import Document


def extract(data: str | bytes, name: str = "a.xml") -> Document:
    return extract_file(io.BytesIO(data.encode() if isinstance(data, str) else data), name=name)


def text_of(data: str) -> str:
    return extract(data).text


_SHEET = "urn:schemas-microsoft-com:office:spreadsheet"


def sheet_text(table: str, styles: str = "") -> str:
    text = text_of(
        f'<Workbook xmlns="{_SHEET}" xmlns:s="{_SHEET}"><Styles>{styles}</Styles>'
        f'<Worksheet s:Name="S"><Table>{table}</Table></Worksheet></Workbook>'
    )
    return text.removeprefix("## S\n\n")


def row(*cells: tuple[str, str], more: str = "") -> str:
    inside = "".join(
        f'<Cell {cell}><Data s:Type="{"Number" if text[0].isdigit() else "String"}">{text}</Data>'
        "</Cell>"
        for text, cell in cells
    )
    return f"<Row {more}>{inside}</Row>"


def test_numbers_of_a_workbook_in_xml_are_shown_by_their_formats() -> None:
    styles = (
        '<Style s:ID="Default"/><Style s:ID="p"><NumberFormat s:Format="0.0%"/></Style>'
        '<Style s:ID="c" s:Parent="p"/><Style s:ID="f"><NumberFormat s:Format="Standard"/></Style>'
        '<Style s:ID="d"><NumberFormat s:Format="d/m/yyyy"/></Style>'
    )
    day = '<Cell s:StyleID="d"><Data s:Type="DateTime">2024-03-05T00:00:00.000</Data></Cell>'
    values = row(("0.125", 's:StyleID="c"'), ("1234.5", ""), ("7", "")).replace("</Row>", day)

    text = sheet_text(
        '<Column/><Column s:StyleID="f"/>'
        + row(("Share", ""), ("Amount", ""), ("Count", ""), ("Day", ""))
        + f"{values}</Row>"
        + row(("0.5", ""), ("2", ""), ("8", ""), ("9", ""), more='s:StyleID="p"'),
        styles,
    )

    assert text == (
        "- Share: 12.5%; Amount: 1,234.50; Count: 7; Day: 5/3/2024\n"
        "- Share: 50.0%; Amount: 200.0%; Count: 800.0%; Day: 900.0%"
    )


def test_cells_after_a_merged_one_stand_in_their_columns() -> None:
    text = sheet_text(
        row(("Year", ""), ("Sales", 's:MergeAcross="1"'), ("Note", ""))
        + row(("Of", ""), ("North", ""), ("South", ""), ("By", ""))
        + row(("2023", ""), ("10", ""), ("20", ""), ("Ann", ""))
        + row(("2024", ""), ("11", ""), ("21", ""), ("Bob", ""))
    )

    assert "Sales North: 10; Sales South: 20" in text
    assert text.count("Ann") == 1


def test_a_column_that_only_merged_cells_cover_has_no_values() -> None:
    note = row(("Ann", ""), ("Came late", 's:MergeAcross="1"'))
    text = sheet_text(row(("Name", ""), ("Remark", ""), ("Note", "")) + note * 2)

    assert text.endswith("- Name: Ann; Remark: Came late\n\n| Note |\n|---|")


def test_merged_cells_make_no_row_wider_than_a_sheet() -> None:
    text = sheet_text(row(*[("x", 's:MergeAcross="255"')] * 100))

    assert text.count("x") == 16_384 / 256


def test_a_workbook_in_xml_has_records() -> None:
    cell = '<Cell><Data s:Type="{}">{}</Data></Cell>'
    rows = (
        "<Row>" + cell.format("String", "Name") + cell.format("String", "Born") + "</Row><Row>"
        + cell.format("String", "Ann") + cell.format("DateTime", "2001-02-03T00:00:00.000")
        + "</Row>"
    )  # fmt: skip

    text = text_of(
        '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"'
        ' xmlns:s="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet s:Name="S"><Table>'
        f"{rows}</Table></Worksheet></Workbook>"
    )

    assert text == "## S\n\n- Name: Ann; Born: 2001-02-03"
