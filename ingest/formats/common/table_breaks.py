"""Rows within a table that are no records: titles of the next table, notes, sections."""

from collections.abc import Sequence
from typing import Final

from ingest.formats.common.cells import Across
from ingest.formats.common.row_queue import RowQueue
from ingest.formats.common.table_header import LOOK_AHEAD, Row, find_header, holds_values, is_value

_NOTES: Final = 5  # rows below a table
_LONGEST_NAME: Final = 30  # characters of a record with one cell


def is_alone(row: Row) -> bool:
    """Whether a row has a text in its first cell only."""
    return bool(row[0]) and not any(cell and not isinstance(cell, Across) for cell in row[1:])


def begins_table(title: Row, rows: RowQueue) -> bool:
    """Whether a row of one cell is followed by names of columns, of which some hold values."""
    following = rows.peek(LOOK_AHEAD)
    end = next((at for at, row in enumerate(following) if is_alone(row)), len(following))
    table = [_trimmed(row) for row in following[:end]]
    if len(table) < 2 or any(map(is_value, table[0])):
        return False
    index = find_header([title, *table])
    return index is not None and any(
        holds_values(table[index:], column) for column, name in enumerate(table[0]) if name
    )


def is_note(row: Row, rows: RowQueue) -> bool:
    """Whether a row of one cell stands below the records, or is merged over all columns."""
    if sum(isinstance(cell, Across) for cell in row) + 1 == len(row) > 2:
        return True
    following = rows.peek(_NOTES)
    return len(row[0]) > _LONGEST_NAME and len(following) < _NOTES and all(map(is_alone, following))


def _trimmed(row: Row) -> Sequence[str]:
    end = len(row)
    while end and not row[end - 1]:
        end -= 1
    return row[:end]
