"""Rows within a table that are no records: titles of the next table, notes, sections."""

from collections.abc import Sequence
from typing import Final, Literal

from ingest.formats.common.cell_values import Row, is_value, signature
from ingest.formats.common.cells import Across
from ingest.formats.common.row_queue import RowQueue
from ingest.formats.common.table_header import LOOK_AHEAD, find_header, holds_values

_FEW: Final = 4  # rows: names of columns, units, a record
_NOTES: Final = 30  # rows below a table
_LONGEST_NAME: Final = 30  # characters of a record with one cell


def is_alone(row: Row) -> bool:
    """Whether a row has a text in its first cell only."""
    if not row or (len(row) > 1 and row[1] and not isinstance(row[1], Across)):  # nearly always
        return False
    return bool(row[0]) and not any(cell and not isinstance(cell, Across) for cell in row[1:])


def is_usual(row: Row, rows: RowQueue) -> bool:
    """Whether a row of one cell is a record at first sight: short, and above another such row."""
    is_short = len(row[0]) <= _LONGEST_NAME and not isinstance(row[-1], Across)
    return is_short and is_alone(rows.first())


def role(
    row: Row, rows: RowQueue, *, header: Row, last: Row
) -> Literal["title", "notes", "note", "record"]:
    """What a row of one cell is among records; `notes`: all that follow are, too.

    rows: those after it; last: the record before it that has several cells, or an empty row.
    """
    if _begins_table(row, rows, header, last):
        return "title"
    if len(row) > 2 and all(isinstance(cell, Across) for cell in row[1:]):
        return "note"
    return "notes" if _are_notes(row, rows, last) else "record"


def _begins_table(title: Row, rows: RowQueue, header: Row, last: Row) -> bool:
    """Whether names of columns follow, of which some hold values.

    A record without values looks like them (`Bob | unknown`): if the rows below are like those
    above, names share one with the header, else they are a record of the same table.
    """
    names, *below = rows.peek(_FEW) or [()]
    if is_alone(names) or any(map(is_value, names)):
        return False
    cells = (cell for row in below for name, cell in zip(names, row, strict=False) if name)
    if not any(map(is_value, cells)):
        return False
    kind = signature(_trimmed(last))
    if any(kind) and any(signature(_trimmed(row)) == kind for row in below):
        known = {name.casefold() for name in header}
        if not any(name and name.casefold() in known for name in names):
            return False
    following = rows.peek(LOOK_AHEAD)
    end = next((at for at, row in enumerate(following) if is_alone(row)), len(following))
    table = [_trimmed(row) for row in following[:end]]
    index = find_header([title, *table])
    return index is not None and any(
        holds_values(table[index:], column) for column, name in enumerate(table[0]) if name
    )


def _are_notes(row: Row, rows: RowQueue, last: Row) -> bool:
    """Whether the row and all others stand below the records, which are not that long."""
    if len(row[0]) <= _LONGEST_NAME or (last and len(last[0]) > _LONGEST_NAME):
        return False
    following = rows.peek(_NOTES)
    return len(following) < _NOTES and all(map(is_alone, following))


def _trimmed(row: Row) -> Sequence[str]:
    end = len(row)
    while end and not row[end - 1]:
        end -= 1
    return row[:end]
