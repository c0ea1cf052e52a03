"""Repeats cells that span rows or columns, so that each row is complete by itself."""

import copy
from collections.abc import Sequence

from lxml import html

from ingest.formats.html.text_stats import INLINE

_MOST_CELLS = 50_000  # of a table; above this, spans are not expanded
_MOST_COLUMNS = 200
_MOST_REPEATED = 500_000  # characters
_CELLS = ("td", "th")
_MOST_HEADERS = 3
_LONGEST_HEADER = 100  # characters
_ENDS = tuple(".!?:;,")
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


def join_headers(table: html.HtmlElement, rows: Sequence[html.HtmlElement]) -> None:
    """Make one header of two or three (`Sales 2024`); one that is a single title goes in front.

    Markdown tables, and the header that chunks repeat, have one row.
    """
    lines = [[cell for cell in row if cell.tag in _CELLS] for row in rows[: _MOST_HEADERS + 2]]
    texts = [[" ".join(cell.text_content().split()) for cell in line] for line in lines]
    count = next((at for at, row in enumerate(rows) if not _is_header(row)), len(rows))
    if not 1 < count <= _MOST_HEADERS + 1 or count == len(rows) or table.getparent() is None:
        return
    width = len(lines[0])
    if any(len(line) != width for line in lines[:count]):
        return
    first = 0
    if width > 1 and len(set(texts[0])) == 1 and texts[0][0]:
        title = table.makeelement("p")
        title.text = texts[0][0]
        table.addprevious(title)
        rows[0].drop_tree()
        first = 1
    if max(len(text) for line in texts[first:count] for text in line) > _LONGEST_HEADER:
        return
    for below in range(first + 1, count):
        for at, cell in enumerate(lines[below]):
            if texts[below][at] not in {line[at] for line in texts[first:below]}:
                _append(lines[first][at], cell)
        rows[below].drop_tree()


def _is_header(row: html.HtmlElement) -> bool:
    parent = row.getparent()
    cells = [cell for cell in row if cell.tag in _CELLS]
    in_head = parent is not None and parent.tag == "thead"
    return bool(cells) and (in_head or all(cell.tag == "th" for cell in cells))


def _append(cell: html.HtmlElement, other: html.HtmlElement) -> None:
    words = f" {other.text or ''}"
    if len(cell):
        cell[-1].tail = (cell[-1].tail or "") + words
    else:
        cell.text = (cell.text or "") + words
    cell.extend(list(other))


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
    """Put marks between items, paragraphs and lines in a cell, which becomes one line."""
    for item in cell.iter("li", "p"):
        following = item.getnext()
        if following is None or following.tag != item.tag:
            continue
        if item.tag == "li" or _begins_item(following.text_content()):
            _mark_end(item)
    for line_break in cell.iter("br") if cell.tag == "td" else ():
        following = line_break.getnext()
        text = (line_break.tail or "").strip()
        if _begins_item(text or ("" if following is None else following.text_content())):
            previous = line_break.getprevious()
            if previous is None:
                _mark_text(line_break.getparent())
            else:
                _mark_behind(previous)


def _begins_item(text: str) -> bool:
    """Whether it does not go on with a sentence."""
    first = text.lstrip()[:1]
    return first.isupper() or first.isdecimal()


def _mark_end(item: html.HtmlElement) -> None:
    while len(item) and item[-1].tag not in INLINE and not (item[-1].tail or "").strip():
        item = item[-1]
    _mark_behind(item[-1]) if len(item) else _mark_text(item)


def _mark_text(element: html.HtmlElement) -> None:
    words = (element.text or "").rstrip()
    if words and not words.endswith(_ENDS):
        element.text = f"{words};"


def _mark_behind(element: html.HtmlElement) -> None:
    words = (element.tail or "").rstrip()
    said = words or element.text_content().rstrip()
    if said and not said.endswith(_ENDS):
        element.tail = f"{words};"


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
