"""Turns boxes so that the text of a page is upright."""

import math
from collections.abc import Iterator, Sequence
from heapq import nlargest
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.engine.pdfium import Box

_SAMPLE = 5  # lines that tell how the text of a page runs
_LETTERS = 24  # characters that do
_MOST = 0.6  # share of them; spaces that pdfium adds count as upright
_LONG = 300  # characters of a line; pdfium breaks no lines in some text that runs up the page
_SLANT = 0.05  # quarter turns by which upright text may be turned

Column = NDArray[np.float32]
Columns = tuple[Column, Column, Column, Column]
"""Left, top, right, bottom, one array each."""


def upright_turn(
    text_page: int, spans: Sequence[tuple[str, int, int]], ends: Sequence[int], shown: int
) -> int:
    """The turn by which most text is upright, as of a table that runs up the page."""
    apart = ends[:: max(len(ends) // _SAMPLE // 2 * 2, 2)]
    if all(turn_of(text_page, start) == shown for start in apart):
        return shown
    longest = nlargest(_SAMPLE, range(len(spans)), key=lambda index: len(spans[index][0]))
    turns = [
        turn_of(text_page, ends[2 * index] + place)
        for index in longest
        for place in _places(spans[index][0])
    ]
    turn = turns[len(turns) // 2]
    return shown if turn is None or turns.count(turn) < len(turns) - 1 else turn


def turn_if_upside_down(page: int, text_page: int, count: int) -> bool:
    """Turn a page whose text is upside down, of which pdfium mixes the pieces of its lines.

    True if it was turned; its text must be loaded again.
    """
    shown = pdfium.rotation(page)
    upright = (shown + 2) % 4
    sample = range(0, count, max(1, count // _LETTERS))
    if sum(turn_of(text_page, place) == upright for place in sample) <= _MOST * len(sample):
        return False
    pdfium.set_rotation(page, upright)
    return True


def _places(text: str) -> Iterator[int]:
    """The first character of a line; of one that is most of a page, some others, too."""
    yield 0
    for start in range(_LONG, len(text), max(_LONG, len(text) // _SAMPLE)):
        yield next(place for place in range(start, -1, -1) if text[place] > " ")


def turn_of(text_page: int, character: int) -> int | None:
    """Clockwise quarter turns after which a character is upright; None if it is slanted."""
    quarters = pdfium.char_angle(text_page, character) / (math.pi / 2)
    return -round(quarters) % 4 if abs(quarters - round(quarters)) < _SLANT else None


@overload
def rotated(box: Box, quarters: int) -> Box: ...
@overload
def rotated(box: Columns, quarters: int) -> Columns: ...
def rotated(box: Any, quarters: int) -> Any:
    """A box (or the columns of many) after turning the page clockwise by `quarters` times 90°.

    Left, top, right, bottom, in both argument and result.
    """
    left, top, right, bottom = box
    if quarters == 1:
        return bottom, -left, top, -right
    if quarters == 2:
        return -right, -bottom, -left, -top
    if quarters == 3:
        return -top, right, -bottom, left
    return box
