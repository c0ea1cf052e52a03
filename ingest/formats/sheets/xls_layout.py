"""Number formats of Excel 5 to 97 sheets, from the records of the workbook."""

import struct
from typing import BinaryIO, Final

from ingest.formats.common.number_format import BUILT_IN
from ingest.formats.sheets.biff import read_workbook, records
from ingest.formats.sheets.layout import Layout

_START, _SHEET, _FORMAT, _STYLE, _DATE_MODE = 0x0809, 0x0085, 0x041E, 0x00E0, 0x0022
_MULTIPLE = 0x00BD  # MULRK
_NUMBERS: Final = frozenset({0x0006, 0x0203, 0x027E})
"""FORMULA, NUMBER, RK: row, column and style."""
_WORD: Final = struct.Struct("<H")
_TWO: Final = struct.Struct("<HH")
_CELL: Final = struct.Struct("<HHH")
_RK_SIZE: Final = 6  # style and number
_EXCEL_97: Final = 0x0600
_HEAD: Final = 4  # bytes of kind and length before the data of a record


def read_layouts(stream: BinaryIO) -> list[Layout]:
    """One layout per sheet, in order. Raises struct.error for a damaged file."""
    workbook, _ = read_workbook(stream)
    sheets: list[int] = []
    own: dict[int, str] = {}
    numbers: list[int] = []
    found: dict[int, Layout] = {}
    layout = Layout()
    is_1904 = is_97 = False
    for kind, at in records(workbook):
        if kind == _START:
            codes = [own.get(number, BUILT_IN.get(number, "")) for number in numbers]
            is_97 = is_97 or _WORD.unpack_from(workbook, at)[0] == _EXCEL_97
            layout = found[at - _HEAD] = Layout(codes, is_1904=is_1904)
        elif kind == _SHEET:
            sheets.append(struct.unpack_from("<I", workbook, at)[0])
        elif kind == _FORMAT:
            (number,) = _WORD.unpack_from(workbook, at)
            own[number] = _code(workbook, at + 2, is_97=is_97)
        elif kind == _STYLE:
            numbers.append(_TWO.unpack_from(workbook, at)[1])
        elif kind == _DATE_MODE:
            is_1904 = _WORD.unpack_from(workbook, at)[0] == 1
        elif kind in _NUMBERS:
            layout.add_style(*_CELL.unpack_from(workbook, at))
        elif kind == _MULTIPLE:
            _add_multiple(workbook, at, layout)
    return [found.get(start, Layout()) for start in sheets]


def _add_multiple(workbook: bytes, at: int, layout: Layout) -> None:
    row, column = _TWO.unpack_from(workbook, at)
    (length,) = _WORD.unpack_from(workbook, at - 2)
    for offset in range(at + _TWO.size, at + length - _WORD.size, _RK_SIZE):
        layout.add_style(row, column, _WORD.unpack_from(workbook, offset)[0])
        column += 1


def _code(workbook: bytes, at: int, *, is_97: bool) -> str:
    if not is_97:
        return workbook[at + 1 : at + 1 + workbook[at]].decode("cp1252", "replace")
    length, is_wide = _WORD.unpack_from(workbook, at)[0], workbook[at + 2] & 1
    start = at + 3
    if is_wide:
        return workbook[start : start + 2 * length].decode("utf-16-le", "replace")
    return workbook[start : start + length].decode("latin-1")
