"""Text of DrawingML paragraphs: shapes of slides, cells of their tables, charts, diagrams."""

from collections.abc import Mapping
from itertools import groupby

from lxml import etree

from ingest.formats.common.links import link, web_address
from ingest.formats.common.raised_text import lowered, raised, written_out
from ingest.formats.office.omml import math_text
from ingest.formats.office.opc import Relation
from ingest.formats.office.xml_tree import attribute, child, local

_ADDRESS = "address"


def name_links(root: etree._Element, relations: Mapping[str, Relation]) -> None:
    """Write the addresses of links to the web into their elements, for paragraph_text()."""
    for item in root.iter("{*}hlinkClick"):
        relation = relations.get(attribute(item, "id") or "")
        if relation is not None and relation.is_external:
            item.set(_ADDRESS, relation.target)


def paragraph_text(paragraph: etree._Element) -> str:
    """Text of the runs and equations without the slide number."""
    items = [
        item
        for item in paragraph.iter("{*}t", "{*}br", "{*}oMath")
        # Symbols are read with their whole equation.
        if not item.tag.endswith("/math}t") and item.getparent().get("type") != "slidenum"
    ]
    if next(paragraph.iter("{*}hlinkClick"), None) is None:
        return written_out("".join(map(_shown, items)))
    pieces = (
        link("".join(map(_shown, group)), address) for address, group in groupby(items, _address)
    )
    return written_out("".join(pieces))


def text_of(element: etree._Element) -> str:
    """The paragraphs of an element, one per line."""
    return "\n".join(paragraph_text(paragraph) for paragraph in element.iter("{*}p"))


def _address(item: etree._Element) -> str | None:
    stated = child(child(item.getparent(), "rPr"), "hlinkClick")
    return None if stated is None else web_address(stated.get(_ADDRESS, ""))


def _shown(item: etree._Element) -> str:
    if local(item) != "t":
        return "\n" if local(item) == "br" else math_text(item)
    text = item.text or ""
    properties = child(item.getparent(), "rPr")
    baseline = "" if properties is None else properties.get("baseline", "")
    if not baseline.strip("-0%") or not text:
        return text
    return lowered(text) if baseline.startswith("-") else raised(text)
