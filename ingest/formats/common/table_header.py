"""Guesses which row of a table is its header, from the texts of the cells."""

import re
from collections.abc import Sequence

Row = Sequence[str]

LOOK_AHEAD = 12
"""Rows that the guess is based on."""
_CAPTIONS = 5  # rows above a header that name the table or group its columns
_MOST_NAMES = 3  # rows of a header that a blank row separates from its table
_LONGEST_NAME = 100  # characters; longer cells are prose
_NUMBER = re.compile(
    r"[-+(]?\s?[$€£¥₹]?\s?[-+]?(?:\d[\d\s.,'\u2019\u00a0\u202f]*|[.,]\d+)(?:[eE][-+]?\d+)?\)?"
    r"\s?(?:[%‰$€£¥₹]|[A-Z]{3})?|(?i:true|false)"
)
_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?Z?)?"
    r"|\d{1,2}:\d\d(?::\d\d)?"
)
_ADDRESS = re.compile(r"\S+@\S+\.\w+|https?://\S+")
_CLAUSE = re.compile(r"[,;.!?] ")
_YEAR = re.compile(r"(?:1[89]|20|21)\d\d")


def is_value(cell: str) -> bool:
    """Whether a cell is a number, amount, date, time, boolean or address, so not a column name."""
    return bool(_NUMBER.fullmatch(cell) or _DATE.fullmatch(cell) or _ADDRESS.fullmatch(cell))


def signature(row: Row) -> tuple[bool, ...]:
    """Which cells are values."""
    return tuple(map(is_value, row))


def find_header(rows: Sequence[Row]) -> int | None:
    """Index of the header among the first rows of a table; None if there is no clear one.

    The header is the first row that is about as wide as those below it and looks like names:
    mostly words, short, distinct, and not repeated further down in their columns.
    """
    for index, row in enumerate(rows[: min(len(rows) - 1, _CAPTIONS)]):
        below = rows[index + 1 :]
        if _filled(row) >= 2 and _filled(row) >= 0.6 * max(map(_filled, below)):
            return index if _is_header(names(rows, index), below) else None
    return None


def are_names(rows: Sequence[Row]) -> bool:
    """Whether a few rows of words, several in the last, may name the columns of the next block."""
    return (
        len(rows) <= _MOST_NAMES
        and _filled(rows[-1]) >= 2
        and not any(is_value(cell) and not _YEAR.fullmatch(cell) for row in rows for cell in row)
    )


def is_below(header: Sequence[Row], rows: Sequence[Row]) -> bool:
    """Whether rows after a blank one belong to `header`: they have values but no header."""
    return (
        find_header(rows) is None
        and any(signature(rows[0]))
        and 2 <= len(rows[0]) <= max(map(len, header))
    )


def names(rows: Sequence[Row], index: int) -> list[str]:
    """Column names, prefixed with those of a grouping row above (merged cells)."""
    above = rows[index - 1] if index else ()
    own = list(rows[index])
    if _filled(above) < 2:
        return own
    group = ""
    for column, name in enumerate(own):
        over = above[column] if column < len(above) else ""
        group = (over or group) if name else ""
        if not name:
            own[column] = over
        elif group and group != name:
            own[column] = f"{group} {name}"
    return own


def _filled(row: Row) -> int:
    return sum(map(bool, row))


def _are_alike(cells: Sequence[str]) -> bool:
    """Whether all cells start in the same case and have no punctuation inside, as names do.

    If the rows below are words only, there is no other sign of a header.
    """
    cases = {cell[0].isupper() for cell in cells if cell[0].isalpha()}
    return len(cases) <= 1 and not any(_CLAUSE.search(cell) for cell in cells)


def _is_header(row: Row, below: Sequence[Row]) -> bool:
    cells = [cell for cell in row if cell]
    if max(map(len, cells)) > _LONGEST_NAME:
        return False
    values = sum(is_value(cell) and not _YEAR.fullmatch(cell) for cell in cells)
    if values > 0.25 * len(cells) or all(map(is_value, cells)):
        return False
    if len({cell.casefold() for cell in cells}) < 0.8 * len(cells):
        return False
    if not any(is_value(cell) for other in below for cell in other) and not _are_alike(cells):
        return False
    again = sum(
        any(column < len(other) and other[column] == cell for other in below)
        for column, cell in enumerate(row)
        if cell
    )
    return again <= 0.2 * len(cells)
