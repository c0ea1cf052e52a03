"""Tables that stand side by side on a sheet, with an empty column between them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

from ingest.formats.common.cells import cell_text
from ingest.formats.common.table_header import LOOK_AHEAD, find_header

Grid = Iterable[Sequence[Any]]
"""Rows of cells, all as wide as the sheet; read several times."""

_MOST_TABLES = 16  # beside each other; the rows are read once for each
ALL_COLUMNS = slice(None)


def column_groups(grid: Grid) -> list[slice]:
    """The columns of each table; all of them in one if they make one table.

    An empty column only parts tables of two or more columns with a header of their own:
    labels, marks and figures that are set apart belong to what stands in their row.
    """
    groups = _filled_runs(grid)
    if 2 <= len(groups) <= _MOST_TABLES and all(_is_table(grid, group) for group in groups):
        return groups
    return [ALL_COLUMNS]


def texts(grid: Grid, columns: slice) -> Iterator[list[str]]:
    """The cells of these columns as people see them, row by row."""
    for row in grid:
        yield [cell_text(value) for value in row[columns]]


def _filled_runs(grid: Grid) -> list[slice]:
    empty: set[int] | None = None
    width = 0
    for row in grid:
        if empty is None:
            width = len(row)
            empty = set(range(width))
        empty.difference_update([column for column in empty if cell_text(row[column])])
        if not empty:
            break
    edges = [-1, *sorted(empty or ()), width]
    return [slice(left + 1, right) for left, right in pairwise(edges) if right - left > 1]


def _is_table(grid: Grid, columns: slice) -> bool:
    if columns.stop - columns.start < 2:
        return False
    return find_header(list(islice(filter(any, texts(grid, columns)), LOOK_AHEAD))) is not None
