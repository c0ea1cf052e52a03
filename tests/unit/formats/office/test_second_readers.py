"""Workbooks that calamine refuses although their cells can be read."""

import io
import zipfile
from collections.abc import Callable

import pytest

from ingest.errors import Permanent
from ingest.formats.registry import extract as extract_file
from ingest.formats.sheets import calamine_sheets
from ingest.model import Document
from tests.builders.make_files import zipped
from tests.builders.make_sheets import Cell, ods, ods_row, xlsb, xlsx

PEOPLE: list[list[Cell]] = [["Name", "Age"], ["Ann", 34], ["Bob", True]]
SHOWN = "- Name: Ann; Age: 34\n- Name: Bob; Age: TRUE"


class Panicking:
    @staticmethod
    def from_filelike(stream: object) -> None:
        raise type("PanicException", (BaseException,), {})("range end index out of range")


def text(data: bytes, name: str = "a.xlsx") -> str:
    return extract_file(io.BytesIO(data), name=name).text


def changed(change: Callable[[str, bytes], tuple[str, bytes] | None]) -> bytes:
    """The workbook of people with each part changed, renamed or left out."""
    with zipfile.ZipFile(io.BytesIO(xlsx({"S": PEOPLE}))) as package:
        parts = (change(name, package.read(name)) for name in package.namelist())
        return zipped(dict(part for part in parts if part))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'Target="worksheets/', b'Target="/xl/worksheets/'),
        (b'Target="worksheets/', b'Target="./worksheets/'),
        (b'Target="worksheets/', b'Target="..\\xl\\worksheets/'),
        (b"schemas.openxmlformats.org/officeDocument/2006", b"purl.oclc.org/ooxml/officeDocument"),
        (b"schemas.openxmlformats.org/spreadsheetml/2006", b"purl.oclc.org/ooxml/spreadsheetml"),
        (b"application/vnd.openxmlformats", b"application/x"),
        (b' t="inlineStr"', b' t="inlineStr" s="99"'),
        (b' r="A1"', b""),
        (b"<worksheet ", b'<worksheet xmlns:x="urn:x" '),
        (b"<sheetData>", b'<dimension ref="nonsense"/><sheetData>'),
        (
            b"</worksheet>",
            b'<mergeCells count="1"><mergeCell ref="oops"/></mergeCells></worksheet>',
        ),
    ],
)
def test_unusual_packages_are_read(old: bytes, new: bytes) -> None:
    data = changed(lambda name, part: (name, part.replace(old, new)))

    assert text(data) == f"## S\n\n{SHOWN}"


@pytest.mark.parametrize("folder", ["content/", "", "a b/c/"])
def test_parts_may_have_any_name(folder: str) -> None:
    def moved(name: str, part: bytes) -> tuple[str, bytes]:
        if name == "xl/_rels/workbook.xml.rels":
            return f"{folder}_rels/book.xml.rels", part
        name = name.replace("xl/workbook.xml", f"{folder}book.xml").replace("xl/", folder)
        return name, part.replace(b"xl/workbook.xml", f"{folder}book.xml".encode())

    assert text(changed(moved)) == f"## S\n\n{SHOWN}"


@pytest.mark.parametrize("missing", ["[Content_Types].xml", "_rels/.rels"])
def test_parts_that_name_others_may_be_missing(missing: str) -> None:
    data = changed(lambda name, part: None if name == missing else (name, part))

    assert text(data) == f"## S\n\n{SHOWN}"


def test_a_string_that_does_not_exist_costs_its_cell_only() -> None:
    sheet = (
        '<row r="1"><c r="A1" t="s"><v>99</v></c><c r="B1" t="inlineStr"><is><r><t>a</t></r>'
        "<rPh><t>x</t></rPh><r><t>b</t></r></is></c></row>"
    )

    assert text(xlsx({"S": sheet})) == "## S\n\nab"


def test_a_panic_of_calamine_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calamine_sheets, "CalamineWorkbook", Panicking)

    assert text(xlsx({"S": PEOPLE})) == f"## S\n\n{SHOWN}"


def test_a_panic_without_a_second_reader_is_corrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calamine_sheets, "CalamineWorkbook", Panicking)

    with pytest.raises(Permanent) as caught:
        text(ods(ods_row("Name")), "a.ods")

    assert caught.value.code == "corrupt"


def test_a_binary_workbook_is_read_when_calamine_panics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calamine_sheets, "CalamineWorkbook", Panicking)

    data = xlsb([["Name", "Share"], ["Ann", 0.5], ["Bob", 0.25]], formats=["General", "0%"])

    assert text(data, "a.xlsb") == "## S\n\n- Name: Ann; Share: 50%\n- Name: Bob; Share: 25%"


def test_a_binary_workbook_without_its_sheet_is_corrupt() -> None:
    with pytest.raises(Permanent) as caught:
        text(xlsb([["Name"]], sheet="other.bin"), "a.xlsb")

    assert caught.value.code in ("corrupt", "empty_content")


@pytest.mark.parametrize("cut", range(40, 400, 40))
def test_a_binary_sheet_that_is_cut_off_never_crashes(cut: int) -> None:
    with zipfile.ZipFile(
        io.BytesIO(xlsb([["Name", "Age"], ["Ann", 1.0], ["Bob", 2.0]]))
    ) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    sheet = parts["xl/worksheets/sheet1.bin"]
    parts["xl/worksheets/sheet1.bin"] = sheet[: len(sheet) * cut // 400]

    document: Document | Permanent
    try:
        document = extract_file(io.BytesIO(zipped(parts)), name="a.xlsb")
    except Permanent as error:
        document = error

    assert isinstance(document, Document) or document.code in ("corrupt", "empty_content")
