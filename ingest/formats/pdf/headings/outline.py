"""Finds the lines to which the bookmarks of a PDF point."""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from ingest.formats.pdf.headings.candidates import LONGEST, join
from ingest.formats.pdf.layout.text_lines import PageLines

_NO_LETTERS = re.compile(r"[\W\d_]+")
_SHORTEST = 3  # letters

Bookmark = tuple[int, int, str]
"""Index of the target page, level from 1, title."""


def match_outline(pages: Sequence[PageLines], outline: Sequence[Bookmark]) -> dict[int, float]:
    """Mark the line, or the two adjacent lines, whose text equals a bookmark's title.

    Returns the font size of each line that was found, by its id.
    """
    by_page: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for index, level, title in outline:
        wanted = _plain(title)
        if index < len(pages) and len(wanted) >= _SHORTEST:
            by_page[index].append((min(level, 6), wanted))
    matched: dict[int, float] = {}
    for index, wanted_here in by_page.items():
        _match_page(pages[index], wanted_here, matched)
    return matched


def _match_page(
    page: PageLines, wanted_here: Sequence[tuple[int, str]], matched: dict[int, float]
) -> None:
    short = [line for line in page.lines if line.kind == "text" and len(line.text) <= LONGEST]
    plain = [_plain(line.text) for line in short]
    at = {text: place for place, text in reversed(list(enumerate(plain)))}
    pairs = {
        text + other: place for place, (text, other) in reversed(list(enumerate(pairwise(plain))))
    }
    for level, wanted in wanted_here:
        place = at.get(wanted)
        if place is None:
            place = pairs.get(wanted)
            if place is None or not short[place].text:
                continue
            join(short[place : place + 2])
        short[place].level = level
        matched[id(short[place])] = short[place].size


def _plain(text: str) -> str:
    """Letters only: outline and page differ in numbers and spaces."""
    return _NO_LETTERS.sub("", text).lower()
