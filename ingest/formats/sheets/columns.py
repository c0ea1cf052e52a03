"""Splits tables that stand side by side on a sheet, separated by an empty column."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise

from ingest.formats.common.cells import Across
from ingest.formats.common.table_header import LOOK_AHEAD, find_header

Grid = Iterable[Sequence[str]]
"""Rows of cells as displayed, all as wide as the sheet; must be iterable several times."""

_MOST_TABLES = 16  # side by side; the rows are read once per table
ALL_COLUMNS = slice(None)


def column_groups(grid: Grid) -> list[slice]:
    """The columns of each table; [ALL_COLUMNS] if they form one table.

    An empty column splits only if each side has a header and at least two columns: otherwise
    labels, marks and figures set apart belong to their row.
    """
    groups = _filled_runs(grid)
    if 2 <= len(groups) <= _MOST_TABLES and all(_is_table(grid, group) for group in groups):
        return groups
    return [ALL_COLUMNS]


def texts(grid: Grid, columns: slice) -> Iterator[list[str]]:
    """The cells of these columns, row by row."""
    for row in grid:
        yield list(row[columns])


def _filled_runs(grid: Grid) -> list[slice]:
    empty: set[int] | None = None
    width = 0
    for row in grid:
        if empty is None:
            width = len(row)
            empty = set(range(width))
        empty.difference_update(
            [column for column in empty if row[column] and not isinstance(row[column], Across)]
        )
        if not empty:
            break
    edges = [-1, *sorted(empty or ()), width]
    return [slice(left + 1, right) for left, right in pairwise(edges) if right - left > 1]


def _is_table(grid: Grid, columns: slice) -> bool:
    if columns.stop - columns.start < 2:
        return False
    return find_header(list(islice(filter(any, texts(grid, columns)), LOOK_AHEAD))) is not None
