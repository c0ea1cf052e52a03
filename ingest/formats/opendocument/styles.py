"""Styles of OpenDocument files: hidden text, white text, titles, levels of lists."""

import re
from dataclasses import dataclass
from typing import Literal

from lxml import etree

from ingest.formats.office.numbering import LEVELS, ListLevel
from ingest.formats.office.xml_tree import attribute, local, natural

_MOST_PARENTS = 20
_WHITE = "#ffffff"
_TITLES = {"Title": 1, "Subtitle": 2}
_ABOVE, _BELOW = re.compile(r"[1-9][\d.]*%"), re.compile(r"-[1-9][\d.]*%")
_LIST_STYLES = ("{*}list-style", "{*}outline-style")
_FORMS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman",
          "I": "upperRoman", "一, 二, 三, ...": "chineseCounting", "①, ②, ③, ...":
          "decimalEnclosedCircle", "ア, イ, ウ, ...": "aiueo", "가, 나, 다, ...": "ganada",
          "甲, 乙, 丙, ...": "ideographTraditional"}  # fmt: skip
_BULLET, _NO_NUMBER = ListLevel("bullet"), ListLevel("none")
_PLACE = re.compile(r"%(\d{1,2})%")
_FAMILIES = {"span": "text", "page": "drawing-page"}
_Name = tuple[str, str]
"""Family and name: a table and a span may have styles of the same name."""
OUTLINE = "Outline"
"""By which name the numbering of headings is found, if the file gives it none."""


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
    has_own_list: bool = False
    """Whether it names a list, or none, so that its headings do not have the common numbers."""


PLAIN = OdfStyle()


class OdfStyles:
    """The styles of all trees of a document; of duplicate names, the first counts."""

    def __init__(self, *roots: etree._Element | None) -> None:
        self._elements: dict[_Name, etree._Element] = {}
        self._lists: dict[str, dict[int, ListLevel]] = {}
        self.outline = OUTLINE
        """The name of the numbering of headings."""
        self._known: dict[_Name, OdfStyle] = {}
        for root in roots:
            for item in root.iter("{*}style", *_LIST_STYLES) if root is not None else ():
                name = attribute(item, "name") or ""
                if local(item) == "style":
                    self._elements.setdefault((attribute(item, "family") or "", name), item)
                    continue
                if local(item) == "outline-style":
                    self.outline = name or OUTLINE
                self._lists.setdefault(name or OUTLINE, _levels(item))

    def of(self, element: etree._Element) -> OdfStyle:
        """The style of a paragraph, heading, span or slide, without properties if it has none."""
        name = style_of(element)
        if name is None:
            return PLAIN
        key = (_FAMILIES.get(local(element), "paragraph"), name)
        if key not in self._known:
            self._known[key] = self._resolve(*key)
        return self._known[key]

    def levels(self, name: str | None) -> dict[int, ListLevel]:
        """The levels of a list style, 0 is the outermost; those that it does not name have bullets.

        For the name `OUTLINE`, those of headings, which have no bullets.
        """
        is_outline = name in (OUTLINE, self.outline)
        found = self._lists.get(self.outline if is_outline else name or "", {})
        return dict.fromkeys(range(LEVELS), _NO_NUMBER if is_outline else _BULLET) | found

    def _resolve(self, family: str, name: str) -> OdfStyle:
        level = None
        has_own_list = False
        looks: dict[str, str] = {}
        for _ in range(_MOST_PARENTS):
            level = _TITLES.get(name, level) if level is None else level
            element = self._elements.get((family, name), self._elements.get(("", name)))
            if element is None:
                break
            has_own_list = has_own_list or attribute(element, "list-style-name") is not None
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
            has_own_list=has_own_list,
        )


def _position(stated: str) -> Literal["raised", "lowered", None]:
    """Of `super 58%`, `-33% 58%`: the place, in percent of the font's height, and the size."""
    place = stated.split()[0] if stated.split() else ""
    if place == "super" or _ABOVE.fullmatch(place):
        return "raised"
    return "lowered" if place == "sub" or _BELOW.fullmatch(place) else None


def _levels(style: etree._Element) -> dict[int, ListLevel]:
    """The levels that have numbers, or say that they have none."""
    found: dict[int, ListLevel] = {}
    for item in style.iterchildren("{*}list-level-style-number", "{*}outline-level-style"):
        level, form = natural(item, "level") or 0, attribute(item, "num-format") or ""
        if 1 <= level <= LEVELS:
            found[level - 1] = (
                ListLevel(_FORMS.get(form, form), _pattern(item, level, found), _start(item))
                if form
                else _NO_NUMBER
            )
    return found


def _pattern(item: etree._Element, level: int, above: dict[int, ListLevel]) -> str:
    """`%1.%2)` of `loext:num-list-format`, or of prefix, number of shown levels and suffix."""
    if stated := attribute(item, "num-list-format"):
        return _PLACE.sub(r"%\1", stated)
    shown = natural(item, "display-levels")
    first = level - (1 if shown is None else shown) + 1
    places = [
        f"%{place}"
        for place in range(max(1, first), level)
        if above.get(place - 1, _NO_NUMBER) != _NO_NUMBER
    ]
    ends = [attribute(item, f"num-{end}") or "" for end in ("prefix", "suffix")]
    return ".".join([*places, f"%{level}"]).join(ends)


def _start(item: etree._Element) -> int:
    stated = natural(item, "start-value")
    return 1 if stated is None else stated


def style_of(element: etree._Element) -> str | None:
    """The name of an element's style."""
    return attribute(element, "style-name")
