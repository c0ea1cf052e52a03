"""Elements that the converter does not know, as those that say the same: tables by roles, numbers
of items in a list."""

from lxml import etree, html

from ingest.formats.html.by_name import ByName

_TABLES = ByName("//*[@role='table' or @role='grid' or @role='treegrid'][not(self::table)]")
_INNER = frozenset({"table", "grid", "treegrid"})
_CELLS = {"cell": "td", "gridcell": "td", "columnheader": "th", "rowheader": "th"}
_NUMBERED = etree.XPath("//ol[@reversed or li/@value]")
_MOST_ITEMS = 1000


def write_equivalents(tree: html.HtmlElement, used: str) -> None:
    """Change the page in place. `used`: see by_name.used_names()."""
    for table in _TABLES(tree, used):
        _write_table(table)
    for items in _NUMBERED(tree):
        _write_numbers(items)


def _write_table(table: html.HtmlElement) -> None:
    """Make it a table, unless that would lose text beside its cells."""
    rows = _rows(table)
    flat = [cell for row in rows for cell in row]
    if len(rows) < 2 or not all(rows) or _letters(table) != sum(map(_letters, flat)):
        return
    tail = table.tail
    table.clear()
    table.tag, table.tail = "table", tail
    for row in rows:
        line = etree.SubElement(table, "tr")
        for cell in row:
            cell.tag, cell.tail = _CELLS[cell.get("role")], None
            line.append(cell)


def _rows(table: html.HtmlElement) -> list[list[html.HtmlElement]]:
    """The cells of each row; none if there are tables inside."""
    rows: list[list[html.HtmlElement]] = []
    for element in table.iterdescendants(etree.Element):
        role = element.get("role")
        if role in _INNER or element.tag == "table":
            return []
        if role == "row":
            rows.append([])
        elif role in _CELLS:
            if not rows:
                return []
            rows[-1].append(element)
    return rows


def _letters(element: html.HtmlElement) -> int:
    return sum(len(text.strip()) for text in element.itertext())


def _write_numbers(items: html.HtmlElement) -> None:
    """A list begins anew at each item that does not have the next number."""
    entries = list(items.iterchildren("li"))
    if not 0 < len(entries) <= _MOST_ITEMS or len(entries) != len(items):
        return
    step = -1 if "reversed" in items.attrib else 1
    number = _number(items.get("start"), len(entries) if step < 0 else 1)
    expected, part = _number(items.get("start"), 1), items
    for entry in entries:
        number = _number(entry.get("value"), number)
        if number != expected:
            if entry is not entries[0]:
                following = items.makeelement("ol")
                following.tail, part.tail = part.tail, None
                part.addnext(following)
                part = following
            part.set("start", str(number))
        if part is not items:
            part.append(entry)
        expected = number + 1
        number += step


def _number(stated: str | None, otherwise: int) -> int:
    text = (stated or "").strip()
    is_number = text.removeprefix("-").isdecimal() and len(text) <= 9 and text.isascii()
    return int(text) if is_number else otherwise
