"""Excel workbooks by xlrd: files without a container (Excel 2 to 4), and fallback for calamine."""

import io
from collections.abc import Iterator
from importlib.metadata import version
from typing import BinaryIO

import xlrd

from ingest.errors import Permanent
from ingest.formats.common.cells import cell_text, date_text

VERSION = f"xlrd {version('xlrd')}"


def sheets(stream: BinaryIO) -> Iterator[tuple[str, bool, Iterator[list[str]]]]:
    """Name, whether it is hidden, and rows of each sheet.

    Raises Permanent `encrypted`, xlrd.XLRDError, and arbitrary exceptions for damaged files.
    """
    try:
        book = xlrd.open_workbook(
            file_contents=stream.read(), ragged_rows=True, logfile=io.StringIO()
        )
    except xlrd.XLRDError as error:
        if "encrypted" in str(error):
            raise Permanent("The workbook is protected by a password.", code="encrypted") from error
        raise
    for sheet in book.sheets():
        yield sheet.name, bool(sheet.visibility), _rows(sheet, book.datemode)


def _rows(sheet: xlrd.sheet.Sheet, epoch: int) -> Iterator[list[str]]:
    for index in range(sheet.nrows):
        yield [_text(cell, epoch) for cell in sheet.row(index)]


def _text(cell: xlrd.sheet.Cell, epoch: int) -> str:
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return str(xlrd.error_text_from_code.get(cell.value, ""))
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return cell_text(bool(cell.value))
    if cell.ctype == xlrd.XL_CELL_DATE:
        try:
            return date_text(xlrd.xldate_as_datetime(cell.value, epoch))
        except (xlrd.XLDateError, OverflowError, ValueError):
            return cell_text(cell.value)
    return cell_text(cell.value)
