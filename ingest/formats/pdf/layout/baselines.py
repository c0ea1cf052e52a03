"""Tells apart the baselines of text that pdfium takes for one line, as of cells in a table."""

from collections.abc import Iterable

from ingest.formats.pdf.engine.pdfium import Box

_TALL = 2.0  # height by font size; above this, a line has text of several baselines
_TALLER = 1.3  # times the usual height by font size; above this, it may have
_CELL = 0.75  # font sizes between two cells
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
