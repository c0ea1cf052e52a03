"""XLSX workbooks that calamine refuses: unusual names of parts, wrong references, missing parts."""

from collections.abc import Iterator
from typing import Final, cast

from lxml import etree

from ingest.formats.office.opc import Package
from ingest.formats.office.xml_tree import local
from ingest.formats.sheets.layout import Layout
from ingest.formats.sheets.limits import column_number
from ingest.formats.sheets.second_reader import Cells, SheetEntry, corrupt
from ingest.formats.sheets.xlsx_layout import XlsxLayouts

_MOST_COLUMNS: Final = 16_384
_MOST_ROWS: Final = 1_048_576


class XlsxReader:
    """The sheets of a package, by its relationships alone."""

    def __init__(self, package: Package) -> None:
        """Raises KeyError, and the errors of zipfile and lxml."""
        self._package = package
        self._layouts = XlsxLayouts(package)
        self._strings: list[str] | None = None

    def sheets(self) -> list[SheetEntry]:
        """The worksheets that the workbook lists."""
        return self._layouts.sheets

    def read(self, sheet: SheetEntry) -> Cells:
        """Raises Permanent `corrupt` and `too_large`, KeyError, and errors of zipfile and lxml."""
        cells = Cells(Layout(self._layouts.codes, is_1904=self._layouts.is_1904))
        self._layouts.read_texts(sheet.part, cells.layout)
        row = column = -1
        for element in _elements(self._package, sheet.part):
            name = local(element)
            if name == "row":
                row, column = row if column >= 0 else row + 1, -1
            elif name == "c":
                at_row, column = _place(element.get("r", ""), row, column)
                row = max(row, at_row)
                kind = element.get("t", "n")
                value = self._value(element, kind)
                if value != "" and at_row < _MOST_ROWS and column < _MOST_COLUMNS:
                    style = element.get("s", "0")
                    cells.add(at_row, column, value, int(style) if style.isdecimal() else 0)
            elif name == "mergeCell":
                cells.layout.merges += _merges(element.get("ref", ""))
        return cells

    def _value(self, cell: etree._Element, kind: str) -> str | float | bool:
        if kind == "inlineStr":
            return "".join(text for item in cell.iterchildren("{*}is") for text in _runs(item))
        found = next(cell.iterchildren("{*}v"), None)
        text = "" if found is None else (found.text or "")
        if kind == "s":
            strings = self._shared()
            index = int(text) if text.isdecimal() else len(strings)
            return strings[index] if index < len(strings) else ""
        if kind == "b":
            return text.strip() == "1"
        if kind in ("e", "str", "d") or not text.strip():
            return "" if kind == "e" else text
        try:
            return float(text)
        except ValueError:
            return text

    def _shared(self) -> list[str]:
        if self._strings is None:
            parts = self._package.related(self._layouts.workbook, "sharedStrings")
            items = _elements(self._package, parts[0]) if parts else iter(())
            self._strings = ["".join(_runs(item)) for item in items if local(item) == "si"]
        return self._strings


def _elements(package: Package, part: str) -> Iterator[etree._Element]:
    """Cells, rows, strings and merged ranges in the order of their ends; then they are emptied."""
    with package.open(part) as stream:
        if b"<!DOCTYPE" in stream.read(4096):
            raise corrupt()
    with package.open(part) as stream:
        found = etree.iterparse(
            stream,
            events=("end",),
            tag=("{*}c", "{*}row", "{*}si", "{*}mergeCell"),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
        )
        for _, element in found:
            yield cast(etree._Element, element)
            if local(element) != "c":
                element.clear()
                while (before := element.getprevious()) is not None:
                    before.getparent().remove(before)


def _runs(item: etree._Element) -> Iterator[str]:
    """The text of a string, without its phonetic guide."""
    for child in item.iterchildren("{*}t", "{*}r"):
        texts = [child] if local(child) == "t" else child.iterchildren("{*}t")
        yield from (text.text or "" for text in texts)


def _place(reference: str, row: int, column: int) -> tuple[int, int]:
    """Row and column of a cell; without a reference, the next one in its row."""
    letters = reference.rstrip("0123456789")
    digits = reference[len(letters) :]
    if digits and 0 < len(letters) <= 3 and letters.isascii() and letters.isupper():
        return int(digits[:7]) - 1, column_number(letters.encode()) - 1
    return (row + 1 if column < 0 else row), column + 1


def _merges(reference: str) -> list[tuple[int, int, int, int]]:
    first, _, last = reference.replace("$", "").partition(":")
    row, column = _place(first, -2, -1)
    end_row, end_column = _place(last, -2, -1)
    return [(row, column, end_row, end_column)] if min(row, end_row) >= 0 else []
