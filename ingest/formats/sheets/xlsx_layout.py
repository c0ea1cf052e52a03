"""The sheets of XLSX workbooks and their number formats.

Cells are searched for in the raw XML: a tree of a large sheet would not fit into memory, and only
numbers with a format matter.
"""

import re
import zipfile
from collections.abc import Mapping
from functools import partial
from typing import Final

from lxml import etree

from ingest.formats.common.number_format import BUILT_IN
from ingest.formats.office.opc import Package
from ingest.formats.office.xml_tree import attribute
from ingest.formats.sheets.layout import Layout
from ingest.formats.sheets.limits import blocks, column_number
from ingest.formats.sheets.second_reader import SheetEntry
from ingest.formats.sheets.xlsx_texts import cell_links, raised_cells, raised_strings
from ingest.optional_steps import improve

_CELL: Final = re.compile(
    rb"""<(?:[\w.-]+:)?c(?=\s)(?:\s+r\s*=\s*["']([A-Z]{1,3})(\d{1,7})["']"""
    rb"""|\s+s\s*=\s*["'](\d{1,6})["']|\s+t\s*=\s*["'](\w+)["']|\s+[\w:.-]+\s*=\s*["'][^"'<>]*["'])*+\s*>"""
)
_SHEETS: Final = ("worksheet", "xlMacrosheet", "xlIntlMacrosheet")
_TRUE: Final = ("1", "true")


class XlsxLayouts:
    """Reads the layouts of a workbook's sheets."""

    def __init__(self, package: Package) -> None:
        """Raises KeyError, and the errors of zipfile and lxml."""
        self._package = package
        self.workbook = package.main("xl/workbook.xml")
        styles = package.related(self.workbook, "styles")
        root = package.find_xml(styles[0]) if styles else None
        self.codes = [] if root is None else style_codes(root)
        book = package.xml(self.workbook)
        self.is_1904 = any(
            properties.get("date1904") in _TRUE for properties in book.iterchildren("{*}workbookPr")
        )
        listed = book.iterfind("{*}sheets/{*}sheet")
        self.sheets = [self._entry(sheet) for sheet in listed]
        self._raised: dict[int, str] | None = None

    def of(self, index: int) -> Layout:
        """The number formats of the sheet with this index; none if its part is missing."""
        layout = Layout(self.codes, is_1904=self.is_1904)
        part = self.sheets[index].part if index < len(self.sheets) else ""
        if part:
            if layout.has_formats:
                read_styles(*self._package.member(part), layout)
            self.read_texts(part, layout)
        return layout

    def read_texts(self, part: str, layout: Layout) -> None:
        """Note the raised figures and the links of a sheet."""
        if self._raised is None:
            read = partial(raised_strings, self._package, self.workbook)
            self._raised = improve("styles", read, otherwise=dict[int, str])
        raised = partial(raised_cells, self._package, part, self._raised)
        layout.raised = improve("styles", raised, otherwise=dict)
        layout.links = improve("links", partial(cell_links, self._package, part), otherwise=dict)

    def _entry(self, sheet: etree._Element) -> SheetEntry:
        relation = self._package.relations(self.workbook).get(attribute(sheet, "id") or "")
        kind, target = (relation.kind, relation.target) if relation else ("", "")
        part = target if target in self._package else ""
        return SheetEntry(
            sheet.get("name", ""),
            is_hidden=sheet.get("state", "visible") != "visible",
            part=part if kind in _SHEETS else "",
            chart=part if kind == "chartsheet" else "",
        )


def style_codes(styles: etree._Element) -> list[str]:
    """The number format of each cell style, by its index."""
    own = {
        item.get("numFmtId"): item.get("formatCode", "")
        for item in styles.iterfind("{*}numFmts/{*}numFmt")
    }
    numbers = (item.get("numFmtId", "0") for item in styles.iterfind("{*}cellXfs/{*}xf"))
    return [_code(number, own) for number in numbers]


def _code(number: str, own: Mapping[str | None, str]) -> str:
    found = own.get(number)
    return (
        found if found is not None else BUILT_IN.get(int(number) if number.isdecimal() else 0, "")
    )


def read_styles(archive: zipfile.ZipFile, member: zipfile.ZipInfo, layout: Layout) -> None:
    """Note the styles of cells with numbers; one that states none has the first."""
    for data in blocks(archive, member):
        for column, row, style, kind in _CELL.findall(data):
            if column and kind in (b"", b"n", b"d"):
                layout.add_style(int(row) - 1, column_number(column) - 1, int(style or 0))
