"""What calamine drops of the texts in XLSX cells: raised and lowered figures, and links."""

import html
import re
from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Final, cast

from lxml import etree

from ingest.formats.common.cells import cell_text
from ingest.formats.common.raised_text import lowered, raised, written_out
from ingest.formats.office.opc import Package
from ingest.formats.office.xml_tree import local
from ingest.formats.sheets.limits import blocks, column_number

Place = tuple[int, int]
"""Row and column of a cell."""
_MOST: Final = 100_000  # texts, and cells of all links of a sheet together
_MOST_OF_LINK: Final = 10_000  # cells
_MOST_CELLS: Final = 500_000  # of a sheet with raised figures
_LINK: Final = re.compile(rb"<(?:[\w.-]+:)?hyperlink\s([^<>]{1,4000})>")
_CORNER: Final = rb"\$?([A-Z]{1,3})\$?(\d{1,7})"
_RANGE: Final = re.compile(rb"(?:^|\s)ref=[\"']" + _CORNER + rb"(?::" + _CORNER + rb")?[\"']")
_REFERENCE: Final = re.compile(_CORNER)
_STRING: Final = re.compile(
    rb"<(?:[\w.-]+:)?c\s([^<>]{1,400})>\s*+<(?:[\w.-]+:)?v(?:\s[^<>]{0,100})?>\s{0,9}(\d{1,9})\s{0,9}<"
)
_LONGEST_CELL: Final = 1000  # bytes that `_STRING` matches
_CELL: Final = re.compile(rb"(?:^|\s)r\s*=\s*[\"']" + _CORNER + rb"[\"']")
_IS_SHARED: Final = re.compile(rb"(?:^|\s)t\s*=\s*[\"']s[\"']")
_RELATION: Final = re.compile(rb"\s(?:[\w.-]+:)?id=[\"']([^\"'<>]*)[\"']")
_MARK: Final = {"superscript": raised, "subscript": lowered}


def raised_strings(package: Package, workbook: str) -> dict[int, str]:
    """Strings that all sheets share and that have raised or lowered figures, by their number."""
    parts = package.related(workbook, "sharedStrings")
    if not parts or not _says(package, parts[0], b"vertAlign"):
        return {}
    written = enumerate(map(_with_raised, _items(package, parts[0])))
    return dict(islice(((number, text) for number, text in written if text), _MOST))


def raised_cells(package: Package, part: str, shared: Mapping[int, str]) -> dict[Place, str]:
    """Texts of a sheet's cells with raised or lowered figures: `10^6`.

    A formula's result is never one of them, even if it reads the same.
    """
    found = dict(islice(_shared_cells(package, part, shared), _MOST_CELLS)) if shared else {}
    for item in _items(package, part) if _says(package, part, b"vertAlign") else ():
        cell = item.getparent()
        place = _REFERENCE.fullmatch(cell.get("r", "").encode()) if cell is not None else None
        if place and len(found) < _MOST_CELLS and (text := _with_raised(item)):
            found[_place(place[1], place[2])] = text
    return found


def _shared_cells(
    package: Package, part: str, shared: Mapping[int, str]
) -> Iterator[tuple[Place, str]]:
    rest = b""
    for block in blocks(*package.member(part)):
        data = rest + block
        for attributes, number in _STRING.findall(data):
            text = shared.get(int(number))
            if text and _IS_SHARED.search(attributes) and (stated := _CELL.search(attributes)):
                yield _place(stated[1], stated[2]), text
        rest = data[-_LONGEST_CELL:]  # a cell may be split between blocks


def cell_links(package: Package, part: str) -> dict[Place, str]:
    """External addresses of cells; of large ranges, those of the first cells."""
    relations = {
        name: relation.target
        for name, relation in package.relations(part).items()
        if relation.kind == "hyperlink" and relation.is_external
    }
    found: dict[Place, str] = {}
    left = _MOST  # counts a cell again for each of its links
    for data in blocks(*package.member(part)) if relations else ():
        for attributes in _LINK.findall(data):
            stated, relation = _RANGE.search(attributes), _RELATION.search(attributes)
            if stated and relation:
                address = relations.get(html.unescape(relation[1].decode("utf-8", "replace")))
                if address and left:
                    places = list(_places(min(left, _MOST_OF_LINK), *stated.groups()))
                    left -= len(places)
                    found |= dict.fromkeys(places, address)
    return found


def _places(
    most: int, column: bytes, row: bytes, last_column: bytes, last_row: bytes
) -> Iterator[Place]:
    """The first cells of a range, row by row."""
    ends = _place(column, row), _place(last_column or column, last_row or row)
    rows, columns = (range(min(pair), max(pair) + 1) for pair in zip(*ends, strict=True))
    return islice(product(rows[:most], columns[:most]), most)


def _place(column: bytes, row: bytes) -> Place:
    return int(row) - 1, column_number(column) - 1


def _says(package: Package, part: str, word: bytes) -> bool:
    return any(word in data for data in blocks(*package.member(part)))


def _items(package: Package, part: str) -> Iterator[etree._Element]:
    """The strings of a part, one by one."""
    with package.open(part) as stream:
        found = etree.iterparse(
            stream,
            events=("end",),
            tag=("{*}si", "{*}is", "{*}row"),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
        )
        for _, element in found:
            if local(element) != "row":
                yield cast(etree._Element, element)
            if local(element) != "is":  # a cell is emptied with its row
                element.clear()
                while (before := element.getprevious()) is not None:
                    before.getparent().remove(before)


def _with_raised(item: etree._Element) -> str:
    """The text of a string with raised or lowered figures; empty if it has none."""
    runs = list(item.iterchildren("{*}r"))
    written = cell_text(written_out("".join(map(_run, runs))))
    return written if written != cell_text("".join(map(_text, runs))) else ""


def _run(run: etree._Element) -> str:
    align = run.find("{*}rPr/{*}vertAlign")
    mark = _MARK.get(align.get("val", "")) if align is not None else None
    text = _text(run)
    # `(a)` is apart already, and named so by the line that explains it.
    return mark(text) if mark and not text.lstrip().startswith(("(", "[")) else text


def _text(run: etree._Element) -> str:
    return "".join(text.text or "" for text in run.iterchildren("{*}t"))
