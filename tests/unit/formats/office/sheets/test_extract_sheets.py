"""Workbooks: rows as records, sheets, formats of all ages, and files that are made to hurt."""

import io
from collections.abc import Sequence

import pytest

from ingest.errors import Permanent
from ingest.formats.registry import extract as extract_file
from ingest.formats.sheets import biff, limits
from ingest.model import Document
from tests.builders.make_mail import ole
from tests.builders.make_sheets import (
    Cell,
    excel_4,
    excel_97_stream,
    ods,
    ods_row,
    xlsx,
)

PEOPLE: list[list[Cell]] = [["Name", "Age"], ["Ann", 34], ["Bob", 7]]


def extract(data: bytes, name: str = "a.xlsx") -> Document:
    return extract_file(io.BytesIO(data), name=name)


def text_of(*rows: list[Cell]) -> str:
    """What the rows of one sheet become, without its name."""
    return extract(xlsx({"S": rows})).text.removeprefix("## S").strip()


def refusal(data: bytes, name: str = "a.xlsx") -> Permanent:
    with pytest.raises(Permanent) as caught:
        extract(data, name)
    return caught.value


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


_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_DRAWN = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'


def beside(**parts: str) -> dict[str, bytes]:
    """Parts that the first sheet of a workbook refers to, by their kinds."""
    related = "".join(
        f'<Relationship Id="{kind}" Type="{_TYPES}/{kind}" Target="/xl/{kind}.xml"/>'
        for kind in parts
    )
    namespace = "http://schemas.openxmlformats.org/package/2006/relationships"
    links = f'<Relationships xmlns="{namespace}">{related}</Relationships>'
    return {
        "xl/worksheets/_rels/sheet1.xml.rels": links.encode(),
        **{f"xl/{kind}.xml": text.encode() for kind, text in parts.items()},
    }


def test_comments_and_text_boxes_stand_below_the_rows_of_their_sheet() -> None:
    box = "<txBody><a:p><a:r><a:t>Text box</a:t></a:r></a:p></txBody>"
    pictures = '<pic><cNvPr descr="A red pump"/></pic><pic><cNvPr descr="pump.png"/></pic>'
    comments = (
        "<comments><authors><author>Ann</author></authors><commentList>"
        '<comment ref="B3" authorId="0"><text><r><t>Ann:</t></r><r><t> Check this</t></r></text>'
        '</comment><comment ref="A1" authorId="0"><text><t>copy</t></text></comment>'
        "</commentList></comments>"
    )
    thread = '<a><threadedComment ref="A1"><text>Why?</text></threadedComment></a>'
    parts = beside(
        drawing=f"<wsDr {_DRAWN}><sp>{box}</sp>{pictures}</wsDr>",
        comments=comments,
        threadedComment=thread,
    )

    document = extract(xlsx({"S": PEOPLE, "T": [["Town"]]}, extra=parts))

    assert document.text.split("\n\n")[2:] == [
        "Text box",
        "A red pump",
        "Comment on A1: Why?",
        "Comment by Ann on B3: Check this",
        "## T",
        "Town",
    ]


def test_a_sheet_of_text_boxes_alone_has_text() -> None:
    box = "<txBody><a:p><a:r><a:t>Text box</a:t></a:r></a:p></txBody>"
    parts = beside(drawing=f"<wsDr {_DRAWN}><sp>{box}</sp></wsDr>")

    assert extract(xlsx({"S": []}, extra=parts)).text == "## S\n\nText box"


_PART = (
    '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart>'
    "<c:title><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:title><c:plotArea><c:barChart><c:ser>"
    "<c:tx><c:v>North</c:v></c:tx><c:cat><c:strLit><c:pt idx='0'><c:v>2019</c:v></c:pt></c:strLit>"
    "</c:cat><c:val><c:numLit><c:pt idx='0'><c:v>7</c:v></c:pt></c:numLit></c:val></c:ser>"
    "</c:barChart><c:catAx><c:title><a:p><a:r><a:t>Year</a:t></a:r></a:p></c:title></c:catAx>"
    "</c:plotArea></c:chart></c:chartSpace>"
).replace("<c:chartSpace", f"<c:chartSpace {_DRAWN}")


def charted(rows: list[list[Cell]], *, charts: Sequence[str] = (), times: int = 1) -> str:
    """The text of a workbook whose first sheet has rows and a chart, or is a chart."""
    frame = f'<chart xmlns:r="{_TYPES}" r:id="chart"/>' * times
    parts = beside(drawing=f"<wsDr {_DRAWN}>{frame}</wsDr>")
    links = parts["xl/worksheets/_rels/sheet1.xml.rels"].replace(b"drawing", b"chart")
    extra = parts | {"xl/_rels/drawing.xml.rels": links, "xl/chart.xml": _PART.encode()}
    return extract(xlsx({"S": rows}, charts=charts, extra=extra)).text


@pytest.mark.parametrize("charts", [[], ["S"]])
def test_a_sheet_of_charts_alone_has_their_values(charts: list[str]) -> None:
    assert charted([], charts=charts) == (
        "## S\n\nSales\n\n| Year | North |\n|---|---|\n| 2019 | 7 |"
    )


def test_a_chart_beside_cells_has_its_title() -> None:
    assert charted([["Year"], ["2019"]]).endswith("2019\n\nChart: Sales")


def test_a_chart_that_stands_on_a_sheet_twice_is_written_once() -> None:
    once = charted([])

    assert charted([], times=3) == once
    assert "| 2019 | 7 |" in once


def test_comments_of_binary_workbooks_are_named_as_not_read() -> None:
    document = extract(xlsx({"S": PEOPLE}, extra={"xl/comments1.bin": b""}))

    assert document.metadata["notRead"] == ["comments"]


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


@pytest.mark.parametrize("last", ["XFD1048576", "T1000000"])
def test_two_cells_in_far_corners_are_too_large(last: str) -> None:
    cells = f'<row><c r="A1"><v>1</v></c></row><row><c r="{last}"><v>2</v></c></row>'

    error = refusal(xlsx({"S": cells}))

    assert error.code == "too_large"
    assert "10,000,000" in str(error)


def test_far_corners_of_all_excel_97_sheets_count_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(biff, "MOST_PLACES", 5)
    small = ole({"Workbook": excel_97_stream([["a", 1.0], ["b", 2.0]])})
    large = ole({"Workbook": excel_97_stream([["a", 1.0], ["b", 2.0], ["c", 3.0]])})

    assert "b" in extract(small, "a.xls").text
    assert refusal(large, "a.xls").code == "too_large"


def test_far_cells_that_only_have_a_style_cost_nothing() -> None:
    cells = '<row><c r="A1"><v>1</v></c></row><row><c r="XFD1048576" s="1"/></row>'

    assert extract(xlsx({"S": cells})).text == "## S\n\n1"


def test_far_cells_do_not_hide_behind_a_prefix() -> None:
    sheet = (
        '<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        '<x:sheetData><x:row><x:c r="A1"><x:v>1</x:v></x:c></x:row><x:row>'
        '<x:c r="XFD1048576"><x:v>2</x:v></x:c></x:row></x:sheetData></x:worksheet>'
    )

    data = xlsx({"S": []}, extra={"xl/worksheets/sheet1.xml": sheet.encode()})

    assert refusal(data).code == "too_large"


def test_too_many_cells_are_refused_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_CELLS", 5)

    assert "5 filled cells" in str(refusal(xlsx({"S": PEOPLE})))


def test_a_cell_repeated_to_fill_the_sheet_is_corrupt() -> None:
    data = ods(ods_row("x*16384", times=1048576))

    assert refusal(data, "a.ods").code == "corrupt"


def test_empty_cells_repeated_to_the_end_of_the_sheet_cost_nothing() -> None:
    data = ods(ods_row("a", "*16383") + ods_row("*16384", times=1048575))

    assert extract(data, "a.ods").text == "## S\n\na"


def test_far_cells_of_repeated_gaps_are_too_large() -> None:
    data = ods(ods_row("*49", "a") + ods_row("*1", times=1_000_000) + ods_row("z"))

    assert refusal(data, "a.ods").code == "too_large"


def test_entities_that_multiply_are_refused() -> None:
    entities = "".join(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 12))
    strings = f'<!DOCTYPE d [<!ENTITY e0 "lol">{entities}]><sst><si><t>&e11;</t></si></sst>'

    cell = '<row r="1"><c r="A1" t="inlineStr"><is><t>&e11;</t></is></c></row>'

    assert refusal(xlsx({"S": cell}, extra={"xl/sharedStrings.xml": strings.encode()})).code == (
        "corrupt"
    )


def test_workbook_with_circular_sectors_never_reaches_calamine() -> None:
    data = bytearray(ole({"Workbook": excel_97_stream([["Name"], ["Ann"]])}))
    table = 512 * (1 + int.from_bytes(data[76:80], "little"))

    honest = biff.check_xls(io.BytesIO(data))
    data[table : table + 4] = bytes(4)  # after the first sector comes the first

    assert honest
    assert not biff.check_xls(io.BytesIO(data))


def test_sheet_with_false_dimensions_is_read_without_calamine() -> None:
    stream = excel_97_stream([["Name", "Age"], ["Ann", 34.0]])
    sheet = stream.rindex(b"\x09\x08\x10\x00") + 4 + 16
    lie = bytes.fromhex("0002 0e00 00000000 00000001 0000 0802 0000")
    data = ole({"Workbook": stream[:sheet] + lie + stream[sheet:]})

    assert not biff.check_xls(io.BytesIO(data))
    assert "Ann" in extract(data, "a.xls").text


def test_ods_with_unclosed_table_terminates() -> None:
    broken = ods("<table:table-row/></table:tabl><table:table>")

    with pytest.raises(Permanent) as caught:
        extract_file(io.BytesIO(broken), name="a.ods")

    assert caught.value.code == "corrupt"
