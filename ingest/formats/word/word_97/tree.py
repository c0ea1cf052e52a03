"""Elements of WordprocessingML, as which a Word 97 document is read on."""

from lxml import etree

from ingest.formats.office.xml_tree import storable

_NAMESPACE = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


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
