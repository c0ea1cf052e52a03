"""Workbooks that Excel 2003 and other programs wrote as one XML file (SpreadsheetML)."""

import contextlib
import datetime as dt
from collections.abc import Iterator

from lxml import etree

from ingest.formats.common.cells import cell_text
from ingest.formats.common.markdown_writer import Lines
from ingest.formats.common.table_records import TableWriter

NAMESPACE = "urn:schemas-microsoft-com:office:spreadsheet"
_INDEX = f"{{{NAMESPACE}}}Index"
_WIDEST = 16_384  # columns of a sheet


def write(root: etree._Element, out: Lines) -> None:
    """Write each sheet under its name, rows as records."""
    for sheet in root.iterfind("{*}Worksheet"):
        out.heading(2, sheet.get(f"{{{NAMESPACE}}}Name", ""))
        TableWriter(out).write(_rows(sheet))


def _rows(sheet: etree._Element) -> Iterator[list[str]]:
    for row in sheet.iterfind("{*}Table/{*}Row"):
        if _INDEX in row.attrib:
            yield []  # the file omits empty rows before this one
        cells: list[str] = []
        for cell in row.iterfind("{*}Cell"):
            index = cell.get(_INDEX, "")
            if index.isdecimal() and len(index) < 6:
                cells += [""] * (min(int(index), _WIDEST) - 1 - len(cells))
            cells.append(_text(cell.find("{*}Data")))
        yield cells


def _text(data: etree._Element | None) -> str:
    if data is None:
        return ""
    text = "".join(data.itertext()).strip()
    kind = data.get(f"{{{NAMESPACE}}}Type")
    with contextlib.suppress(ValueError):
        if kind == "Number":
            return cell_text(float(text))
        if kind == "DateTime":
            return cell_text(dt.datetime.fromisoformat(text))
    return cell_text(text == "1") if kind == "Boolean" else cell_text(text)
