"""Vertical Chinese and Japanese: columns from right to left, which pdfium splits or drops.

Where pdfium returns a character per line, or a column as one tall line, the page is turned: then
columns are lines below each other, for all later steps. Where it drops the text, pdfminer reads it.
"""

import re
from collections.abc import Iterator, Sequence
from statistics import median
from typing import BinaryIO

import numpy as np

from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.engine.pdfium import Boxes
from ingest.formats.pdf.layout.baselines import FIRST_CJK
from ingest.formats.pdf.layout.rotation import rotated
from ingest.formats.pdf.layout.text_lines import Line, PageLines

_MOST_OBJECTS = 20_000  # per page; pdfminer reads about 7,000 characters a second
_MOST_IN_DOCUMENT = 120_000
_FEWEST_OBJECTS = 50
_SQUARE = 1.5  # width by height of a character, at most
_APART = 1.0  # points between characters without width, at least
_CJK = "\u3000-\u30ff\u3400-\u9fff\uff00-\uffef"
_SPACE_INSIDE = re.compile(f"(?<=[{_CJK}]) +(?=[{_CJK}])")
_TURN = 3  # quarter turns that make columns from right to left lines from the top down
_VERTICAL = 0.6  # share of characters that stand alone, or in lines higher than wide
_FEWEST = 30  # such characters
_TALL = 1.5  # height by width
_SHORTEST = 4  # mean characters of a column; tables of single characters have shorter ones
_BESIDE, _NEAR = 0.6, 1.0  # font sizes between two parts of a column: across and along it
_GAP = 0.6  # the same for a space
_TIER = 0.5  # font sizes between two tiers of columns
_FEWEST_COLUMNS = 3  # of a tier


class VerticalPages:
    """Text of single pages that pdfium drops, with a budget of objects per document."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = _MOST_IN_DOCUMENT

    def text(self, index: int, page: int) -> str | None:
        """Text of the page with this 0-based index and handle, None if it exceeds the budget.

        Broken objects make pdfminer raise arbitrary exceptions.
        """
        # Imported here because it is slow to import and few files need it.
        from pdfminer.high_level import extract_text
        from pdfminer.layout import LAParams

        objects: int = pdfium.count_objects(page)
        if objects > min(_MOST_OBJECTS, self._left):
            return None
        self._left -= objects
        self._stream.seek(0)
        # `boxes_flow=None` sorts boxes by position: columns from right to left.
        text = extract_text(
            self._stream,  # type: ignore[arg-type]  # any binary stream will do
            page_numbers=[index],
            laparams=LAParams(detect_vertical=True, boxes_flow=None),
        )
        return _SPACE_INSIDE.sub("", text).strip()


def is_dropped(page: int, text: str) -> bool:
    """Whether pdfium missed much of a text that may be vertical.

    It drops characters that no font has, if each is set by itself: their boxes have no width. Text
    that is drawn over itself is left out rightly; pdfminer would repeat it, and compare each of its
    letters with all others.
    """
    objects: int = pdfium.count_objects(page)
    if objects < _FEWEST_OBJECTS or len(text) >= objects // 4:
        return False
    handles = pdfium.page_objects(page, _MOST_OBJECTS)
    texts = [handle for handle in handles if pdfium.object_type(handle) == pdfium.TEXT]
    return len(text) < _places(pdfium.all_bounds(texts)) // 2


def _places(boxes: Boxes) -> int:
    """How many characters and columns stand apart. Lines are wider than high, and do not count."""
    left, top, right, bottom = boxes.T
    wide = right - left
    may_be_vertical = wide <= _SQUARE * (top - bottom)
    corners = np.column_stack([left, top]) / np.maximum(wide, _APART)[:, np.newaxis]
    return len(np.unique(np.rint(corners[may_be_vertical]), axis=0))


def turned_if_vertical(page: PageLines) -> PageLines:
    """The page; a vertical one with its columns as lines, in the order in which they are read."""
    if not page.has_places or page.turn or not _is_vertical(page.lines):
        return page
    columns = list(_joined(list(map(_turned, page.lines))))
    if sum(len(line.text) for line in columns) < _SHORTEST * len(columns):
        return page
    lines = [line for tier in _tiers(columns) for line in tier]
    return PageLines(lines, rotated(page.box, _TURN), _TURN, off_page=page.off_page)


def _is_vertical(lines: Sequence[Line]) -> bool:
    total = vertical = 0
    for line in lines:
        length = len(line.text)
        total += length
        if line.text[0] >= FIRST_CJK and (
            length == 1 or line.height > _TALL * (line.right - line.left)
        ):
            vertical += length
    return vertical >= _FEWEST and vertical > _VERTICAL * total


def _turned(line: Line) -> Line:
    left, top, right, bottom = rotated((line.left, line.top, line.right, line.bottom), _TURN)
    return Line(line.text, left, top, right, bottom, line.size, line.start, line.end)


def _joined(parts: Sequence[Line]) -> Iterator[Line]:
    """The columns; each part is turned, and follows the one above it in the file."""
    column: Line | None = None
    for part in parts:
        if column is not None:
            size = column.size or column.height
            if (
                abs(column.top + column.bottom - part.top - part.bottom) < 2 * _BESIDE * size
                and -_NEAR * size < part.left - column.right < _NEAR * size
            ):
                space = "\u3000" if part.left - column.right > _GAP * size else ""
                column.text += space + part.text
                column.right, column.end = max(column.right, part.right), part.end
                continue
            yield column
        column = part
    if column is not None:
        yield column


def _tiers(columns: Sequence[Line]) -> Iterator[list[Line]]:
    """Columns that stand beside each other, from the right; tiers from the top of the page."""
    size = median(line.size or line.height for line in columns)
    tier: list[Line] = []
    end = 0.0
    for line in sorted(columns, key=lambda line: line.left):
        if len(tier) >= _FEWEST_COLUMNS and line.left > end + _TIER * size:
            yield _from_the_right(tier)
            tier = []
        end = max(end, line.right) if tier else line.right
        tier.append(line)
    yield _from_the_right(tier)


def _from_the_right(tier: Sequence[Line]) -> list[Line]:
    return sorted(tier, key=lambda line: (-round(line.top), line.left))
