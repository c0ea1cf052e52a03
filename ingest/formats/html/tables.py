"""Repeats cells that span rows or columns, so that each row is complete by itself."""

import copy
from collections.abc import Sequence

from lxml import html

_MOST_CELLS = 50_000  # of a table; above this, spans are not expanded
_MOST_COLUMNS = 200
_MOST_REPEATED = 500_000  # characters
_CELLS = ("td", "th")


def expand_spans(rows: Sequence[html.HtmlElement]) -> None:
    """Give every row a cell for each column."""
    cells = [cell for row in rows for cell in row if cell.tag in _CELLS]
    spans = [_span(cell, "colspan") * _span(cell, "rowspan") for cell in cells]
    if max(spans, default=1) == 1 or sum(spans) > _MOST_CELLS:
        return
    wide = [(cell, count - 1) for cell, count in zip(cells, spans, strict=True) if count > 1]
    if sum(count * len(cell.text_content()) for cell, count in wide) > _MOST_REPEATED:
        return
    spanning: dict[int, tuple[int, html.HtmlElement]] = {}  # by column: rows left, cell
    for row in rows:
        _fill(row, spanning)


def _fill(row: html.HtmlElement, spanning: dict[int, tuple[int, html.HtmlElement]]) -> None:
    own = [cell for cell in row if cell.tag in _CELLS]
    filled: list[html.HtmlElement] = []
    while own or any(column >= len(filled) for column in spanning):
        column = len(filled)
        if column >= _MOST_COLUMNS:
            filled += own
            break
        if column in spanning:
            left, cell = spanning.pop(column)
            filled.append(_copy(cell))
            if left > 1:
                spanning[column] = (left - 1, cell)
        elif own:
            cell = own.pop(0)
            across, down = _span(cell, "colspan"), _span(cell, "rowspan")
            for offset in range(across):
                if down > 1:
                    spanning[column + offset] = (down - 1, cell)
            filled += [cell, *(_copy(cell) for _ in range(across - 1))]
        else:
            filled.append(row.makeelement("td"))
    for cell in filled:
        row.append(cell)
        cell.attrib.pop("colspan", None)
        cell.attrib.pop("rowspan", None)


def _copy(cell: html.HtmlElement) -> html.HtmlElement:
    copied = copy.deepcopy(cell)
    copied.tail = None
    return copied


def _span(cell: html.HtmlElement, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return min(max(1, int(value)), 1000) if value.isascii() and value.isdigit() else 1
