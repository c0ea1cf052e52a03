"""Charts of OpenDocument files as tables: a row per category, a column per series."""

from itertools import islice

from lxml import etree

from ingest.formats.common.markdown import plain, table
from ingest.formats.office.xml_tree import attribute, child

_MOST_ROWS = 5000


def chart(root: etree._Element) -> str:
    """Titles and values of a chart; empty if it has no table of values."""
    data = next(root.iter("{*}table"), None)
    if data is None:
        return ""
    rows = [_cells(row) for row in islice(data.iter("{*}table-row"), _MOST_ROWS)]
    heading = next((_words(title) for title in root.iterfind(".//{*}chart/{*}title")), "")
    titles = {attribute(axis, "dimension"): _words(child(axis, "title")) for axis in _axes(root)}
    if rows and rows[0] and not rows[0][0]:
        rows[0][0] = titles.get("x", "")
    if along := titles.get("y", ""):
        heading = f"{heading} ({along})" if heading else along
    return "\n\n".join(piece for piece in (plain(heading), table(rows)) if piece)


def _axes(root: etree._Element) -> list[etree._Element]:
    """The first of each dimension counts, so it is the last here."""
    return list(root.iter("{*}axis"))[::-1]


def _cells(row: etree._Element) -> list[str]:
    return [_words(cell) for cell in row.iterchildren("{*}table-cell")]


def _words(element: etree._Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())
