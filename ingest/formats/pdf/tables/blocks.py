"""Columns of a table or form that a file has one after the other: first labels, then values."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ingest.formats.pdf.layout.text_lines import SLACK, Line
from ingest.formats.pdf.tables.rows import Piece

_FEWEST = 3  # lines of two blocks at the same heights
_LONG = 28.0  # mean characters of a line; above this, blocks are columns of prose


def blocks_beside(lines: Sequence[Line]) -> set[int]:
    """`start` of the short lines of two blocks that stand beside each other, line by line."""
    found: set[int] = set()
    for before, after in pairwise(_blocks(lines)):
        pairs = list(_pairs(before, after))
        both = [line for pair in pairs for line in pair]
        if len(pairs) >= _FEWEST and sum(len(line.text) for line in both) <= _LONG * len(both):
            found.update(line.start for line in both)
    return found


def _blocks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Lines of text that only go down the page."""
    block: list[Line] = []
    for line in lines:
        if line.kind != "text":
            continue
        if block and line.bottom > block[-1].top - SLACK * block[-1].height:
            yield block
            block = []
        block.append(line)
    yield block


def _pairs(before: Sequence[Line], after: Sequence[Line]) -> Iterator[tuple[Line, Line]]:
    """Lines of both at the same height that do not overlap."""
    place = 0
    for line in after:
        level = SLACK * line.height
        while place < len(before) and before[place].bottom > line.bottom + level:
            place += 1
        for other in before[place : place + 2]:
            is_level = abs(other.bottom - line.bottom) <= level
            if is_level and (other.right <= line.left or line.right <= other.left):
                yield other, line
                break


def is_by_columns(
    lines: Sequence[Sequence[Piece]], lefts: Sequence[float], owners: Mapping[int, Sequence[Line]]
) -> bool:
    """Whether a file has a column whole before the next, so that its lines may be no rows.

    `lefts`: left edges of the columns. `owners`: the lines of each piece, by its id.
    """
    starts: list[list[int]] = [[] for _ in lefts]
    for line in lines:
        for piece in line:
            starts[bisect_right(lefts, piece.left) - 1].append(owners[id(piece)][0].start)
    return any(
        max(left) < min(right) or max(right) < min(left)
        for left, right in pairwise(places for places in starts if len(places) >= _FEWEST)
    )
