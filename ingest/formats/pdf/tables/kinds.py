"""Tells tables from what only stands in columns: forms, tables of contents, prose."""

import re
from collections.abc import Sequence
from itertools import pairwise

from ingest.formats.pdf.tables.rows import is_number

_FILLED = 0.6  # minimum share of filled cells
_LONG = 28.0  # mean characters per cell; above this, a column is prose
_LONGEST_LABEL = 40
_NUMERIC = 0.8  # share of numbers in the second of two columns
_FEWEST_ENTRIES = 3  # of a table of contents

_ENTRY = re.compile(r"\d[\d.]*\s[^\W\d_]")  # `2.1 Pumps . . . . 12`
_PAGE = re.compile(r"(?:\. ?){5}\s*\d{1,4}\s*$")
_LONGEST_PAGE = 20  # characters of dots and page that are looked at
_LINE_NUMBER = re.compile(r"(\d{1,6})\s+\S")

Rows = Sequence[Sequence[str]]
"""Text by row and column, equally many in each row."""


def is_table(rows: Rows, *, by_columns: bool = False) -> bool:
    """Whether most cells are filled, and at most one column is prose.

    `by_columns`: the file has a column whole before the next, as it has addresses beside each
    other. Then the cells below the header of a column have to be numbers.
    """
    width = len(rows[0])
    filled = sum(map(bool, (cell for row in rows for cell in row)))
    if filled < _FILLED * width * len(rows):
        return False
    columns = [[cell for cell in column if cell] for column in zip(*rows, strict=True)]
    if width == 2:
        values = columns[1]
        return sum(map(is_number, values)) >= _NUMERIC * len(values)
    if by_columns and not any(
        sum(map(is_number, cells[1:])) >= max(_NUMERIC * len(cells[1:]), 1) for cells in columns
    ):
        return False
    prose = [sum(map(len, cells)) > _LONG * len(cells) for cells in columns]
    return sum(prose) < 2


def is_contents(rows: Rows) -> bool:
    """Whether the last of two columns holds page numbers, which only grow; or most rows end in dots
    and one number."""
    if sum(_is_entry(" ".join(row)) for row in rows) > len(rows) / 2:
        return True
    if len(rows[0]) != 2 or len(rows) < _FEWEST_ENTRIES:
        return False
    numbers = [row[1] for row in rows]
    if not all(number.isdecimal() and len(number) <= 4 for number in numbers):
        return False
    pages = list(map(int, numbers))
    words = sum(any(map(str.isalpha, row[0])) for row in rows)
    return pages == sorted(pages) and len(set(pages)) > 1 and words == len(rows)


def as_form(rows: Rows, *, by_columns: bool = False) -> list[str] | None:
    """`label: value` of each field, if every other column holds labels; else None.

    Labels end in a colon; or they have no digit, while the values beside them are of several
    kinds: a column of a table is all numbers, or all words. `by_columns` as for is_table(): then
    all values have digits, and half of them are numbers: a list may be beside an address.
    """
    width = len(rows[0])
    if width % 2:
        return None
    pairs = [
        (row[column], row[column + 1])
        for row in rows
        for column in range(0, width, 2)
        if row[column] or row[column + 1]
    ]
    if _are_numbered([value for _, value in pairs if value]):
        return None
    labels = [label for label, _ in pairs if label]
    if len(labels) < len(pairs) - 1 or len(set(labels)) < len(labels):
        return None
    if max(map(len, labels)) > _LONGEST_LABEL:
        return None
    if sum(label.endswith(":") for label in labels) < _NUMERIC * len(labels):
        if any(any(map(str.isdigit, label)) for label in labels):
            return None
        for column in range(1, width, 2):
            values = [row[column] for row in rows if row[column]]
            if by_columns and 2 * sum(map(is_number, values)) < len(values):
                return None
            first = 0 if by_columns else 1
            kinds = {any(map(str.isdigit, row[column])) for row in rows[first:] if row[column]}
            if kinds != ({True} if by_columns else {True, False}):
                return None
    return [
        f"{label.removesuffix(':')}: {value}".strip() if label else value for label, value in pairs
    ]


def _are_numbered(values: Sequence[str]) -> bool:
    """Whether these are the numbered lines of a listing, with notes in its margin."""
    found = [match for value in values if (match := _LINE_NUMBER.match(value))]
    numbers = [int(match[1]) for match in found]
    if not len(numbers) == len(values) >= _FEWEST_ENTRIES:
        return False
    steps = [after - before for before, after in pairwise(numbers)]
    return min(steps) > 0 and steps.count(1) > len(steps) / 2


def _is_entry(text: str) -> bool:
    """Whether this is a numbered entry of a table of contents, with dots before its page."""
    return _ENTRY.match(text) is not None and _PAGE.search(text[-_LONGEST_PAGE:]) is not None
