"""Rows of tables of XML documents (HTML and CALS); merged cells are repeated."""

from collections.abc import Callable

from lxml import etree

from ingest.formats.office.xml_tree import local
from ingest.formats.xml import names

_WIDEST = 100  # columns that one cell may span
_TALLEST = 1000  # rows that one cell may span


def table_rows(table: etree._Element, flow: Callable[[etree._Element], str]) -> list[list[str]]:
    """The texts of the cells by rows; `flow` gives that of a cell."""
    columns = [column.get("colname", "") for column in table.iter("{*}colspec")]
    rows: list[list[str]] = []
    waiting: dict[int, tuple[str, int]] = {}
    """Cells that go on below, by column: with the number of rows that are left."""
    for element in table.iter():
        if local(element) not in names.ROWS:
            continue
        row: list[str] = []
        for cell in element:
            if local(cell) not in names.CELLS:
                continue
            _go_on(row, waiting)
            text = flow(cell)
            tall = _number(cell.get("rowspan")) or _number(cell.get("morerows")) + 1
            for _ in range(_width(cell, columns)):
                if tall > 1:
                    waiting[len(row)] = (text, min(tall, _TALLEST) - 1)
                row.append(text)
        _go_on(row, waiting)
        rows.append(row)
    return rows


def _go_on(row: list[str], waiting: dict[int, tuple[str, int]]) -> None:
    while len(row) in waiting:
        text, left = waiting.pop(len(row))
        if left > 1:
            waiting[len(row)] = (text, left - 1)
        row.append(text)


def _width(cell: etree._Element, columns: list[str]) -> int:
    first, last = cell.get("namest"), cell.get("nameend")
    if first in columns and last in columns:
        return min(max(columns.index(last) - columns.index(first) + 1, 1), _WIDEST)
    return min(max(_number(cell.get("colspan")), 1), _WIDEST)


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 5 else 0
