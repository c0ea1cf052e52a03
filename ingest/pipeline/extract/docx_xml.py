"""Names and values in WordprocessingML, the same for its transitional and its strict variant."""

from lxml import etree

_OFF = {"0", "false", "off", "none"}


def local(element: etree._Element) -> str:
    """The name of an element without its namespace."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def child(element: etree._Element | None, name: str) -> etree._Element | None:
    """The first child of that name."""
    return None if element is None else next(element.iterchildren("{*}" + name), None)


def value(element: etree._Element | None, name: str = "val") -> str | None:
    """An attribute that belongs to the element's own namespace."""
    if element is None:
        return None
    found = element.get(element.tag[: element.tag.rindex("}") + 1] + name)
    return None if found is None else str(found)


def number(element: etree._Element | None, name: str = "val") -> int | None:
    """An attribute that is a whole number; None if it is missing or none."""
    try:
        return int(value(element, name) or "")
    except ValueError:
        return None


def is_on(element: etree._Element | None) -> bool:
    """Whether a switch is there and not set to off."""
    return element is not None and (value(element) or "").lower() not in _OFF
