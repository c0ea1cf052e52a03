"""Checks the records of an Excel 97 workbook before a reader loads it into memory."""

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
    """Whether calamine may open the file; leaves the stream at its start.

    Circular sectors, or a sheet that claims a huge size, would make calamine use up all memory. A
    file that is damaged in another way, or is not a container, may be opened.

    Raises Permanent: `encrypted` even for the oldest method, which keeps the record structure, so
    that readers take encrypted cells for text; `too_large` by the bounding rectangles of the cells
    of all sheets, which calamine holds at the same time.
    """
    places = rows = columns = 0
    workbook, is_circular = read_workbook(stream)
    is_huge = False
    for kind, position in records(workbook):
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
                    f"The sheets span more than {MOST_PLACES:,} cells, including empty ones.",
                    code="too_large",
                )
    return not is_circular and not is_huge


def _claimed(workbook: bytes, position: int) -> int:
    """Number of cells that a sheet declares; 0 if the record is cut off."""
    if position + _EXTENT.size > len(workbook):
        return 0
    first_row, end_row, first_column, end_column = _EXTENT.unpack_from(workbook, position)
    return int((end_row - first_row) * (end_column - first_column))


def read_workbook(stream: BinaryIO) -> tuple[bytes, bool]:
    """The container's stream with all records (or empty), and whether its sectors form a circle."""
    container = olefile.OleFileIO()
    try:
        container.open(stream)
        with container:
            name = next((name for name in _STREAMS if container.exists(name)), None)
            records = bytes(container.openstream(name).read()) if name else b""
            container.loadminifat()
            return records, _is_circular(container.fat) or _is_circular(container.minifat or ())
    except Exception:  # broken structures make olefile raise arbitrary exceptions
        return b"", _is_circular(getattr(container, "fat", None) or ())
    finally:
        stream.seek(0)


def _is_circular(following: Sequence[int]) -> bool:
    """Whether a chain of sectors loops; a chain ends with a number outside the table."""
    reached_from = [-1] * len(following)
    for start in range(len(following)):
        sector = start
        while sector < len(following) and reached_from[sector] < 0:
            reached_from[sector] = start
            sector = following[sector]
        if sector < len(following) and reached_from[sector] == start:
            return True
    return False


def records(data: bytes) -> Iterator[tuple[int, int]]:
    """Kind and data position of each record, as long as two numbers can be read there."""
    position, last = 0, len(data) - _HEAD.size - _PLACE.size
    while position <= last:
        kind, length = _HEAD.unpack_from(data, position)
        yield kind, position + _HEAD.size
        position += _HEAD.size + length
