"""Tells apart the baselines of text that pdfium takes for one line, as of cells in a table."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.layout.rotation import rotated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ingest.formats.pdf.engine.pdfium import Box
    from ingest.formats.pdf.layout.text_lines import Line

FIRST_CJK = "\u3000"
"""Characters from here on may stand below each other in one line."""

_TALL = 2.0  # height by font size; above this, a line has text of several baselines
_TALLER = 1.3  # times the usual height by font size; above this, it may have
_CELL = 0.75  # font sizes between two cells
_BELOW = 0.7  # heights of a character, to the next line
_SPELLED = 1.5  # the same between letters of a word that is written downwards, at most
_LOWER = 0.4  # font sizes; a cell of one line, in the middle of a row of two lines, is this far off


def tall_from(heights: Iterable[float]) -> float:
    """Height by font size above which a line may have several baselines, given that of all lines.

    What is usual depends on the font.
    """
    ordered = sorted(heights)
    return min(_TALLER * ordered[len(ordered) // 2], _TALL) if ordered else _TALL


def is_on_another(first: Box, before: Box, box: Box, size: float) -> bool:
    """Whether a word is on another baseline.

    Given the first letter of the part before it, the last one of that part, its own first letter.
    Raised figures are smaller than the text, and closer to it.
    """
    distance = abs(box[3] - first[3])
    if distance >= size:
        return True
    is_as_high = abs((box[1] - box[3]) - (first[1] - first[3])) < 0.1 * size
    is_apart = box[0] - before[2] > _CELL * size or box[2] < first[0]
    return is_as_high and distance > _LOWER * size and is_apart


def unstacked(
    text_page: int, turn: int, line: Line, word: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    """A word, or its parts if they stand below each other: a column of single figures.

    Letters close below each other may be a word that is written downwards. `word`: start and end
    in the text of the line.
    """
    start, end = word
    first = line.start
    least = _SPELLED if line.text[start:end].isalpha() else _BELOW
    ends = [first + start, first + end - 1]
    if end - start < 2 or not _is_below(_boxes(text_page, turn, ends), least):
        yield word
        return
    boxes = _boxes(text_page, turn, range(first + start, first + end))
    part = start
    for place, both in enumerate(pairwise(boxes), start=start + 1):
        if _is_below(both, least):
            yield part, place
            part = place
    yield part, end


def _boxes(text_page: int, turn: int, characters: Sequence[int]) -> list[Box]:
    return [rotated(box, turn) for box in pdfium.char_boxes(text_page, characters)]


def _is_below(boxes: Sequence[Box], least: float) -> bool:
    """Whether the second of two characters is as high, and at least so many heights lower."""
    box, other = boxes
    height = box[1] - box[3]
    is_as_high = abs(other[1] - other[3] - height) < 0.1 * height
    return is_as_high and box[3] - other[3] > least * height
