"""Workbooks that Excel 2003 and other programs wrote as one XML file (SpreadsheetML)."""

import contextlib
import datetime as dt
from collections.abc import Iterator, Mapping

from lxml import etree

from ingest.formats.common.cells import Across, Date, Number, cell_text
from ingest.formats.common.markdown_writer import Lines
from ingest.formats.common.number_format import BUILT_IN, is_date, is_plain, shown
from ingest.formats.common.table_records import TableWriter
from ingest.optional_steps import improve

NAMESPACE = "urn:schemas-microsoft-com:office:spreadsheet"
_INDEX = f"{{{NAMESPACE}}}Index"
_ACROSS = f"{{{NAMESPACE}}}MergeAcross"
_SPAN = f"{{{NAMESPACE}}}Span"
_STYLE = f"{{{NAMESPACE}}}StyleID"
_WIDEST = 16_384  # columns of a sheet
_MOST_MERGED = 256  # columns of a cell
_NAMED = {
    "general number": "", "standard": BUILT_IN[4], "fixed": BUILT_IN[2], "percent": BUILT_IN[10],
    "scientific": BUILT_IN[11], "currency": BUILT_IN[4], "euro currency": '"€" #,##0.00',
    "general date": BUILT_IN[22], "long date": "dddd, mmmm d, yyyy", "medium date": BUILT_IN[15],
    "short date": BUILT_IN[14], "long time": BUILT_IN[19], "medium time": BUILT_IN[18],
    "short time": BUILT_IN[20], "yes/no": '"Yes";"Yes";"No"', "true/false": '"True";"True";"False"',
    "on/off": '"On";"On";"Off"',
}  # fmt: skip
"""Formats that files refer to by name. The symbol of `Currency` is that of the system."""


def write(root: etree._Element, out: Lines) -> None:
    """Write each sheet under its name, rows as records."""
    codes = improve("styles", lambda: _codes(root), otherwise=dict[str, str])
    for sheet in root.iterfind("{*}Worksheet"):
        out.heading(2, sheet.get(f"{{{NAMESPACE}}}Name", ""))
        TableWriter(out).write(_rows(sheet, codes))


def _codes(root: etree._Element) -> dict[str, str]:
    """The number format of each style; one that states none has that of its parent."""
    codes: dict[str, str] = {}
    for style in root.iterfind("{*}Styles/{*}Style"):  # parents come first
        stated = style.find("{*}NumberFormat")
        code = None if stated is None else stated.get(f"{{{NAMESPACE}}}Format", "")
        if code is None:
            code = codes.get(style.get(f"{{{NAMESPACE}}}Parent", ""), "")
        codes[style.get(f"{{{NAMESPACE}}}ID", "")] = _NAMED.get(code.casefold(), code)
    return codes


def _rows(sheet: etree._Element, codes: Mapping[str, str]) -> Iterator[list[str]]:
    columns = improve("styles", lambda: _columns(sheet), otherwise=dict[int, str])
    for row in sheet.iterfind("{*}Table/{*}Row"):
        if _INDEX in row.attrib:
            yield []  # the file omits empty rows before this one
        cells: list[str] = []
        for cell in row.iterfind("{*}Cell"):
            cells += [""] * (_number(cell, _INDEX) - 1 - len(cells))
            style = cell.get(_STYLE) or row.get(_STYLE) or columns.get(len(cells), "Default")
            text = _text(cell.find("{*}Data"), codes.get(style, ""))
            cells += [text, *[Across(text)] * min(_number(cell, _ACROSS), _MOST_MERGED)]
            if len(cells) > _WIDEST:
                break
        yield cells[:_WIDEST]


def _columns(sheet: etree._Element) -> dict[int, str]:
    """The style of each column that has one."""
    styles: dict[int, str] = {}
    place = 0
    for column in sheet.iterfind("{*}Table/{*}Column"):
        place = max(_number(column, _INDEX) - 1, place)
        after = min(place + 1 + _number(column, _SPAN), _WIDEST)
        if style := column.get(_STYLE):
            styles.update(dict.fromkeys(range(place, after), style))
        place = after
    return styles


def _number(element: etree._Element, attribute: str) -> int:
    """A number of columns; 0 if there is none."""
    value = element.get(attribute, "")
    return min(int(value), _WIDEST) if value.isdecimal() and len(value) < 6 else 0


def _text(data: etree._Element | None, code: str) -> str:
    if data is None:
        return ""
    text = "".join(data.itertext()).strip()
    kind = data.get(f"{{{NAMESPACE}}}Type")
    with contextlib.suppress(ValueError):
        if kind == "Number":
            return _formatted(float(text), code)
        if kind == "DateTime":
            return _formatted(dt.datetime.fromisoformat(text), code)
    return cell_text(text == "1") if kind == "Boolean" else cell_text(text)


def _formatted(value: float | dt.datetime, code: str) -> str:
    if is_plain(code):
        return cell_text(value)
    text = improve("styles", lambda: shown(value, code), otherwise=lambda: cell_text(value))
    return Number(text) if isinstance(value, float) and not is_date(code) else Date(text)
