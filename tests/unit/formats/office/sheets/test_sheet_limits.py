"""Workbooks that are made to hurt: far corners, endless repetition, circles."""

import io

import pytest

from ingest.errors import Permanent
from ingest.formats.registry import extract as extract_file
from ingest.formats.sheets import biff, limits
from tests.builders.make_mail import ole
from tests.builders.make_sheets import (
    excel_97_stream,
    ods,
    ods_row,
    xlsx,
)
from tests.unit.formats.office.sheets.workbooks import PEOPLE, extract, refusal


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
