"""Puts the paragraphs of a Word 97 document into cells, rows and tables, which may be nested."""

import struct
from bisect import bisect_right
from dataclasses import dataclass, field

from lxml import etree

from ingest.formats.office.blocks import DEEP
from ingest.formats.word.word_97.properties import (
    DEPTH,
    HEADER_ROW,
    IN_TABLE,
    INNER_CELL,
    INNER_ROW_END,
    ROW_END,
    TABLE_ROW,
    Properties,
    is_on,
    number,
)
from ingest.formats.word.word_97.tree import add, element

_CELL_MARK = "\x07"
_NEAR = 60  # twips, a millimetre; borders of rows that are nearer are the same
_MOST_CELLS = 64
_MOST_COLUMNS = 63  # as in Word; with more borders, cells count as they come
_CELL_SIZE = 20  # bytes of a TC80
_MERGED, _COVERED, _RESTARTS = 0x0003, 0x0020, 0x0040


@dataclass(slots=True)
class _Row:
    cells: list[etree._Element]
    borders: list[int] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    is_header: bool = False


@dataclass(slots=True)
class _Table:
    place: etree._Element
    """An empty element where the table begins."""
    rows: list[_Row] = field(default_factory=list)
    cells: list[etree._Element] = field(default_factory=list)
    """Of the row that is not at its end."""
    is_in_cell: bool = False


class TableReader:
    """Takes paragraphs in order; close() ends the tables that are open."""

    def __init__(self, container: etree._Element) -> None:
        self._container = container
        self._tables: list[_Table] = []

    def take(self, paragraph: etree._Element, properties: Properties, mark: str) -> None:
        """Add a paragraph that ends in `mark`."""
        depth = number(properties, DEPTH) or 1 if is_on(properties, IN_TABLE) else 0
        depth = min(depth, DEEP)
        self._close(depth)
        while len(self._tables) < depth:
            self._tables.append(_Table(add(self._place(), "tbl")))
        if not depth:
            self._container.append(paragraph)
            return
        table = self._tables[-1]
        if is_on(properties, INNER_ROW_END if depth > 1 else ROW_END):
            _end_row(table, properties)
            return
        self._place().append(paragraph)
        ends_cell = is_on(properties, INNER_CELL) if depth > 1 else mark == _CELL_MARK
        table.is_in_cell = not ends_cell

    def close(self) -> None:
        """End all tables."""
        self._close(0)

    def _close(self, depth: int) -> None:
        while len(self._tables) > depth:
            table = self._tables.pop()
            if table.cells:
                _end_row(table, {})
            _write(table)

    def _place(self) -> etree._Element:
        """The open cell, or the container."""
        if not self._tables:
            return self._container
        table = self._tables[-1]
        if not table.is_in_cell:
            table.cells.append(element("tc"))
            table.is_in_cell = True
        return table.cells[-1]


def _end_row(table: _Table, properties: Properties) -> None:
    row = _Row(table.cells, is_header=is_on(properties, HEADER_ROW))
    table.cells, table.is_in_cell = [], False
    stated = properties.get(TABLE_ROW, b"")
    count = stated[0] if stated else 0
    if 0 < count <= _MOST_CELLS and len(stated) >= 3 + 2 * count:
        row.borders = list(struct.unpack_from(f"<{count + 1}h", stated, 1))
        cells = stated[3 + 2 * count :]
        row.flags = [
            int.from_bytes(cells[at * _CELL_SIZE : at * _CELL_SIZE + 2], "little")
            for at in range(count)
        ]
    table.rows.append(row)


def _write(table: _Table) -> None:
    """The rows with their cells, each over as many columns as borders of other rows say."""
    columns = _columns(table.rows)
    is_even = len({len(row.cells) for row in table.rows}) == 1  # borders may be out of line
    if is_even or len(columns) > _MOST_COLUMNS + 1:
        columns = []
    for row in table.rows:
        written = add(table.place, "tr")
        formed = add(written, "trPr")
        if row.is_header:
            add(formed, "tblHeader")
        places = [bisect_right(columns, border) - 1 for border in row.borders if columns]
        if places and places[0]:
            add(formed, "gridBefore", val=str(places[0]))
        merged = _merged(row.flags)
        for at, cell in enumerate(row.cells):
            flags = row.flags[at] if at < len(row.flags) else 0
            if at < len(merged) and merged[at]:
                continue
            own = element("tcPr")
            cell.insert(0, own)
            end = at + 1
            while end < len(merged) and merged[end]:
                end += 1
            if end < len(places):
                add(own, "gridSpan", val=str(max(places[end] - places[at], 1)))
            if flags & _COVERED:
                add(own, "vMerge", val="restart" if flags & _RESTARTS else "continue")
            written.append(cell)


def _merged(flags: list[int]) -> list[bool]:
    """Whether each cell of a row belongs to the one before it.

    The description of Word 97 gives 1 to the first cell and 2 to those merged with it; [MS-DOC]
    gives 2 or 3, and 1. The first of them tells which it is.
    """
    found: list[bool] = []
    others: int | None = None
    for value in (flag & _MERGED for flag in flags):
        found.append(value == others)
        if value != others:
            others = {0: None, 1: 2}.get(value, 1)
    return found


def _columns(rows: list[_Row]) -> list[int]:
    """Where columns begin, by the borders of all rows."""
    found: list[int] = []
    for border in sorted({border for row in rows for border in row.borders}):
        if not found or border - found[-1] > _NEAR:
            found.append(border)
    return found
