"""Excel workbooks by xlrd: files without a container (Excel 2 to 4), and fallback for calamine."""

import io
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version
from typing import BinaryIO

import olefile
import xlrd

from ingest.errors import Permanent
from ingest.formats.common.cells import Date, Number, cell_text, date_text
from ingest.formats.common.number_format import BUILT_IN, is_plain, shown
from ingest.formats.sheets.biff import read_workbook
from ingest.optional_steps import improve

VERSION = f"xlrd {version('xlrd')}, sheets 3"


def sheets(stream: BinaryIO) -> Iterator[tuple[str, bool, Iterator[list[str]]]]:
    """Name, whether it is hidden, and rows of each sheet.

    Raises Permanent `encrypted`, xlrd.XLRDError, and arbitrary exceptions for damaged files.
    """
    # Taken out of its container by olefile: xlrd follows circular sectors until memory is used up.
    workbook, _ = read_workbook(stream)
    data = workbook or stream.read()
    if data.startswith(olefile.MAGIC):
        raise xlrd.XLRDError("The container has no workbook that can be read.")
    book = _open(data)
    codes = improve("styles", lambda: _codes(book), otherwise=list[str])
    for sheet in book.sheets():
        yield sheet.name, bool(sheet.visibility), _rows(sheet, codes, book.datemode)


def _open(data: bytes) -> xlrd.book.Book:
    """With its formats, if they are sound."""
    open_book = partial(
        xlrd.open_workbook, file_contents=data, ragged_rows=True, logfile=io.StringIO()
    )
    try:
        return improve("styles", lambda: open_book(formatting_info=True), otherwise=open_book)
    except xlrd.XLRDError as error:
        if "encrypted" in str(error):
            raise Permanent("The workbook is protected by a password.", code="encrypted") from error
        raise


def _codes(book: xlrd.book.Book) -> list[str]:
    """The number format of each cell style, by its index; none if they were not read."""
    formats = {key: BUILT_IN.get(key, found.format_str) for key, found in book.format_map.items()}
    return [formats.get(style.format_key, "") for style in book.xf_list]


def _rows(sheet: xlrd.sheet.Sheet, codes: Sequence[str], epoch: int) -> Iterator[list[str]]:
    for index in range(sheet.nrows):
        yield [_text(cell, codes, epoch) for cell in sheet.row(index)]


def _text(cell: xlrd.sheet.Cell, codes: Sequence[str], epoch: int) -> str:
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return str(xlrd.error_text_from_code.get(cell.value, ""))
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return cell_text(bool(cell.value))
    code = codes[cell.xf_index] if cell.xf_index is not None and codes else ""
    if cell.ctype == xlrd.XL_CELL_DATE:
        return Date(_date(cell.value, code, epoch))
    if cell.ctype == xlrd.XL_CELL_NUMBER and not is_plain(code):
        return Number(_shown(cell.value, code, epoch))
    return cell_text(cell.value)


def _shown(value: float, code: str, epoch: int) -> str:
    return improve(
        "styles",
        lambda: shown(value, code, is_1904=bool(epoch)),
        otherwise=lambda: cell_text(value),
    )


def _date(value: float, code: str, epoch: int) -> str:
    if code:
        return _shown(value, code, epoch)
    try:
        return date_text(xlrd.xldate_as_datetime(value, epoch))
    except (xlrd.XLDateError, OverflowError, ValueError):
        return cell_text(value)
