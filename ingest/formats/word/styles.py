"""Paragraph styles of a Word document: heading level, numbering, hidden text, shading."""

import re
from dataclasses import dataclass

from lxml import etree

from ingest.formats.office.xml_tree import child, is_on, number, value

_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_NAMED_LEVELS = {"title": 1, "subtitle": 2}
_DEEPEST = 6
_MOST_PARENTS = 20


@dataclass(frozen=True, slots=True)
class WordStyle:
    """A style with inherited properties."""

    level: int | None = None
    """Heading level, 1 to 6."""
    numbering: tuple[str | None, int] | None = None
    """Id of the list, and level in it from 0."""
    is_hidden: bool = False
    is_shaded: bool = False


PLAIN = WordStyle()


class WordStyles:
    """Paragraph styles by id; a missing style is PLAIN."""

    def __init__(self, root: etree._Element | None) -> None:
        self._elements: dict[str, etree._Element] = {}
        self._known: dict[str, WordStyle] = {}
        for element in root.iterchildren("{*}style") if root is not None else ():
            self._elements.setdefault(value(element, "styleId") or "", element)

    def get(self, style: str | None) -> WordStyle:
        """The style with this id, PLAIN for None."""
        if style is None:
            return PLAIN
        if style not in self._known:
            self._known[style] = self._resolve(style)
        return self._known[style]

    def _resolve(self, style: str) -> WordStyle:
        chain = self._chain(style)
        return WordStyle(
            level=next((level for item in chain if (level := _level(item)) is not None), None),
            numbering=_numbering(chain),
            is_hidden=next(
                (is_on(item) for item in map(_vanish, chain) if item is not None), False
            ),
            is_shaded=any(child(child(item, "pPr"), "shd") is not None for item in chain),
        )

    def _chain(self, style: str) -> list[etree._Element]:
        """A style and the styles that it is based on, nearest first."""
        chain: list[etree._Element] = []
        while style in self._elements and len(chain) < _MOST_PARENTS:
            element = self._elements[style]
            chain.append(element)
            style = value(child(element, "basedOn")) or ""
        return chain


def _vanish(style: etree._Element) -> etree._Element | None:
    return child(child(style, "rPr"), "vanish")


def own_level(properties: etree._Element | None) -> int | None:
    """Heading level from a paragraph's or style's own outline level; 9 means body text."""
    level = number(child(properties, "outlineLvl"))
    return min(level + 1, _DEEPEST) if level is not None and 0 <= level < 9 else None


def own_numbering(properties: etree._Element | None) -> tuple[str | None, int | None] | None:
    """List id and level that a paragraph or style itself sets."""
    stated = child(properties, "numPr")
    if stated is None:
        return None
    return value(child(stated, "numId")), number(child(stated, "ilvl"))


def _level(element: etree._Element) -> int | None:
    name = (value(child(element, "name")) or "").strip()
    match = _HEADING.fullmatch(name)
    if match:
        return min(int(match[1]), _DEEPEST)
    return _NAMED_LEVELS.get(name.lower(), own_level(child(element, "pPr")))


def _numbering(chain: list[etree._Element]) -> tuple[str | None, int] | None:
    """List id and level, each from the nearest style that sets it."""
    stated = [found for item in chain if (found := own_numbering(child(item, "pPr"))) is not None]
    if not stated:
        return None
    key = next((key for key, _ in stated if key is not None), None)
    return key, next((level for _, level in stated if level is not None), 0)
