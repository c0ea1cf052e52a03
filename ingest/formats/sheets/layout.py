"""What a sheet shows beside the values of its cells: number formats and merged cells."""

import datetime as dt
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ingest.formats.common.cells import Across, Date, Linked, Number, cell_text
from ingest.formats.common.number_format import is_date, is_plain, shown
from ingest.formats.sheets.limits import MOST_PLACES
from ingest.optional_steps import improve

_LONGEST_REPEATED: Final = 100  # characters; longer texts in merged cells are notes, not names
Merge = tuple[int, int, int, int]
"""First row, first column, last row, last column; all 0-based and inclusive."""


class Layout:
    """The number formats and merged cells of one sheet. Empty: values are shown as they are."""

    def __init__(self, codes: Sequence[str] = (), *, is_1904: bool = False) -> None:
        """codes: the number format of each cell style."""
        self._codes = ["" if is_plain(code) else code for code in codes]
        self._is_1904 = is_1904
        self._changes: dict[int, tuple[array[int], array[int]]] = {}
        """By column: rows where the style of numbers changes, and the styles."""
        self.merges: list[Merge] = []
        self.raised: Mapping[tuple[int, int], str] = {}
        """Texts of cells with raised or lowered figures (`10^6`), by row and column."""
        self.links: Mapping[tuple[int, int], str] = {}
        """Addresses of cells that are links, by row and column."""

    @property
    def has_formats(self) -> bool:
        return any(self._codes)

    def add_style(self, row: int, column: int, style: int) -> None:
        """Note the style of a cell with a number; rows must ascend."""
        changes = self._changes.get(column)
        if changes is None:
            changes = self._changes[column] = (array("L"), array("L"))
        rows, styles = changes
        if not styles or (styles[-1] != style and row > rows[-1]):
            rows.append(row)
            styles.append(style)

    def text(self, value: Any, row: int, column: int) -> str:
        """The text that the cell shows, with its address if it is a link."""
        text = self._shown(value, row, column)
        address = self.links.get((row, column))
        return Linked.to(text, address) if address and text else text

    def _shown(self, value: Any, row: int, column: int) -> str:
        if isinstance(value, str):
            return self.raised.get((row, column)) or cell_text(value)
        if isinstance(value, bool) or value is None:
            return cell_text(value)
        code = self._code(row, column)
        is_number = isinstance(value, int | float)
        if not code:
            text = _plain(value)
        else:
            text = improve(
                "styles",
                lambda: shown(value, code, is_1904=self._is_1904),
                otherwise=lambda: _plain(value),
            )
        return Number(text) if is_number and not is_date(code) else Date(text)

    def _code(self, row: int, column: int) -> str:
        changes = self._changes.get(column)
        if changes is None:
            return ""
        rows, styles = changes
        index = bisect_right(rows, row) - 1
        style = styles[index] if index >= 0 else 0
        return self._codes[style] if style < len(self._codes) else ""


def _plain(value: Any) -> str:
    return cell_text(dt.datetime.combine(value, dt.time()) if type(value) is dt.date else value)


def fill_merged(
    rows: Iterable[list[str]], merges: Sequence[Merge], *, left: int = 0
) -> Iterator[list[str]]:
    """Repeat the text of each merged cell in all rows that it covers and that have other cells.

    In columns to the right it is repeated as `Across`. Long texts are not repeated. left: number
    of the rows' first column.
    """
    starts = _by_row(merges)
    if not starts:
        yield from rows
        return
    going_down: dict[int, tuple[str, int]] = {}
    """By column: the text of a merged cell, and its last row."""
    for number, row in enumerate(rows):
        if going_down:
            going_down = {c: down for c, down in going_down.items() if number <= down[1]}
            if any(row):
                for column, (text, _) in going_down.items():
                    row[column] = row[column] or text
        for _, first_column, last_row, last_column in starts.get(number, ()):
            first, end = first_column - left, min(last_column - left + 1, len(row))
            if not 0 <= first < end or not row[first] or len(row[first]) > _LONGEST_REPEATED:
                continue
            for column in range(first + 1, end):
                row[column] = row[column] or Across(row[first])
            if last_row > number:
                going_down |= {column: (row[column], last_row) for column in range(first, end)}
        yield row


def _by_row(merges: Sequence[Merge]) -> Mapping[int, list[Merge]]:
    """The merged ranges by their first row, as far as they cover no more cells than a sheet may."""
    found: dict[int, list[Merge]] = {}
    room = MOST_PLACES
    for merge in merges:
        row, column, last_row, last_column = merge
        room -= (last_row - row + 1) * (last_column - column + 1)
        if room < 0:
            break
        found.setdefault(row, []).append(merge)
    return found
