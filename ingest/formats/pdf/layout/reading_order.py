"""Corrects the reading order where the order of the file is clearly wrong.

pdfium returns text in file order, which is mostly reading order: programs write column after column
and box after box. Lines are moved only where a line would follow one that is below it.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ingest.formats.pdf.layout.text_lines import SLACK, Line, PageLines

_MOST = 500  # lines; the comparison is quadratic
_FIRST = 8  # lines that may be a running head and foot


def sort_lines(page: PageLines) -> None:
    """Move each line before the lines below it; otherwise keep the order."""
    lines = page.lines
    if not page.has_places or not 1 < len(lines) <= _MOST or not page.jumps:
        return
    if any(line.is_turned for line in lines):
        return
    ordered = _with_feet_last(lines)
    above = _above(ordered)
    if np.tril(above, -1).any():
        ordered = [ordered[index] for index in _Sorter(above).sorted()]
    if ordered is not lines and _clashes(ordered) <= _clashes(lines):
        page.lines = ordered


def _with_feet_last(lines: list[Line]) -> list[Line]:
    """Move lines to the end that are written first and stand below all others.

    Else they would draw the lines above them forward, but not the short ones beside them.
    """
    first = min(_FIRST, len(lines) // 2)
    lowest = min(line.bottom for line in lines[first:])
    feet = [line for line in lines[:first] if line.top <= lowest]
    if not feet:
        return lines
    moved = {id(line) for line in feet}
    return [*(line for line in lines if id(line) not in moved), *feet]


def _above(lines: list[Line]) -> NDArray[np.bool_]:
    """Shape (lines, lines): whether the first line is above the second and not beside it."""
    places = np.array([(line.left, line.top, line.right, line.bottom) for line in lines])
    left, top, right, bottom = places.T
    height, width = top - bottom, right - left
    slack = SLACK * np.minimum.outer(height, height)
    shared = np.minimum.outer(right, right) - np.maximum.outer(left, left)
    overlaps = (shared > 0) & (shared > 0.1 * np.minimum.outer(width, width))
    higher = (bottom[:, None] >= top[None, :] - slack) & np.greater.outer(top, top)
    return np.asarray(higher & overlaps)


def _clashes(lines: list[Line]) -> int:
    """Count neighbours printed over each other: positions do not tell their order."""
    return sum(
        line.overlaps(following)
        and following.top > line.bottom + SLACK * line.height
        and following.bottom < line.top - SLACK * line.height
        for line, following in pairwise(lines)
    )


class _Sorter:
    def __init__(self, above: NDArray[np.bool_]) -> None:
        self._above = np.ascontiguousarray(above.T)
        """For each line, which lines are above it."""
        self._left = np.ones(len(above), np.bool_)
        """Lines that are not sorted yet."""
        self._sorted: list[int] = []

    def sorted(self) -> list[int]:
        """Indices in file order, each after the lines above it, which keep the file's order, too:
        from the top down, those of two columns would alternate."""
        # All lines before it are sorted: it may have to wait for lines behind it only.
        waits: list[bool] = np.asarray(np.triu(self._above, 1).any(axis=1)).tolist()
        for index, must_wait in enumerate(waits):
            if must_wait and self._left[index]:
                self._take(index)
            elif self._left[index]:
                self._left[index] = False
                self._sorted.append(index)
        return self._sorted

    def _take(self, index: int) -> None:
        path = [(index, self._lines_above(index))]
        while path:
            index, above = path[-1]
            other = next((other for other in above if self._left[other]), None)
            if other is None:
                self._sorted.append(index)
                path.pop()
            else:
                path.append((other, self._lines_above(other)))

    def _lines_above(self, index: int) -> Iterator[int]:
        self._left[index] = False
        return iter(np.flatnonzero(self._above[index] & self._left).tolist())
