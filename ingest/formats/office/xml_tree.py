"""XML of Office documents. Elements are found by local name, as the namespaces of the strict and
transitional variants differ. Parsing never loads external resources."""

import re

from lxml import etree

_NOT_XML = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_SURROGATES = re.compile("[\ud800-\udfff]+")
_OFF = {"0", "false", "off", "none"}


def parse(data: bytes) -> etree._Element:
    """Parse XML without external entities, DTDs or network. Raises etree.XMLSyntaxError."""
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    return etree.fromstring(data, parser)


def words(root: etree._Element) -> str:
    """All text of an Office part without structure, one line per paragraph."""
    paragraphs = (
        "".join(item.text or "" for item in paragraph.iter("{*}t"))
        for paragraph in root.iter("{*}p")
    )
    return "\n".join(filter(None, paragraphs)) or " ".join(" ".join(root.itertext()).split())


def attribute(element: etree._Element, name: str) -> str | None:
    """A namespaced attribute by local name: `id` finds `r:id` of either variant, not plain `id`."""
    for key, value in element.attrib.items():
        if str(key).startswith("{") and str(key).endswith("}" + name):
            return str(value)
    return None


def natural(element: etree._Element, name: str) -> int | None:
    """A namespaced attribute that is a number of at most nine digits, from 0; None otherwise."""
    stated = attribute(element, name) or ""
    return int(stated) if stated.isdecimal() and len(stated) < 10 else None


def local(element: etree._Element) -> str:
    """The name of an element without its namespace."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def child(element: etree._Element | None, name: str) -> etree._Element | None:
    """The first child of that name."""
    return None if element is None else next(element.iterchildren("{*}" + name), None)


def value(element: etree._Element | None, name: str = "val") -> str | None:
    """An attribute in the namespace of the element."""
    if element is None:
        return None
    found = element.get(element.tag[: element.tag.rindex("}") + 1] + name)
    return None if found is None else str(found)


def number(element: etree._Element | None, name: str = "val") -> int | None:
    """An integer attribute; None if it is missing or not an integer."""
    try:
        return int(value(element, name) or "")
    except ValueError:
        return None


def is_on(element: etree._Element | None) -> bool:
    """Whether a toggle element exists and is not set to off."""
    return element is not None and (value(element) or "").lower() not in _OFF


def storable(text: str) -> str:
    """The text without what XML does not allow; halves of characters joined."""
    return _NOT_XML.sub("", _SURROGATES.sub(_joined, text))


def _joined(halves: re.Match[str]) -> str:
    return halves[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
