"""Lines of a page with their places, as seen with the page turned the way it is read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ingest.formats.common.markdown import plain
from ingest.formats.pdf import pdfium
from ingest.formats.pdf.pdfium import Box

HYPHEN = "\ufffe"
"""pdfium's mark for a hyphen at the end of a line; the line break behind it is gone."""

SLACK = 0.3
"""Of a line's height: what neighbours may overlap."""
_WIDE = 0.7  # of the font size a character; wider lines have gaps

Kind = Literal["text", "table"]

Column = NDArray[np.float32]
Columns = tuple[Column, Column, Column, Column]
"""Left, top, right, bottom of many boxes."""


@dataclass(slots=True)
class Line:
    """A line of text, or a table that took the place of lines.

    Coordinates are points on the page as it is shown: x to the right, y upwards.
    """

    text: str
    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    size: float = 0.0
    """Font size in points at its start."""
    start: int = 0
    """pdfium's index of its first character."""
    end: int = 0
    bold: bool = False
    """Known only of lines that could be headings by their words."""
    level: int = 0
    """1 to 6 for a heading."""
    kind: Kind = "text"

    @property
    def height(self) -> float:
        """Of its font, or of the table."""
        return self.top - self.bottom

    def overlaps(self, other: "Line") -> bool:
        """Whether one is above the other, as far as x goes."""
        shared = min(self.right, other.right) - max(self.left, other.left)
        return shared > 0.1 * min(self.right - self.left, other.right - other.left)


@dataclass(slots=True)
class PageLines:
    """What is on a page, in reading order."""

    lines: list[Line]
    box: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    """Left, top, right, bottom of the page as it is shown; empty if places are unknown."""
    notes: list[str] = field(default_factory=list)
    """Markdown that comes after the text: form values, comments."""
    off_page: list[str] = field(default_factory=list)
    """Text that stands beside the page."""
    jumps: bool = False
    """Whether some line is higher than the one before it, as where a new column starts."""
    gaps: set[int] = field(default_factory=set)
    """Starts of lines that are wider than their text, or stand beside another."""

    @property
    def has_places(self) -> bool:
        """Whether the lines have coordinates."""
        return self.box[2] > self.box[0]

    @property
    def text(self) -> str:
        """The lines as they are."""
        return "\n".join(line.text for line in self.lines)

    @property
    def plain_text(self) -> str:
        """The lines and the notes without any markup."""
        return plain("\n".join([self.text.replace(HYPHEN, "-"), *self.notes]))


def plain_lines(text: str) -> PageLines:
    """Lines of a text of which nothing else is known."""
    return PageLines([Line(line) for line in text.splitlines()])


def read_lines(page: int, text_page: int, text: str, count: int) -> PageLines:
    """Lines in the order of pdfium, which is mostly that of reading."""
    spans = _spans(text)
    if not spans:
        return PageLines([])
    ends = [index for _, start, end in spans for index in (start, end - 1)]
    if count != len(text):  # characters and text run apart: each place has to be asked for
        ends = [pdfium.char_at_text(text_page, index) for index in _units(text, ends)]
    turn = pdfium.rotation(page)
    boxes = pdfium.char_boxes(text_page, ends)
    if turn:
        boxes = [turned(box, turn) for box in boxes]
    found = PageLines(_lines(spans, ends, boxes), turned(pdfium.page_box(page), turn))
    _drop_off_page(found)
    _find_sizes(text_page, found.lines)
    _look(found)
    return found


def _lines(
    spans: Sequence[tuple[str, int, int]], ends: Sequence[int], boxes: Sequence[Box]
) -> list[Line]:
    """A line for each span, from the characters at its ends and their boxes."""
    lines = []
    places = zip(spans, ends[::2], ends[1::2], boxes[::2], boxes[1::2], strict=True)
    for (text, _, _), first, last, (left, top, right, bottom), other in places:
        if other[0] < left:
            left = other[0]
        if other[1] > top:
            top = other[1]
        if other[2] > right:
            right = other[2]
        if other[3] < bottom:
            bottom = other[3]
        lines.append(Line(text, left, top, right, bottom, 0.0, first, last + 1))
    return lines


def _drop_off_page(page: PageLines) -> None:
    """Keep only what is on the page; all of it if nothing is, for then it is the page's."""
    left, top, right, bottom = page.box
    shown = [
        line
        for line in page.lines
        if line.right >= left and line.left <= right and line.top >= bottom and line.bottom <= top
    ]
    if shown and len(shown) < len(page.lines):
        kept = {line.start for line in shown}
        page.off_page = [line.text for line in page.lines if line.start not in kept]
        page.lines = shown


def _find_sizes(text_page: int, lines: Sequence[Line]) -> None:
    """Font sizes; characters of fonts of the same height are taken to be of the same size."""
    known: dict[float, float] = {}
    for line in lines:
        key = (line.top - line.bottom) * 10 // 1
        if key not in known:
            known[key] = pdfium.size(text_page, line.start)
        line.size = known[key]


def _look(page: PageLines) -> None:
    """Note what tells whether a page needs a closer look."""
    gaps = {
        line.start
        for line in page.lines
        if line.right - line.left > _WIDE * (line.size or line.height) * len(line.text)
    }
    for previous, line in pairwise(page.lines):
        height = previous.top - previous.bottom
        if line.bottom > previous.top - SLACK * height:
            page.jumps = True
        if line.left >= previous.right and abs(line.bottom - previous.bottom) < 0.5 * height:
            gaps.update((previous.start, line.start))
    page.gaps = gaps


@overload
def turned(box: Box, quarters: int) -> Box: ...
@overload
def turned(box: Columns, quarters: int) -> Columns: ...
def turned(box: Any, quarters: int) -> Any:
    """A box (or the columns of many) on a page that is shown turned clockwise by so many quarters.

    Left, top, right, bottom both times.
    """
    left, top, right, bottom = box
    if quarters == 1:
        return bottom, -left, top, -right
    if quarters == 2:
        return -right, -bottom, -left, -top
    if quarters == 3:
        return -top, right, -bottom, left
    return box


def _spans(text: str) -> list[tuple[str, int, int]]:
    """Each line that is not blank, without space at its ends, and where it is in the text.

    The ends count: pdfium makes up spaces there, which have neither size nor place.
    """
    spans: list[tuple[str, int, int]] = []
    start = 0
    has_broken = HYPHEN in text
    for row in text.split("\r\n"):
        if has_broken and HYPHEN in row:
            spans += _broken_spans(row, start)
        elif inner := row.strip():
            first = start if row[0] == inner[0] else start + row.index(inner[0])
            spans.append((inner, first, first + len(inner)))
        start += len(row) + 2
    return spans


def _broken_spans(row: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Lines that pdfium made one of, because a word went on from one to the next."""
    *broken, last = row.split(HYPHEN)
    for piece in broken:
        inner = piece.lstrip()
        if inner:
            yield inner + HYPHEN, start + len(piece) - len(inner), start + len(piece) + 1
        start += len(piece) + 1
    if inner := last.strip():
        first = start + last.index(inner[0])
        yield inner, first, first + len(inner)


def _units(text: str, indices: Sequence[int]) -> list[int]:
    """Indices of Python as indices in UTF-16, which pdfium counts in."""
    if text.isascii() or max(text) <= "\uffff":
        return list(indices)
    wide = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32) > 0xFFFF
    before = np.concatenate([[0], np.cumsum(wide)])
    return [index + int(before[index]) for index in indices]
