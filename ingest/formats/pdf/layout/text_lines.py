"""Lines of a page with their positions, in the rotation in which the page is shown."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from ingest.formats.common.markdown import plain
from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.engine.pdfium import Box
from ingest.formats.pdf.layout.baselines import FIRST_CJK, is_on_another, tall_from, unstacked
from ingest.formats.pdf.layout.broken_lines import mend_broken_lines
from ingest.formats.pdf.layout.rotation import rotated, turn_of, upright_turn
from ingest.formats.pdf.layout.spans import HYPHEN as HYPHEN
from ingest.formats.pdf.layout.spans import line_spans, utf16_indices

SLACK = 0.3
"""Share of a line's height by which neighbours may overlap."""
_TURNED = 3  # height by width; above this, text runs up or down the page
_WORD = re.compile(r"\S+")
HANGUL = re.compile("[\uac00-\ud7a3]")
_WIDE = 0.7  # font sizes per character; wider lines have gaps
_WIDER = 1.2  # times the page's median; wider lines may have gaps
_NOT_BEFORE_CELL = (",", ".", "…", "_")  # dot leaders, and page numbers in an index
_FIXED = 3  # lines of the same width per character
_FEWEST_CHARACTERS = 12  # of a line whose width per character is compared with the median

Kind = Literal["text", "table", "code", "running", "note"]
"""Running heads and feet, and footnotes, follow the text of their page, and are no headings."""


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of a table, and where its columns stand."""

    rows: list[list[str]]
    """Text by row and column, equally many in each; the first row is the header."""
    columns: list[tuple[float, float]]
    """Left and right edge of each column, in points."""


@dataclass(slots=True)
class Line:
    """A line of text, or a table or listing that replaced lines.

    Coordinates are points on the page as shown: x to the right, y upwards.
    """

    text: str
    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    size: float = 0.0
    """Font size in points: of the first character, of large type of the longest word."""
    start: int = 0
    """pdfium's index of its first character."""
    end: int = 0
    places: Sequence[int] | None = None
    """pdfium's index of each character, if they do not follow each other from `start`."""
    bold: bool = False
    """Set only for lines that may be headings."""
    stands_alone: bool = False
    """Whether there is room above it; set only for lines that may be such headings."""
    goes_on: bool = False
    """Whether it continues such a heading in bold."""
    level: int = 0
    """1 to 6 for a heading."""
    kind: Kind = "text"
    ends_word: bool = False
    """Whether the file has a space behind it; set only for Korean, which breaks inside words."""
    continues: bool = False
    """Whether its last word began here and went on in the line below, at a hyphen."""
    pitch: float = 0.0
    """Width of each character in points, if all are as wide; else 0."""
    table: Table | None = None
    """Of a table that was found by its rules or columns; `text` is its Markdown."""

    @property
    def height(self) -> float:
        """Height of the line or table in points."""
        return self.top - self.bottom

    @property
    def is_turned(self) -> bool:
        """Whether the text runs up or down the page, as a stamp in the margin does."""
        return len(self.text) > 3 and self.height > _TURNED * (self.right - self.left)

    def overlaps(self, other: "Line") -> bool:
        """Whether the lines share at least a tenth of the narrower one's width."""
        shared = min(self.right, other.right) - max(self.left, other.left)
        return shared > 0.1 * min(self.right - self.left, other.right - other.left)


@dataclass(frozen=True, slots=True)
class LinkedText:
    """Words of one line that link to the web."""

    text: str
    address: str
    x: float
    """Left edge, in points on the page as shown."""
    y: float
    """Middle of the line."""
    goes_on: bool = False
    """Whether the next of the page's linked texts belongs to the same link."""
    is_address: bool = False
    """Whether the text is part of the address."""


@dataclass(slots=True)
class PageLines:
    """Content of a page, in reading order."""

    lines: list[Line]
    box: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    """Left, top, right, bottom of the page as shown; zeros if positions are unknown."""
    turn: int = 0
    """Clockwise quarter turns of the page by which its text is upright: mostly as it is shown."""
    notes: list[str] = field(default_factory=list)
    """Markdown to follow the text: form values, comments."""
    off_page: list[str] = field(default_factory=list)
    """Text outside the page box."""
    links: list[LinkedText] = field(default_factory=list)
    jumps: bool = False
    """Whether a line is above its predecessor, as at the start of a column."""
    has_parts: bool = False
    """Whether a line begins where its predecessor ends, as behind a raised figure."""
    has_raised: bool = False
    """Whether figures were found that are raised or lowered."""
    gaps: set[int] = field(default_factory=set)
    """`start` of each line that is wider than its text, or stands beside another."""

    @property
    def has_places(self) -> bool:
        """Whether the lines have coordinates."""
        return self.box[2] > self.box[0]

    @property
    def text(self) -> str:
        """The lines, unchanged."""
        return "\n".join(line.text for line in self.lines)

    @property
    def plain_text(self) -> str:
        """The lines and notes, with Markdown escaped."""
        return plain("\n".join([self.text.replace(HYPHEN, "-"), *self.notes]))


def plain_lines(text: str) -> PageLines:
    """Lines of a text without positions."""
    return PageLines([Line(line) for line in text.splitlines()])


def read_lines(page: int, text_page: int, text: str, count: int) -> PageLines:
    """Lines in pdfium's order, which is mostly reading order."""
    spans = line_spans(text)
    if not spans:
        return PageLines([])
    ends = [index for _, start, end in spans for index in (start, end - 1)]
    if count != len(text):  # text and character indices differ: look each one up
        ends = pdfium.chars_at_text(text_page, utf16_indices(text, ends))
    turn = upright_turn(text_page, spans, ends, pdfium.rotation(page))
    boxes = pdfium.char_boxes(text_page, ends)
    if turn:
        boxes = [rotated(box, turn) for box in boxes]
    found = PageLines(_lines(spans, ends, boxes), rotated(pdfium.page_box(page), turn), turn)
    if not text.isascii() and HANGUL.search(text):
        for line, (_, _, end) in zip(found.lines, spans, strict=True):
            line.ends_word = text[end : end + 1] == " "
    _drop_off_page(found)
    found.lines = mend_broken_lines(text_page, turn, found.lines)
    _find_sizes(text_page, found.lines)
    tall = tall_from((line.top - line.bottom) / line.size for line in found.lines if line.size > 0)
    if any(line.top - line.bottom > tall * line.size > 0 for line in found.lines):
        found.lines = [
            part
            for line in found.lines
            for part in (
                _baselines(text_page, turn, line)
                if line.top - line.bottom > tall * line.size > 0
                else (line,)
            )
        ]
    _mark_suspects(found)
    return found


def _lines(
    spans: Sequence[tuple[str, int, int]], ends: Sequence[int], boxes: Sequence[Box]
) -> list[Line]:
    """Make a line of each span, from its first and last character and their boxes."""
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
    """Move lines outside the page box to `off_page`; if all are outside, keep them all."""
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
    """Set font sizes; lines of the same height are assumed to have the same size."""
    known: dict[float, float] = {}
    for line in lines:
        key = (line.top - line.bottom) * 10 // 1
        if key not in known:
            known[key] = pdfium.size(text_page, line.start)
        line.size = known[key]


def _loose(lines: Sequence[Line]) -> set[int]:
    """`start` of the lines that are wide for their number of characters."""
    widths = [(line.right - line.left) / (len(line.text) * (line.size or 12.0)) for line in lines]
    if not widths:
        return set()
    widest = min(_WIDE, _WIDER * sorted(widths)[len(widths) // 2])
    found = [place for place, width in enumerate(widths) if width > widest]
    # A fixed-width font has the same width per character in each line.
    fixed = Counter(int(500 * widths[place]) for place in found)
    return {
        lines[place].start
        for place in found
        if widths[place] > _WIDE
        or (
            len(lines[place].text) >= _FEWEST_CHARACTERS
            and fixed[int(500 * widths[place])] < _FIXED
        )
    }


def _baselines(text_page: int, turn: int, line: Line) -> Iterator[Line]:
    """The line, or its parts if pdfium put text of several baselines into it, as of short cells."""
    if line.end - line.start != len(line.text):
        yield line
        return
    words = [match.span() for match in _WORD.finditer(line.text)]
    may_be_stacked = max(line.text) < FIRST_CJK
    if may_be_stacked and turn_of(text_page, line.start) == turn:
        words = [part for word in words for part in unstacked(text_page, turn, line, word)]
    elif line.is_turned and not (may_be_stacked and turn_of(text_page, line.end - 1) == turn):
        yield line
        return
    ends = [line.start + place for start, end in words for place in (start, end - 1)]
    boxes = [rotated(box, turn) for box in pdfium.char_boxes(text_page, ends)]
    first = 0
    for index in range(1, len(words) + 1):
        if index < len(words) and not is_on_another(
            boxes[2 * first], boxes[2 * index - 1], boxes[2 * index], line.size
        ):
            continue
        start, end = words[first][0], words[index - 1][1]
        places = [line.start + start, line.start + end - 1]
        corners = [boxes[2 * first], boxes[2 * index - 1]]
        (part,) = _lines([(line.text[start:end], 0, 0)], places, corners)
        part.size = line.size
        yield part
        first = index


def _mark_suspects(page: PageLines) -> None:
    """Set `jumps` and `gaps`, which decide whether later steps examine the page."""
    gaps = _loose(page.lines)
    for previous, line in pairwise(page.lines):
        bottom = previous.bottom
        height = previous.top - bottom
        if line.bottom > previous.top - SLACK * height:
            page.jumps = True
        elif line.top > bottom + SLACK * height and line.left > previous.right - height:
            page.has_parts = True
        if (line.left >= previous.right and abs(line.bottom - bottom) < 0.5 * height) or (
            line.text[-1].isdigit()
            and previous.text[-1].isdigit()
            and not line.text.rpartition(" ")[0].endswith(_NOT_BEFORE_CELL)
        ):
            gaps.update((previous.start, line.start))
    page.gaps = gaps
