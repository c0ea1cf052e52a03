"""Tables that only place text on the screen: newsletters are made of them, one inside of another.

In Markdown they would be tables of one cell, and their headings and lists would be lost.
"""

from lxml import etree, html

_PLACING = frozenset({"presentation", "none"})
_ROWS = etree.XPath("tr | thead/tr | tbody/tr | tfoot/tr")
_BLOCKS = ("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "pre", "blockquote", "hr")
_PARTS = frozenset({"table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption"})


def unwrap_layout(tree: html.HtmlElement) -> None:
    """Make plain blocks of layout tables, their rows and cells; tables of data stay."""
    layout = [table for table in tree.iter("table") if _is_layout(table)]
    for table in layout:
        parts = [part for row in _ROWS(table) for part in (row.getparent(), row, *row)]
        for part in (table, *parts, *table.iterchildren("caption")):
            if part.tag in _PARTS:
                part.tag = "div"


def _is_layout(table: html.HtmlElement) -> bool:
    if table.get("role", "").strip().lower() in _PLACING:
        return True
    if next(table.iterdescendants("table"), None) is not None:
        return True
    rows = _ROWS(table)
    if max((len(row) for row in rows), default=0) <= 1:
        return True
    if any(cell.tag == "th" for row in rows for cell in row):
        return False
    return len(rows) == 1 or next(table.iterdescendants(*_BLOCKS), None) is not None
