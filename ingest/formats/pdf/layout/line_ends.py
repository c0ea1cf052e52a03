"""The columns of a page: where their lines end, and which lines begin something."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from ingest.formats.pdf.layout.text_lines import Line, PageLines

_FEWEST = 3  # lines with the same right edge, for it to be the edge of the column
_CLOSE = 0.6  # line heights between the lines of a block
_LONGEST_WORD = 0.35  # share of the width of a block of prose
_WIDE = 0.52  # font sizes per character; fixed type and lines with gaps are wider
_AT_EDGE = 6.0  # points of room at the end of a justified line
_KEY = re.compile(r"\d{3,8}(?=[.:)]?\s)")
_SHARE_OF_ENTRIES = 0.2  # of the lines of a block; fewer begin with such a number by chance
GRAIN = 3.0  # points by which the ends of justified lines may differ
INDENT = (0.8, 5.0)  # font sizes by which the first line of a paragraph is indented
AT_ONE_PLACE = 0.3  # font sizes by which the left ends of lines may differ
END_OF_SENTENCE = (".", "!", "?", ":", "”", '"', "。", "\uff01", "\uff1f")
CJK = "\u2e80"

Start = Literal["first", "hanging", "entry", ""]
"""What other lines say about a line: it is indented as the first one of a paragraph, it stands
below one that hangs out, as the name of a definition does, or it begins an entry with a number."""
Edges = dict[int, tuple[float, float, float, Start]]
"""By the id of a line: left and right edge of its column; room behind it, above which a capital
begins a line of its own (in points); how it starts."""


def line_ends(page: PageLines) -> Edges:
    """The edges of the columns; empty if the page has no positions."""
    edges: Edges = {}
    if not page.has_places:
        return edges
    column: list[Line] = []
    for line in page.lines:
        if line.kind in ("table", "code") or line.level or not line.text:
            continue
        if column and (line.bottom > column[-1].top or line.left > column[-1].right):
            _take(column, edges)
            column = []
        column.append(line)
    _take(column, edges)
    return edges


def _take(column: Sequence[Line], edges: Edges) -> None:
    if len(column) < 2:
        return
    left, right = min(line.left for line in column), max(line.right for line in column)
    half = (left + right) / 2
    # Not where most lines end: the marks of a list, or short lines, may end at one place, too.
    counted = Counter([int(line.right / GRAIN) for line in column if line.right > half])
    often = [place for place, times in counted.items() if times >= _FEWEST]
    if often:
        right = (max(often) + 1) * GRAIN
    for block in _blocks(column):
        own = max(line.right for line in block)
        edge = own if own < right and _is_filled(block, own) else right
        most_room = math.inf if _is_prose(block, edge) else _AT_EDGE if often else 0.0
        entries = _entries(block)
        for line, below in zip(block, [*block[1:], None], strict=True):
            start = "entry" if id(line) in entries else _start(line, below)
            edges[id(line)] = left, edge, most_room, start


def _blocks(column: Sequence[Line]) -> Iterator[list[Line]]:
    """Lines of one size close below each other."""
    block: list[Line] = []
    for line in column:
        if block:
            above = block[-1]
            is_close = above.bottom - line.top < _CLOSE * above.height
            if not is_close or abs(above.size - line.size) > 0.1 * above.size:
                yield block
                block = []
        block.append(line)
    yield block


def _entries(block: Sequence[Line]) -> set[int]:
    """Lines that begin with numbers of as many figures, at one place: years, or keys of entries."""
    if len(block) < _FEWEST:
        return set()
    alike: dict[tuple[int, int], set[int]] = defaultdict(set)
    for line in block:
        if line.text[0].isdecimal() and (number := _KEY.match(line.text)):
            alike[len(number[0]), int(line.left / GRAIN)].add(id(line))
    most = max(alike.values(), key=len, default=set[int]())
    return most if len(most) >= max(_FEWEST, _SHARE_OF_ENTRIES * len(block)) else set()


def _start(line: Line, below: Line | None) -> Start:
    if below is None:
        return ""
    size = line.size or line.height
    indent = line.left - below.left
    if INDENT[0] * size < indent < INDENT[1] * size:
        return "first" if abs(line.right - below.right) < GRAIN else ""
    return "hanging" if abs(indent) < AT_ONE_PLACE * size else ""


def _is_filled(block: Sequence[Line], right: float) -> bool:
    """Whether a block is prose that fills a column of its own, as an indented abstract does.

    Each line but the last of a paragraph reaches the edge, and most go on in lower case.
    """
    filled = continued = 0
    length = sum(line.right - line.left for line in block)
    if length > _WIDE * sum(len(line.text) * line.size for line in block):  # code, or a table
        return False
    widest = _LONGEST_WORD * (right - min(line.left for line in block))
    for line, following in pairwise(block):
        needed = room_needed(following)
        if needed > widest:  # few words: code, or a list
            return False
        if right - line.right < needed:
            filled += 1
            continued += following.text[0].islower()
        elif not line.text.endswith(END_OF_SENTENCE):
            return False
    return filled >= _FEWEST and 2 * continued >= filled


def _is_prose(block: Sequence[Line], right: float) -> bool:
    """Whether most lines are full; those of an index, or of code, are so by chance."""
    if len(block) <= _FEWEST:
        return True
    filled = sum(right - line.right < room_needed(following) for line, following in pairwise(block))
    return 2 * filled >= len(block) - 1


def room_needed(line: Line) -> float:
    """The room that the first word of a line and the space before it take, in points."""
    text = line.text
    width = (line.right - line.left) / len(text)
    end = text.find(" ", 1)
    return 2 * width if text[0] >= CJK else ((end if end > 0 else len(text)) + 1) * width
