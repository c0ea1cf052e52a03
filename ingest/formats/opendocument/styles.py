"""Styles of OpenDocument files: hidden text, white text, titles, numbered lists."""

import re
from dataclasses import dataclass
from typing import Literal

from lxml import etree

from ingest.formats.office.xml_tree import attribute, local

_MOST_PARENTS = 20
_WHITE = "#ffffff"
_TITLES = {"Title": 1, "Subtitle": 2}
_ABOVE, _BELOW = re.compile(r"[1-9][\d.]*%"), re.compile(r"-[1-9][\d.]*%")
_NUMBERED = "list-level-style-number"


@dataclass(frozen=True, slots=True)
class OdfStyle:
    """A style with inherited properties."""

    title_level: int | None = None
    """Heading level of the built-in styles Title (1) and Subtitle (2)."""
    is_hidden: bool = False
    is_white: bool = False
    has_background: bool = False
    is_hidden_slide: bool = False
    position: Literal["raised", "lowered", None] = None


PLAIN = OdfStyle()


class OdfStyles:
    """The styles of all trees of a document; of duplicate names, the first counts."""

    def __init__(self, *roots: etree._Element | None) -> None:
        self._elements: dict[str, etree._Element] = {}
        self._lists: dict[str, set[int]] = {}
        self._known: dict[str, OdfStyle] = {}
        for root in roots:
            for item in root.iter("{*}style", "{*}list-style") if root is not None else ():
                name = attribute(item, "name") or ""
                if local(item) == "style":
                    self._elements.setdefault(name, item)
                else:
                    self._lists.setdefault(name, _numbered_levels(item))

    def get(self, name: str | None) -> OdfStyle:
        """The style of this name, without properties if there is none."""
        if name is None:
            return PLAIN
        if name not in self._known:
            self._known[name] = self._resolve(name)
        return self._known[name]

    def is_numbered(self, name: str | None, level: int) -> bool:
        """Whether items of this list style are numbered on this level; 1 is the outermost."""
        return level in self._lists.get(name or "", ())

    def _resolve(self, name: str) -> OdfStyle:
        level = None
        looks: dict[str, str] = {}
        for _ in range(_MOST_PARENTS):
            level = _TITLES.get(name, level) if level is None else level
            element = self._elements.get(name)
            if element is None:
                break
            for properties in element.iterchildren():
                for key, look in properties.attrib.items():
                    looks.setdefault(str(key).rpartition("}")[2], str(look))
            name = attribute(element, "parent-style-name") or ""
        return OdfStyle(
            title_level=level,
            is_hidden=looks.get("display") == "none",
            is_white=looks.get("color", "").lower() == _WHITE,
            has_background=looks.get("background-color", "transparent") != "transparent",
            position=_position(looks.get("text-position", "")),
            is_hidden_slide=looks.get("visibility") == "hidden",
        )


def _position(stated: str) -> Literal["raised", "lowered", None]:
    """Of `super 58%`, `-33% 58%`: the place, in percent of the font's height, and the size."""
    place = stated.split()[0] if stated.split() else ""
    if place == "super" or _ABOVE.fullmatch(place):
        return "raised"
    return "lowered" if place == "sub" or _BELOW.fullmatch(place) else None


def _numbered_levels(style: etree._Element) -> set[int]:
    found = set()
    for item in style.iterchildren("{*}" + _NUMBERED):
        level, form = attribute(item, "level") or "", attribute(item, "num-format")
        if level.isdecimal() and form:
            found.add(int(level))
    return found


def style_of(element: etree._Element) -> str | None:
    """The name of an element's style."""
    return attribute(element, "style-name")
