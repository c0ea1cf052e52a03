"""A look at the records of an Excel 97 workbook before a reader takes it all into memory."""

import struct
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import olefile

from ingest.errors import Permanent
from ingest.formats.sheets.limits import MOST_PLACES

_STREAMS = ("Workbook", "Book")
_HEAD = struct.Struct("<HH")
_PLACE = struct.Struct("<HH")
_EXTENT = struct.Struct("<IIHH")
_START, _FILEPASS, _DIMENSIONS = 0x0809, 0x002F, 0x0200
_CELLS = frozenset({0x0006, 0x00BD, 0x00D6, 0x00FD, 0x0203, 0x0204, 0x0205, 0x027E})
"""FORMULA, MULRK, RSTRING, LABELSST, NUMBER, LABEL, BOOLERR, RK."""


def check_xls(stream: BinaryIO) -> bool:
    """Whether calamine may open it: it takes all memory where sectors lead in a circle, or where
    a sheet claims to be huge.

    Leaves the stream at its start; says nothing else of one that is damaged or no container.

    Permanent: `encrypted`, be it by the oldest method, which leaves the records in place, so that
    readers take their cells for text; `too_large` by the rectangles that the cells of all sheets
    stand in, which calamine holds at the same time.
    """
    places = rows = columns = 0
    workbook, is_circular = _workbook(stream)
    is_huge = False
    for kind, position in _records(workbook):
        if kind == _FILEPASS:
            raise Permanent("The workbook is protected by a password.", code="encrypted")
        if kind == _START:
            places += rows * columns
            rows = columns = 0
        elif kind == _DIMENSIONS:
            is_huge = is_huge or _claimed(workbook, position) > MOST_PLACES
        elif kind in _CELLS:
            row, column = _PLACE.unpack_from(workbook, position)
            rows, columns = max(rows, row + 1), max(columns, column + 1)
            if places + rows * columns > MOST_PLACES:
                raise Permanent(
                    f"The sheets spread over more than {MOST_PLACES:,} cells, empty ones among"
                    " them.",
                    code="too_large",
                )
    return not is_circular and not is_huge


def _claimed(workbook: bytes, position: int) -> int:
    """Cells of a sheet as it states its size itself."""
    if position + _EXTENT.size > len(workbook):
        return 0
    first_row, end_row, first_column, end_column = _EXTENT.unpack_from(workbook, position)
    return int((end_row - first_row) * (end_column - first_column))


def _workbook(stream: BinaryIO) -> tuple[bytes, bool]:
    """The stream of the container that holds all records, empty if there is none; whether the
    container's sectors lead in a circle."""
    try:
        with olefile.OleFileIO(stream) as container:
            name = next((name for name in _STREAMS if container.exists(name)), None)
            records = bytes(container.openstream(name).read()) if name else b""
            container.loadminifat()
            return records, _is_circular(container.fat) or _is_circular(container.minifat or ())
    except Exception:  # olefile raises whatever a broken structure leads to
        return b"", False
    finally:
        stream.seek(0)


def _is_circular(following: Sequence[int]) -> bool:
    """Whether some chain of sectors comes back to itself; those that end lead out of the table."""
    reached_from = [-1] * len(following)
    for start in range(len(following)):
        sector = start
        while sector < len(following) and reached_from[sector] < 0:
            reached_from[sector] = start
            sector = following[sector]
        if sector < len(following) and reached_from[sector] == start:
            return True
    return False


def _records(data: bytes) -> Iterator[tuple[int, int]]:
    """Kind and position of each record that has room for two numbers."""
    position, last = 0, len(data) - _HEAD.size - _PLACE.size
    while position <= last:
        kind, length = _HEAD.unpack_from(data, position)
        yield kind, position + _HEAD.size
        position += _HEAD.size + length
