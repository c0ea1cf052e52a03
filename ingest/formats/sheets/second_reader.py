"""Cells of workbooks that calamine refuses or fails on, read one by one by readers of our own."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ingest.errors import Permanent
from ingest.formats.sheets.layout import Layout, fill_merged
from ingest.formats.sheets.limits import MOST_CELLS, check_places, too_many_cells


class SheetEntry(NamedTuple):
    """A sheet as the workbook lists it."""

    name: str
    is_hidden: bool
    part: str
    """With the cells; empty if there is none."""
    chart: str = ""
    """The part of a sheet that is a chart."""


class Cells:
    """The filled cells of a sheet; iterating gives its rows, all as wide as the sheet."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._rows: dict[int, dict[int, str]] = {}
        self._count = self._width = self._height = 0

    def add(self, row: int, column: int, value: Any, style: int | None = None) -> None:
        """Keep a value; a number is shown by its style. Raises Permanent `too_large`."""
        if style is not None and not isinstance(value, str | bool):
            self.layout.add_style(row, column, style)
        text = self.layout.text(value, row, column)
        if not text:
            return
        self._count += 1
        if self._count > MOST_CELLS:
            raise too_many_cells()
        self._rows.setdefault(row, {})[column] = text
        self._height, self._width = max(self._height, row + 1), max(self._width, column + 1)

    def __iter__(self) -> Iterator[list[str]]:
        check_places(self._height, self._width)
        return fill_merged(self._rectangle(), self.layout.merges)

    def _rectangle(self) -> Iterator[list[str]]:
        for number in range(self._height):
            row = [""] * self._width
            for column, text in self._rows.get(number, {}).items():
                row[column] = text
            yield row


Reader = Callable[[SheetEntry], Cells]
"""Reads the cells of one sheet."""


def corrupt() -> Permanent:
    return Permanent("The workbook is damaged or of an unknown kind.", code="corrupt")
