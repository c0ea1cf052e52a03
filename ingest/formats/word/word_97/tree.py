"""Elements of WordprocessingML, as which a Word 97 document is read on."""

import re

from lxml import etree

_NAMESPACE = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_NOT_XML = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_SURROGATES = re.compile("[\ud800-\udfff]+")


def element(name: str, **attributes: str) -> etree._Element:
    """A new element; attributes are in its namespace."""
    made = etree.Element(_NAMESPACE + name)
    for key, value in attributes.items():
        made.set(_NAMESPACE + key, storable(value))
    return made


def add(parent: etree._Element, name: str, **attributes: str) -> etree._Element:
    """A new last child."""
    made = element(name, **attributes)
    parent.append(made)
    return made


def storable(text: str) -> str:
    """The text without what XML does not allow; halves of characters joined."""
    return _NOT_XML.sub("", _SURROGATES.sub(_joined, text))


def _joined(halves: re.Match[str]) -> str:
    return halves[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
