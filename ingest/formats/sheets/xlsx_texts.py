"""What calamine drops of the texts in XLSX cells: raised and lowered figures, and links."""

import html
import re
from collections.abc import Iterator
from typing import Final, cast

from lxml import etree

from ingest.formats.common.cells import cell_text
from ingest.formats.common.raised_text import lowered, raised, written_out
from ingest.formats.office.opc import Package
from ingest.formats.office.xml_tree import local
from ingest.formats.sheets.limits import blocks, column_number

_MOST: Final = 100_000  # texts, and links of a sheet
_LINK: Final = re.compile(rb"<(?:[\w.-]+:)?hyperlink\s([^<>]{1,4000})>")
_PLACE: Final = re.compile(rb"(?:^|\s)ref=[\"']\$?([A-Z]{1,3})\$?(\d{1,7})[\"':]")
_RELATION: Final = re.compile(rb"\s(?:[\w.-]+:)?id=[\"']([^\"'<>]*)[\"']")
_MARK: Final = {"superscript": raised, "subscript": lowered}


def raised_strings(package: Package, workbook: str) -> dict[str, str]:
    """`raised_in` for the strings that all sheets share."""
    parts = package.related(workbook, "sharedStrings")
    return raised_in(package, parts[0]) if parts else {}


def raised_in(package: Package, part: str) -> dict[str, str]:
    """Strings with raised or lowered figures, by their text without them (`106` → `10^6`).

    A text that the part also has without such figures is left out.
    """
    if part not in package or not _says(package, part, b"vertAlign"):
        return {}
    found: dict[str, str] = {}
    for item in _items(package, part):
        runs = list(item.iterchildren("{*}r"))
        written = cell_text(written_out("".join(map(_run, runs))))
        plain = cell_text("".join(map(_text, runs)))
        if written != plain and len(found) < _MOST:
            found[plain] = written
    for item in _items(package, part) if found else ():
        if next(item.iterfind(".//{*}vertAlign"), None) is None:
            texts = item.iterchildren("{*}t", "{*}r")
            found.pop(
                cell_text("".join(t.text or "" if local(t) == "t" else _text(t) for t in texts)),
                None,
            )
    return found


def cell_links(package: Package, part: str) -> dict[tuple[int, int], str]:
    """External addresses by the first cell of each link."""
    relations = {
        name: relation.target
        for name, relation in package.relations(part).items()
        if relation.kind == "hyperlink" and relation.is_external
    }
    found: dict[tuple[int, int], str] = {}
    for data in blocks(*package.member(part)) if relations else ():
        for attributes in _LINK.findall(data):
            place, stated = _PLACE.search(attributes), _RELATION.search(attributes)
            if place and stated and len(found) < _MOST:
                address = relations.get(html.unescape(stated[1].decode("utf-8", "replace")))
                if address:
                    found[int(place[2]) - 1, column_number(place[1]) - 1] = address
    return found


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


def _run(run: etree._Element) -> str:
    align = run.find("{*}rPr/{*}vertAlign")
    mark = _MARK.get(align.get("val", "")) if align is not None else None
    text = _text(run)
    # `(a)` is apart already, and named so by the line that explains it.
    return mark(text) if mark and not text.lstrip().startswith(("(", "[")) else text


def _text(run: etree._Element) -> str:
    return "".join(text.text or "" for text in run.iterchildren("{*}t"))
