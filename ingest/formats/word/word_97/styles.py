"""Styles and lists of a Word 97 document."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

from ingest.formats.word.word_97.file import LIST_USES, LISTS, WordFile
from ingest.formats.word.word_97.properties import Properties, read_properties
from ingest.formats.word.word_97.tree import add, element

_NO_STYLE = 0xFFF
_PARAGRAPH = 1  # kind of a style
_LEVELS = {**{number: number - 1 for number in range(1, 10)}, 62: 0, 74: 1}
"""Outline levels, from 0, of built-in styles: headings, title, subtitle."""
_MOST_PARENTS = 20
NUMBER_FORMATS = {
    0: "decimal", 1: "upperRoman", 2: "lowerRoman", 3: "upperLetter", 4: "lowerLetter",
    5: "ordinal", 10: "ideographDigital", 11: "japaneseCounting", 12: "aiueo",
    17: "japaneseDigitalTenThousand", 18: "decimalEnclosedCircle", 20: "aiueoFullWidth",
    22: "decimalZero", 23: "bullet", 24: "ganada", 27: "decimalEnclosedParen",
    28: "decimalEnclosedCircleChinese", 30: "ideographTraditional", 33: "taiwaneseCounting",
    35: "taiwaneseCountingThousand", 37: "chineseCounting", 39: "chineseCountingThousand",
    44: "koreanDigital2", 46: "arabicAlpha", 47: "hebrew2", 48: "arabicAbjad", 51: "hindiNumbers",
    54: "thaiNumbers", 58: "russianLower", 59: "russianUpper", 255: "none",
}  # fmt: skip
_LIST_LEVELS = 9


class Style(NamedTuple):
    """A paragraph style with what it inherits."""

    level: int | None
    """Of a heading, from 0."""
    properties: Properties


class _Stated(NamedTuple):
    builtin: int
    base: int
    changes: bytes


class Styles:
    """Paragraph styles by number."""

    def __init__(self, table: bytes) -> None:
        self._stated = dict(_stated(table))
        self._known: dict[int, Style] = {}

    def get(self, number: int) -> Style:
        """A style; one without properties if there is none."""
        if number not in self._known:
            self._known[number] = self._resolve(number)
        return self._known[number]

    def _resolve(self, number: int) -> Style:
        level = None
        properties: Properties = {}
        for _ in range(_MOST_PARENTS):
            stated = self._stated.get(number)
            if stated is None:
                break
            if level is None:
                level = _LEVELS.get(stated.builtin)
            properties = read_properties(stated.changes) | properties
            number = stated.base
        return Style(level, properties)


def _stated(table: bytes) -> Iterator[tuple[int, _Stated]]:
    if len(table) < 6:
        return
    size, count, fixed = struct.unpack_from("<HHH", table)
    at = 2 + size
    for number in range(count):
        if at + 2 > len(table):
            return
        (length,) = struct.unpack_from("<H", table, at)
        style = table[at + 2 : at + 2 + length]
        at += 2 + length
        if len(style) < fixed + 2 or fixed < 10:
            continue
        builtin, base = (value for value in struct.unpack_from("<HH", style))
        changes = _paragraph_changes(style, fixed) if base & 0xF == _PARAGRAPH else b""
        yield number, _Stated(builtin & 0xFFF, base >> 4, changes)


def _paragraph_changes(style: bytes, fixed: int) -> bytes:
    (name,) = struct.unpack_from("<H", style, fixed)
    at = fixed + 2 + 2 * (name + 1)
    if at + 4 > len(style):
        return b""
    (size,) = struct.unpack_from("<H", style, at)
    return style[at + 4 : at + 2 + size]


def numbering(file: WordFile) -> etree._Element:
    """The lists as Word 2007 states them: levels by list, and the uses of lists by number."""
    root = element("numbering")
    table = file.table(LISTS)
    if len(table) < 2:
        return root
    (count,) = struct.unpack_from("<h", table)
    levels = file.tables_after(LISTS)
    at = 0
    for number in range(min(count, (len(table) - 2) // 28)):
        stated = table[2 + 28 * number : 30 + 28 * number]
        definition = add(
            root, "abstractNum", abstractNumId=str(struct.unpack_from("<i", stated)[0])
        )
        for level in range(1 if stated[26] & 1 else _LIST_LEVELS):
            if at + 28 > len(levels):
                return root
            at = _add_level(definition, levels, at, level)
    uses = file.table(LIST_USES)
    count = min(struct.unpack_from("<I", uses)[0], (len(uses) - 4) // 16) if len(uses) > 4 else 0
    for number in range(count):
        (list_,) = struct.unpack_from("<i", uses, 4 + 16 * number)
        add(add(root, "num", numId=str(number + 1)), "abstractNumId", val=str(list_))
    return root


def _add_level(definition: etree._Element, levels: bytes, at: int, level: int) -> int:
    """Add the level that is stated at an offset; returns the end of its statement."""
    start, kind = struct.unpack_from("<iB", levels, at)
    characters, paragraph = levels[at + 24], levels[at + 25]
    at += 28 + characters + paragraph
    (length,) = struct.unpack_from("<H", levels, at)
    text = levels[at + 2 : at + 2 + 2 * length].decode("utf-16-le", "replace")
    shown = "".join(f"%{ord(c) + 1}" if ord(c) < _LIST_LEVELS else c for c in text)
    item = add(definition, "lvl", ilvl=str(level))
    add(item, "start", val=str(start))
    add(item, "numFmt", val=NUMBER_FORMATS.get(kind, "decimal"))
    add(item, "lvlText", val=shown)
    return at + 2 + 2 * int(length)
