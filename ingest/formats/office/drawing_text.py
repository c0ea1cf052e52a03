"""Text of DrawingML paragraphs: shapes of slides, cells of their tables, charts, diagrams."""

from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter

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
    runs = (
        (_address(item), _shown(item))
        for item in paragraph.iter("{*}t", "{*}br", "{*}oMath")
        if item.getparent().get("type") != "slidenum" and not _is_symbol(item)
    )
    pieces = (
        link("".join(text for _, text in group), address)
        for address, group in groupby(runs, key=itemgetter(0))
    )
    return written_out("".join(pieces))


def text_of(element: etree._Element) -> str:
    """The paragraphs of an element, one per line."""
    return "\n".join(paragraph_text(paragraph) for paragraph in element.iter("{*}p"))


def _address(item: etree._Element) -> str | None:
    stated = child(child(item.getparent(), "rPr"), "hlinkClick")
    return None if stated is None else web_address(stated.get(_ADDRESS, ""))


def _is_symbol(item: etree._Element) -> bool:
    """Whether it is part of an equation, which is read as a whole."""
    return local(item) == "t" and (etree.QName(item).namespace or "").endswith("/math")


def _shown(item: etree._Element) -> str:
    if local(item) != "t":
        return "\n" if local(item) == "br" else math_text(item)
    text = item.text or ""
    properties = child(item.getparent(), "rPr")
    baseline = "" if properties is None else properties.get("baseline", "")
    if not baseline.strip("-0%") or not text:
        return text
    return lowered(text) if baseline.startswith("-") else raised(text)
