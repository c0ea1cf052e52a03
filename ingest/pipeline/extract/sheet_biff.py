"""A look at the records of an Excel 97 workbook before a reader takes it all into memory."""

import struct
from collections.abc import Iterator
from typing import BinaryIO

import olefile

from ingest.errors import Permanent
from ingest.pipeline.extract.sheet_guard import MOST_PLACES

_STREAMS = ("Workbook", "Book")
_HEAD = struct.Struct("<HH")
_PLACE = struct.Struct("<HH")
_START, _FILEPASS = 0x0809, 0x002F
_CELLS = frozenset({0x0006, 0x00BD, 0x00D6, 0x00FD, 0x0203, 0x0204, 0x0205, 0x027E})
"""FORMULA, MULRK, RSTRING, LABELSST, NUMBER, LABEL, BOOLERR, RK."""


def check_xls(stream: BinaryIO) -> None:
    """Leaves the stream at its start; says nothing of one that is damaged or no container.

    Permanent: `encrypted`, be it by the oldest method, which leaves the records in place, so that
    readers take their cells for text; `too_large` by the rectangles that the cells of all sheets
    stand in, which calamine holds at the same time.
    """
    places = rows = columns = 0
    for kind, place in _records(_workbook(stream)):
        if kind == _FILEPASS:
            raise Permanent("The workbook is protected by a password.", code="encrypted")
        if kind == _START:
            places += rows * columns
            rows = columns = 0
        elif kind in _CELLS:
            rows, columns = max(rows, place[0] + 1), max(columns, place[1] + 1)
            if places + rows * columns > MOST_PLACES:
                raise Permanent(
                    f"The sheets spread over more than {MOST_PLACES:,} cells, empty ones among"
                    " them.",
                    code="too_large",
                )


def _workbook(stream: BinaryIO) -> bytes:
    """The stream of the container that holds all records; empty if there is none."""
    try:
        with olefile.OleFileIO(stream) as container:
            name = next((name for name in _STREAMS if container.exists(name)), None)
            return bytes(container.openstream(name).read()) if name else b""
    except Exception:  # olefile raises whatever a broken structure leads to
        return b""
    finally:
        stream.seek(0)


def _records(data: bytes) -> Iterator[tuple[int, tuple[int, int]]]:
    """Kind, and the first two numbers, of each record that has them."""
    position, last = 0, len(data) - _HEAD.size - _PLACE.size
    while position <= last:
        kind, length = _HEAD.unpack_from(data, position)
        yield kind, _PLACE.unpack_from(data, position + _HEAD.size)
        position += _HEAD.size + length
