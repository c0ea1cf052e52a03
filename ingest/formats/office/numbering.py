"""Generates the numbers and bullets of paragraphs as Word does: `1.2`, `(a)`, `IV.`"""

import re
from dataclasses import dataclass, field

from lxml import etree

from ingest.formats.office.xml_tree import child, number, value

_PLACE = re.compile(r"%([1-9])")
_LEVELS = 9
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_LARGEST = 3999
_NO_NUMBERS = {"bullet", "none"}


@dataclass(frozen=True, slots=True)
class ListLevel:
    """Numbering of one list level."""

    format: str = "decimal"
    pattern: str = "%1."
    start: int = 1


@dataclass(slots=True)
class _List:
    levels: dict[int, ListLevel]
    counters: list[int | None] = field(default_factory=lambda: [None] * _LEVELS)


class Numbering:
    """Numbers the paragraphs of a document; call label() in document order."""

    def __init__(self, root: etree._Element | None) -> None:
        self._lists: dict[str, _List] = {}
        self._levels_of: dict[str, dict[int, ListLevel]] = {}
        if root is None:
            return
        definitions = {
            value(item, "abstractNumId") or "": item for item in root.iterchildren("{*}abstractNum")
        }
        by_style = {
            value(child(item, "styleLink")): key
            for key, item in definitions.items()
            if child(item, "styleLink") is not None
        }
        counted: dict[str, _List] = {}
        for item in root.iterchildren("{*}num"):
            key = value(child(item, "abstractNumId")) or ""
            linked = value(child(definitions.get(key), "numStyleLink"))
            key = by_style.get(linked, key)
            base = counted.setdefault(key, _List(_levels(definitions.get(key))))
            changed = _overrides(item)
            mine = _List(base.levels | changed) if changed else base
            self._lists[value(item, "numId") or ""] = mine

    def label(self, key: str | None, level: int) -> str | None:
        """The number of the next paragraph of this list; empty for a bullet.

        None if there is no such list or level, or the level has no numbers.
        """
        found = self._lists.get(key or "")
        if found is None or not 0 <= level < _LEVELS:
            return None
        counters = found.counters
        mine = found.levels.get(level, ListLevel())
        before = counters[level]
        counters[level] = mine.start if before is None else before + 1
        counters[level + 1 :] = [None] * (_LEVELS - level - 1)
        if mine.format in _NO_NUMBERS:
            return "" if mine.format == "bullet" else None

        def shown(place: re.Match[str]) -> str:
            index = int(place[1]) - 1
            other = found.levels.get(index, ListLevel())
            count = counters[index]
            return _spelled(other.start if count is None else count, other.format)

        return _PLACE.sub(shown, mine.pattern).strip()


def _levels(definition: etree._Element | None) -> dict[int, ListLevel]:
    if definition is None:
        return {}
    return {number(item, "ilvl") or 0: _level(item) for item in definition.iterchildren("{*}lvl")}


def _level(item: etree._Element) -> ListLevel:
    start = number(child(item, "start"))
    return ListLevel(
        format=value(child(item, "numFmt")) or "decimal",
        pattern=value(child(item, "lvlText")) or "",
        start=1 if start is None else start,
    )


def _overrides(item: etree._Element) -> dict[int, ListLevel]:
    """Levels that a list redefines. An override of only the start value is ignored."""
    return {
        number(override, "ilvl") or 0: _level(level)
        for override in item.iterchildren("{*}lvlOverride")
        if (level := child(override, "lvl")) is not None
    }


def _spelled(count: int, style: str) -> str:
    if style in ("lowerLetter", "upperLetter") and 0 < count <= _LARGEST:
        letters = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)
        return letters if style == "lowerLetter" else letters.upper()
    if style in ("lowerRoman", "upperRoman") and 0 < count <= _LARGEST:
        roman = _roman(count)
        return roman if style == "lowerRoman" else roman.upper()
    return f"{count:02}" if style == "decimalZero" else str(count)


def _roman(count: int) -> str:
    found = ""
    for size, letters in _ROMAN:
        repeats, count = divmod(count, size)
        found += letters * repeats
    return found
