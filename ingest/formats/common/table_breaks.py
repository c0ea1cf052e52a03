"""Rows within a table that are no records: titles of the next table, notes, sections."""

from collections.abc import Sequence
from typing import Final, Literal

from ingest.formats.common.cells import Across
from ingest.formats.common.row_queue import RowQueue
from ingest.formats.common.table_header import LOOK_AHEAD, Row, find_header, holds_values, is_value

_FEW: Final = 4  # rows: names of columns, units, a record
_NOTES: Final = 5  # rows below a table
_LONGEST_NAME: Final = 30  # characters of a record with one cell


def is_alone(row: Row) -> bool:
    """Whether a row has a text in its first cell only."""
    if not row or (len(row) > 1 and row[1] and not isinstance(row[1], Across)):  # nearly always
        return False
    return bool(row[0]) and not any(cell and not isinstance(cell, Across) for cell in row[1:])


def role(row: Row, rows: RowQueue) -> Literal["title", "note", "record"]:
    """What a row of one cell is among records; rows: those after it."""
    if _begins_table(row, rows):
        return "title"
    return "note" if _is_note(row, rows) else "record"


def _begins_table(title: Row, rows: RowQueue) -> bool:
    """Whether names of columns follow, of which some hold values."""
    names, *below = rows.peek(_FEW) or [()]
    if is_alone(names) or any(map(is_value, names)):
        return False
    cells = (cell for row in below for name, cell in zip(names, row, strict=False) if name)
    if not any(map(is_value, cells)):
        return False
    following = rows.peek(LOOK_AHEAD)
    end = next((at for at, row in enumerate(following) if is_alone(row)), len(following))
    table = [_trimmed(row) for row in following[:end]]
    index = find_header([title, *table])
    return index is not None and any(
        holds_values(table[index:], column) for column, name in enumerate(table[0]) if name
    )


def _is_note(row: Row, rows: RowQueue) -> bool:
    """Whether the row stands below the records, or is merged over all columns."""
    if len(row) > 2 and all(isinstance(cell, Across) for cell in row[1:]):
        return True
    if len(row[0]) <= _LONGEST_NAME:
        return False
    following = rows.peek(_NOTES)
    return len(following) < _NOTES and all(map(is_alone, following))


def _trimmed(row: Row) -> Sequence[str]:
    end = len(row)
    while end and not row[end - 1]:
        end -= 1
    return row[:end]
