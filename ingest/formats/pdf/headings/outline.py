"""Finds the lines to which the bookmarks of a PDF point."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property

from ingest.formats.pdf.headings.candidates import LONGEST, join
from ingest.formats.pdf.layout.text_lines import Line, PageLines

_NO_LETTERS = re.compile(r"[\W\d_]+")
_NO_SIGNS = re.compile(r"[\W_]+")
_NUMBER = re.compile(
    r"(?:\w{4,10} )?(?:[A-Z]|[IVXLC]{1,6}|\d{1,3})(?:[.-]\d{1,3})*[.:]*\s+(?=\S)"  # `Chapter 3: `
)
_SHORTEST = 3  # letters
_SHORTEST_CJK = 2
_MOST_LINES = 3
_MOST_ALIKE = 30  # lines of one page with the same letters

Keys = tuple[Sequence[str], Sequence[str]]
"""What to look for: letters and figures; letters only."""
Index = dict[str, list[tuple[int, int]]]
Bookmark = tuple[int, int, str]
"""Index of the target page, level from 1, title."""


def match_outline(pages: Sequence[PageLines], outline: Sequence[Bookmark]) -> dict[int, float]:
    """Mark the line, or the two or three adjacent lines, whose text equals a bookmark's title.

    Numbers before it may differ; others only if no line has the same: `Version 4.1` and `Version
    4.2` may be on one page. What is not on the target page may be a heading on the next or the
    previous one. Returns the font size of each line that was found, by its id.
    """
    left = list(_wanted(outline, len(pages)))
    matched: dict[int, float] = {}

    @cache
    def on(page: int) -> _Places:
        return _Places(pages[page].lines)

    @cache
    def headings(near: int) -> _Places:
        return _Places([line for line in pages[near].lines if line.level])

    for exactly in (True, False):
        left = [
            (index, level, keys)
            for index, level, keys in left
            if not on(index).mark(keys, exactly, level, matched)
        ]
        left = [
            (index, level, keys)
            for index, level, keys in left
            if not any(
                headings(near).mark(keys, exactly, level, matched)
                for near in (index + 1, index - 1)
                if 0 <= near < len(pages)
            )
        ]
    return matched


def _wanted(outline: Sequence[Bookmark], pages: int) -> Iterator[tuple[int, int, Keys]]:
    """Page, level and keys of each bookmark that can be found."""
    for index, level, title in outline:
        rest = _without_number(title)
        texts = [title] if rest is None else [title, rest]
        exact = [key for key in map(_signs, texts) if _is_enough(key)]
        loose = [key for key in map(_plain, texts) if _is_enough(key)]
        if index < pages and exact:
            yield index, min(level, 6), (exact, loose)


class _Places:
    """The short lines of a page by their letters, alone and with those that follow."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = [
            line
            for line in lines
            if line.kind == "text" and (len(line.text) <= LONGEST or line.level)
        ]
        self._texts = [line.text for line in self._lines]

    @cached_property
    def _exact(self) -> Index:
        return self._by(_signs)

    @cached_property
    def _loose(self) -> Index:
        return self._by(_plain)

    def _by(self, key: Callable[[str], str]) -> Index:
        """First line and number of lines, by their letters with and without a number before."""
        index: Index = defaultdict(list)
        whole = list(map(key, self._texts))
        rests = [_without_number(f"{text} .") for text in self._texts]
        begins = [
            (own,) if rest is None else (own, key(rest))
            for own, rest in zip(whole, rests, strict=True)
        ]
        for count in range(1, _MOST_LINES + 1):
            for place in range(len(whole) + 1 - count):
                others = "".join(whole[place + 1 : place + count])
                for begin in begins[place]:
                    at = index[begin + others]
                    if len(at) < _MOST_ALIKE:
                        at.append((place, count))
        return index

    def mark(self, keys: Keys, exactly: bool, level: int, matched: dict[int, float]) -> bool:
        """Set the level of the lines with the first of these texts; whether there are any."""
        index = self._exact if exactly else self._loose
        for key in keys[0 if exactly else 1]:
            groups = [
                group
                for place, count in index.get(key, ())
                for group in [self._lines[place : place + count]]
                if all(line.text for line in group) and id(group[0]) not in matched
            ]
            if groups:
                first, *others = group = min(groups, key=_rank)
                if others:
                    join(group)
                first.level = level
                matched[id(first)] = first.size
                return True
        return False


def _rank(group: Sequence[Line]) -> tuple[int, bool]:
    """Few lines before many, what looks like a heading before what does not."""
    return len(group), not group[0].level


def _without_number(text: str) -> str | None:
    """The rest of a text that begins with a number."""
    number = _NUMBER.match(text)
    return None if number is None else text[number.end() :]


def _is_enough(key: str) -> bool:
    return len(key) >= (_SHORTEST if key.isascii() else _SHORTEST_CJK)


def _plain(text: str) -> str:
    """Small letters only: outline and page may differ in numbers."""
    return _NO_LETTERS.sub("", text).lower()


def _signs(text: str) -> str:
    """Small letters and figures: outline and page differ in spaces and marks."""
    return _NO_SIGNS.sub("", text).lower()
