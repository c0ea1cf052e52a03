"""Lines of a page with their places, as seen with the page turned the way it is read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ingest.pipeline.extract import pdf_raw
from ingest.pipeline.extract.pdf_raw import Boxes

HYPHEN = "\ufffe"
"""pdfium's mark for a hyphen at the end of a line; the line break behind it is gone."""

SLACK = 0.3
"""Of a line's height: what neighbours may overlap."""
_WIDE = 0.7  # of the font size a character; wider lines have gaps

Kind = Literal["text", "table"]


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
        ends = [pdf_raw.char_at_text(text_page, index) for index in _units(text, ends)]
    turn = pdf_raw.rotation(page)
    boxes = turned(pdf_raw.char_boxes(text_page, ends), turn)
    low, high = np.minimum(boxes[::2], boxes[1::2]), np.maximum(boxes[::2], boxes[1::2])
    places = np.column_stack([low[:, 0], high[:, 1], high[:, 2], low[:, 3]])
    box = page_box(page, turn)
    shown = _shown(places, box)
    firsts, lasts = ends[::2], ends[1::2]
    off_page: list[str] = []
    if not shown.all():
        off_page = [spans[index][0] for index in np.flatnonzero(~shown).tolist()]
        kept = np.flatnonzero(shown).tolist()
        spans, places = [spans[index] for index in kept], places[kept]
        firsts, lasts = [firsts[index] for index in kept], [lasts[index] for index in kept]
    sizes = _sizes(text_page, firsts, (places[:, 1] - places[:, 3]).tolist())
    lines = [
        Line(span[0], left, top, right, bottom, size, first, last + 1)
        for span, (left, top, right, bottom), size, first, last in zip(
            spans, places.tolist(), sizes, firsts, lasts, strict=True
        )
    ]
    page_lines = PageLines(lines, box, off_page=off_page)
    _look(page_lines, places, np.array(sizes))
    return page_lines


def _look(page: PageLines, places: Boxes, sizes: NDArray[np.float64]) -> None:
    """Note what tells whether a page needs a closer look."""
    left, top, right, bottom = places.T
    heights = top - bottom
    page.jumps = bool((bottom[1:] > top[:-1] - SLACK * heights[:-1]).any())
    lengths = np.fromiter((len(line.text) for line in page.lines), np.int64, len(page.lines))
    sizes = np.where(sizes > 0, sizes, heights)
    gaps = right - left > _WIDE * sizes * lengths
    beside = (left[1:] >= right[:-1]) & (abs(bottom[1:] - bottom[:-1]) < 0.5 * heights[:-1])
    gaps[1:] |= beside
    gaps[:-1] |= beside
    page.gaps = {page.lines[index].start for index in np.flatnonzero(gaps).tolist()}


def _shown(places: Boxes, box: tuple[float, float, float, float]) -> NDArray[np.bool_]:
    """Which of these boxes are on the page; all of them if none is, for then it is the page's."""
    left, top, right, bottom = box
    shown = (
        (places[:, 2] >= left)
        & (places[:, 0] <= right)
        & (places[:, 1] >= bottom)
        & (places[:, 3] <= top)
    )
    return shown if shown.any() else ~shown


def page_box(page: int, turn: int) -> tuple[float, float, float, float]:
    """The page as it is shown: left, top, right, bottom."""
    if turn == 0:
        return pdf_raw.page_box(page)
    box = turned(np.array([pdf_raw.page_box(page)], np.float32), turn)[0]
    left, top, right, bottom = box.tolist()
    return left, top, right, bottom


def turned(boxes: Boxes, quarters: int) -> Boxes:
    """Boxes on a page that is shown turned clockwise by so many quarters."""
    left, top, right, bottom = boxes.T
    if quarters == 1:
        return np.stack([bottom, -left, top, -right], axis=1)
    if quarters == 2:
        return np.stack([-right, -bottom, -left, -top], axis=1)
    if quarters == 3:
        return np.stack([-top, right, -bottom, left], axis=1)
    return boxes


def _spans(text: str) -> list[tuple[str, int, int]]:
    """Each line that is not blank, without space at its ends, and where it is in the text.

    The ends count: pdfium makes up spaces there, which have neither size nor place.
    """
    spans: list[tuple[str, int, int]] = []
    start = 0
    for row in text.split("\r\n"):
        if HYPHEN in row:
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


def _sizes(text_page: int, firsts: Sequence[int], heights: Sequence[float]) -> list[float]:
    """Font sizes; characters of fonts of the same height are taken to be of the same size."""
    known: dict[int, float] = {}
    sizes = []
    for first, height in zip(firsts, heights, strict=True):
        key = int(height * 10)
        if key not in known:
            known[key] = pdf_raw.size(text_page, first)
        sizes.append(known[key])
    return sizes
