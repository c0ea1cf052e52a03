"""Repeats cells that span rows or columns, so that each row is complete by itself."""

import copy
from collections.abc import Sequence

from lxml import html

_MOST_CELLS = 50_000  # of a table; above this, spans are not expanded
_MOST_COLUMNS = 200
_MOST_REPEATED = 500_000  # characters
_CELLS = ("td", "th")
_INNER_CELLS = 30  # of a table inside a cell that becomes text


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


def flatten_inner_tables(rows: Sequence[html.HtmlElement]) -> bool:
    """Write small tables inside cells as text: `Volts: 230; Watts: 60`.

    Whether no table is left in a cell; if some would be, nothing is changed.
    """
    inner = [table for row in rows for cell in row for table in cell.iter("table")]
    if any(not _is_small(table) for table in inner):
        return False
    for table in inner:
        lines = [
            [" ".join(cell.text_content().split()) for cell in row if cell.tag in _CELLS]
            for row in table.iter("tr")
        ]
        text = "; ".join(filter(None, map(_written, lines)))
        tail = table.tail
        table.clear()
        table.tag, table.text, table.tail = "span", f" {text} ", tail
    return True


def _is_small(table: html.HtmlElement) -> bool:
    if next(table.iterdescendants("table", "h1", "h2", "h3", "pre"), None) is not None:
        return False
    return sum(1 for _ in table.iter(*_CELLS)) <= _INNER_CELLS


def _written(cells: Sequence[str]) -> str:
    if len(cells) == 2 and all(cells):
        return f"{cells[0].removesuffix(':')}: {cells[1]}"
    return ", ".join(filter(None, cells))


def separate_items(cell: html.HtmlElement) -> None:
    """Put marks between the items of lists in a cell, which becomes one line."""
    for item in cell.iter("li"):
        if item.getnext() is not None and item.text_content().strip():
            last = item[-1] if len(item) else None
            if last is None:
                item.text = f"{(item.text or '').rstrip()};"
            else:
                last.tail = f"{(last.tail or '').rstrip()};"


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
