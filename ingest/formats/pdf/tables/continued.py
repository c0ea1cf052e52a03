"""Gives a table that goes on from the page before the header of that table."""

from collections.abc import Sequence
from itertools import pairwise

from ingest.formats.common.markdown import table
from ingest.formats.pdf.layout.text_lines import Line, PageLines, Table
from ingest.formats.pdf.tables.rows import is_number

_TOLERANCE = 6.0  # points between the edges of a column on two pages
_MOST_LINES = 3  # of headers and footers between the two parts; `(continued)` is one of them
_LONGEST = 80  # characters of such a line


def carry_headers(pages: Sequence[PageLines]) -> None:
    """Put the header of a table above each part of it that begins a page without one."""
    for page, following in pairwise(pages):
        last = _table_at(page.lines[::-1])
        first = _table_at(following.lines)
        if last is None or first is None or last.table is None or first.table is None:
            continue
        if _goes_on(last.table, first.table):
            rows = [last.table.rows[0], *first.table.rows]
            first.table = Table(rows, first.table.columns)
            first.text = table(rows)


def _table_at(lines: Sequence[Line]) -> Line | None:
    """The first of these lines that is a table; None if more than headers or footers precede it."""
    for line in lines[: _MOST_LINES + 1]:
        if line.kind == "table":
            return line
        if len(line.text) > _LONGEST:
            return None
    return None


def _goes_on(above: Table, below: Table) -> bool:
    """Whether the columns are the same, and the first row below is one of the rows above."""
    if len(above.columns) != len(below.columns) or not _are_aligned(above, below):
        return False
    header, first = above.rows[0], below.rows[0]
    if header == first:
        return False
    numeric = [
        column
        for column in range(len(header))
        if sum(is_number(row[column]) for row in above.rows[1:]) * 2 > len(above.rows) - 1
    ]
    if not numeric:  # no figures tell the header from the rows
        return any(cell.strip() for cell in header)
    if any(is_number(header[column]) for column in numeric):  # no header above, either
        return False
    return any(is_number(first[column]) for column in numeric)


def _are_aligned(above: Table, below: Table) -> bool:
    """Whether each column shares an edge or overlaps."""
    return all(
        abs(left - other_left) <= _TOLERANCE
        or abs(right - other_right) <= _TOLERANCE
        or (left < other_right and other_left < right)
        for (left, right), (other_left, other_right) in zip(
            above.columns, below.columns, strict=True
        )
    )
