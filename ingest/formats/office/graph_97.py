"""Charts of Microsoft Graph, as PowerPoint 97 and Word 97 embed them, as tables ([MS-OGRAPH]).

The cells of the data sheet are in the file itself, unlike those of charts of Excel. Its table is
given, with the titles of the chart and its axes.
"""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from ingest.formats.common.cells import number_text
from ingest.formats.common.markdown import plain, table
from ingest.formats.common.number_format import BUILT_IN, is_plain, shown

_HEAD: Final = struct.Struct("<HH")
_START, _GRAPH = 0x0809, b"\0\x80"
_NUMBER, _LABEL, _FORMAT = 0x0003, 0x0004, 0x041E
_CELL: Final = struct.Struct("<HHxH")  # row, column, number format
_TEXT, _CAPTION, _LINKED = 0x1025, 0x100D, 0x1027
_TITLE, _VALUES, _CATEGORIES = 1, 2, 3
_MOST: Final = 200_000
"""Places of the table; the data sheet has 4,000 rows and columns at most."""


class _Record(NamedTuple):
    kind: int
    data: bytes


def is_graph(stream: bytes) -> bool:
    """Whether the second part of a stream `Workbook`, behind its formats, is a chart of Graph."""
    starts = (record.data for record in _records(stream) if record.kind == _START)
    next(starts, b"")
    return next(starts, b"")[2:4] == _GRAPH


def chart(stream: bytes) -> str:
    """The chart in a stream `Workbook`; empty if it is none of Microsoft Graph."""
    if not is_graph(stream):
        return ""
    records = list(_records(stream))
    cells = _cells(records)
    titles = _titles(records)
    rows, columns = (sorted({place[axis] for place in cells}) for axis in (0, 1))
    if len(rows) * len(columns) > _MOST:
        return ""
    grid = [[cells.get((row, column), "") for column in columns] for row in rows]
    if grid and not grid[0][0]:
        grid[0][0] = titles.get(_CATEGORIES, "")
    heading, values = titles.get(_TITLE, ""), titles.get(_VALUES, "")
    if values:
        heading = f"{heading} ({values})" if heading else values
    return "\n\n".join(piece for piece in (plain(heading), table(grid) if grid else "") if piece)


def _records(stream: bytes) -> Iterator[_Record]:
    at = 0
    while at + _HEAD.size <= len(stream):
        kind, size = _HEAD.unpack_from(stream, at)
        at += _HEAD.size + size
        yield _Record(kind, stream[at - size : at])


def _cells(records: list[_Record]) -> dict[tuple[int, int], str]:
    """Texts by row and column."""
    formats = dict(BUILT_IN)
    found: dict[tuple[int, int], str] = {}
    for kind, data in records:
        if kind == _FORMAT and len(data) > 4:
            formats[int.from_bytes(data[:2], "little")] = _string(data[2:], wide_count=True)
        elif kind in (_NUMBER, _LABEL) and len(data) > _CELL.size:
            row, column, form = _CELL.unpack_from(data)
            content = data[_CELL.size :]
            if kind == _LABEL:
                found[row, column] = _string(content)
            elif len(content) >= 8:
                found[row, column] = _number(content, formats.get(form, ""))
    return {place: text for place, text in found.items() if text}


def _number(data: bytes, code: str) -> str:
    (value,) = struct.unpack_from("<d", data)
    try:
        return number_text(value) if is_plain(code) else shown(value, code)
    except (ValueError, OverflowError):
        return str(value)


def _titles(records: list[_Record]) -> dict[int, str]:
    """Texts by what they are linked to: a text says it behind its words."""
    found: dict[int, str] = {}
    words = ""
    for kind, data in records:
        if kind == _TEXT:
            words = ""
        elif kind == _CAPTION:
            words = _string(data[2:])
        elif kind == _LINKED and len(data) >= 2:
            found.setdefault(int.from_bytes(data[:2], "little"), words)
            words = ""
    return found


def _string(data: bytes, *, wide_count: bool = False) -> str:
    """A string with its number of characters, and whether they have two bytes, in front."""
    head = 2 if wide_count else 1
    count = int.from_bytes(data[:head], "little")
    is_wide = bool(data[head : head + 1] and data[head] & 1)
    text = data[head + 1 :][: count * (2 if is_wide else 1)]
    return " ".join(text.decode("utf-16-le" if is_wide else "latin-1", "replace").split())
