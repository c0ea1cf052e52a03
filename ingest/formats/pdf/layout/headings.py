"""Finds headings by the outline, by a clearly larger font, and by numbers in bold type.

Precision over recall: a false heading splits a passage, a missing one costs little.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from ingest.formats.pdf.layout.text_lines import Line, PageLines

_LARGER = 1.15  # times the body's font size
_LONGEST = 150  # characters in a line of a heading
_MOST_LINES = 3  # lines of a heading
_DEEPEST = 4  # heading levels by font size
_FEWEST_WORDS = 30  # words in the document, for font sizes to be meaningful
_MOST = 0.35  # share of all lines; above this, large type does not mean a heading
_NUMBERED = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,4}\.?|[A-Z]\.|[IVX]{1,5}\.)\s+[^\W\d_]")
_FIRST = frozenset("0123456789ABCDEFGHIVX")  # first characters that _NUMBERED can match
_LEADERS = re.compile(r"(?:[.·…_]\s?){3}")  # dot leaders in a table of contents
_NO_LETTERS = re.compile(r"[\W\d_]+")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_NO_HEADING_END = (".", ",", ";", ":", "-", "\ufffe", "…")

Bookmark = tuple[int, int, str]
"""Index of the target page, level from 1, title."""


def numbered(lines: Sequence[Line]) -> list[Line]:
    """Lines that look like numbered headings; only for these is the font looked up."""
    return [
        line
        for line in lines
        if line.text[:1] in _FIRST
        and len(line.text) <= _LONGEST
        and _NUMBERED.match(line.text) is not None
        and not line.text.rstrip().endswith(_NO_HEADING_END)
    ]


def mark_headings(pages: Sequence[PageLines], outline: Sequence[Bookmark]) -> None:
    """Set the level of each heading; merge headings that span several lines."""
    lines = [line for page in pages if page.has_places for line in page.lines]
    body = _body_size(lines)
    if body is not None:
        _by_size(pages, lines, body)
        _by_number(lines, body)
    for index, level, title in outline:
        if index < len(pages):
            _by_outline(pages[index], level, title)


def _body_size(lines: Sequence[Line]) -> float | None:
    """The font size of most of the text; None if there is too little text."""
    lengths: dict[float, int] = defaultdict(int)
    for line in lines:
        if line.kind == "text":
            lengths[line.size] += len(line.text)
    sizes: Counter[float] = Counter()
    for size, length in lengths.items():
        if size > 0:
            sizes[round(size, 1)] += length
    if sizes.total() < 5 * _FEWEST_WORDS:
        return None
    return sizes.most_common(1)[0][0]


def _by_size(pages: Sequence[PageLines], lines: Sequence[Line], body: float) -> None:
    found = [
        group for page in pages if page.has_places for group in _large_groups(page.lines, body)
    ]
    if not found or sum(map(len, found)) > _MOST * len(lines):
        return
    levels = _levels({round(group[0].size, 1) for group in found})
    for group in found:
        group[0].level = levels[round(group[0].size, 1)]
        _join(group)


def _large_groups(lines: Sequence[Line], body: float) -> list[list[Line]]:
    """Groups of lines that form one heading: large, of the same size, close together."""
    groups: list[list[Line]] = []
    previous: Line | None = None
    for line in lines:
        if line.kind != "text" or line.size < _LARGER * body or len(line.text) > _LONGEST:
            previous = None
            continue
        if previous is not None and _belongs(line, previous):
            groups[-1].append(line)
        else:
            groups.append([line])
        previous = line
    return [group for group in groups if len(group) <= _MOST_LINES and _is_title(group)]


def _belongs(line: Line, previous: Line) -> bool:
    """Whether a line continues the heading above it."""
    if _NUMBERED.match(line.text):  # the next numbered heading
        return False
    gap = previous.bottom - line.top
    return abs(line.size - previous.size) < 0.5 and -line.height < gap < 0.6 * line.height


def _is_title(group: Sequence[Line]) -> bool:
    text = " ".join(line.text for line in group).strip()
    return (
        _LETTERS.search(text) is not None
        and _LEADERS.search(text) is None
        and not text.endswith((",", ";"))
    )


def _levels(sizes: set[float]) -> dict[float, int]:
    """Level by font size; sizes that differ by less than 5% share a level."""
    levels: dict[float, int] = {}
    level = 0
    above = float("inf")
    for size in sorted(sizes, reverse=True):
        if size < 0.95 * above:
            level = min(level + 1, _DEEPEST)
            above = size
        levels[size] = level
    return levels


def _by_number(lines: Sequence[Line], body: float) -> None:
    """Mark bold numbered lines that are not smaller than the body."""
    bold = [line for line in lines if line.bold and line.text]  # skip lines that _join() emptied
    deepest = max((line.level for line in lines), default=0) if bold else 0
    for line in bold:
        if not line.level and line.kind == "text" and line.size >= 0.95 * body:
            number = line.text.split(maxsplit=1)[0].rstrip(".")
            line.level = min(deepest + 1 + number.count("."), 6)


def _by_outline(page: PageLines, level: int, title: str) -> None:
    """Mark the line, or the two adjacent lines, whose text equals the bookmark's title."""
    wanted = _plain(title)
    if len(wanted) < 3:
        return
    short = [line for line in page.lines if line.kind == "text" and len(line.text) <= _LONGEST]
    for line in short:
        if _plain(line.text) == wanted:
            line.level = min(level, 6)
            return
    for line, following in pairwise(short):
        if _plain(line.text + following.text) == wanted:
            line.level = min(level, 6)
            _join([line, following])
            return


def _join(group: Sequence[Line]) -> None:
    """Merge a heading into its first line; the rest stay in the list with empty text."""
    group[0].text = " ".join(line.text.strip() for line in group)
    for line in group[1:]:
        line.text, line.level = "", 0


def _plain(text: str) -> str:
    """Letters only: outline and page differ in numbers and spaces."""
    return _NO_LETTERS.sub("", text).lower()
