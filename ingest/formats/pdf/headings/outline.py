"""Finds the lines to which the bookmarks of a PDF point."""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from ingest.formats.pdf.headings.candidates import LONGEST, join
from ingest.formats.pdf.layout.text_lines import Line, PageLines

_NO_LETTERS = re.compile(r"[\W\d_]+")
_NUMBER = re.compile(
    r"(?:\w{4,10} )?(?:[A-Z]|[IVXLC]{1,6}|\d{1,3})(?:[.-]\d{1,3})*[.:]*\s+(?=\S)"  # `Chapter 3: `
)
_SHORTEST = 3  # letters
_SHORTEST_CJK = 2
_MOST_LINES = 3

Bookmark = tuple[int, int, str]
"""Index of the target page, level from 1, title."""


def match_outline(pages: Sequence[PageLines], outline: Sequence[Bookmark]) -> dict[int, float]:
    """Mark the line, or the two or three adjacent lines, whose text equals a bookmark's title.

    Numbers before it may differ. What is not on the target page may be a heading on the next or
    the previous one. Returns the font size of each line that was found, by its id.
    """
    by_page: dict[int, list[tuple[int, list[str]]]] = defaultdict(list)
    for index, level, title in outline:
        rest = _without_number(title)
        texts = [title] if rest is None else [title, rest]
        wanted = [key for key in map(_plain, texts) if _is_enough(key)]
        if index < len(pages) and wanted:
            by_page[index].append((min(level, 6), wanted))
    matched: dict[int, float] = {}
    left: list[tuple[int, int, list[str]]] = []
    for index, wanted_here in by_page.items():
        found = _Places(pages[index].lines)
        for level, wanted in wanted_here:
            if not found.mark(wanted, level, matched):
                left.append((index, level, wanted))

    @cache
    def headings(near: int) -> _Places:
        return _Places([line for line in pages[near].lines if line.level])

    for index, level, wanted in left:
        for near in (index + 1, index - 1):
            if 0 <= near < len(pages) and headings(near).mark(wanted, level, matched):
                break
    return matched


class _Places:
    """The short lines of a page by their letters, alone and with those that follow."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = [line for line in lines if line.kind == "text" and len(line.text) <= LONGEST]
        self._at: dict[str, tuple[int, int]] = {}
        texts = [line.text for line in self._lines]
        letters = list(map(_letters, texts))
        for count in range(1, _MOST_LINES + 1):
            for place in range(len(self._lines) + 1 - count):
                end = place + count
                self._add("".join(letters[place:end]).lower(), place, count)
                rest = _without_number(" ".join(texts[place:end]))
                if rest is not None:
                    self._add(_plain(rest), place, count)

    def _add(self, key: str, place: int, count: int) -> None:
        before = self._at.get(key)
        if before is None or (
            before[1] == count and self._lines[place].level and not self._lines[before[0]].level
        ):
            self._at[key] = place, count

    def mark(self, wanted: list[str], level: int, matched: dict[int, float]) -> bool:
        """Set the level of the lines with the first of these texts; whether there are any."""
        for place, count in (self._at[key] for key in wanted if key in self._at):
            first, *others = group = self._lines[place : place + count]
            if all(line.text for line in group) and id(first) not in matched:
                if others:
                    join(group)
                first.level = level
                matched[id(first)] = first.size
                return True
        return False


def _without_number(text: str) -> str | None:
    """The rest of a text that begins with a number."""
    number = _NUMBER.match(text)
    return None if number is None else text[number.end() :]


def _is_enough(key: str) -> bool:
    return len(key) >= (_SHORTEST if key.isascii() else _SHORTEST_CJK)


def _plain(text: str) -> str:
    """Small letters only: outline and page differ in numbers and spaces."""
    return _letters(text).lower()


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text)
