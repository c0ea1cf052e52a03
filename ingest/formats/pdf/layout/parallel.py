"""Splits lines across two columns of prose that the file writes line by line: parallel texts.

Each block is then read column by column: first its left, then its right half.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.formats.common.letter_order import RIGHT_TO_LEFT
from ingest.formats.pdf.layout.text_lines import Line, PageLines
from ingest.formats.pdf.tables.cells import Glyphs

_FEWEST = 3  # lines across both columns
_WIDE = 0.45  # of the page's width
_CLOSE = 0.6  # line heights between the lines of a block
_GUTTER = 0.8  # font sizes that all lines leave free at the same place; no prose does by chance
_LONG = 20.0  # mean characters of a line of a column; cells of tables are shorter
_GOES_ON = 0.4  # share of a column's lines that go on a sentence

_Gap = tuple[float, float]
"""Left and right end of what is free between two words, in points."""


def split_parallel(page: PageLines, text_page: int) -> None:
    """In doubt, lines stay whole."""
    glyphs = Glyphs(text_page, page.turn)
    if not _may_be_parallel(page, glyphs):
        return
    ordered: list[Line] = []
    for block in _blocks(page.lines):
        ordered += _columns(page, block, glyphs) or block
    page.lines = ordered


def _may_be_parallel(page: PageLines, glyphs: Glyphs) -> bool:
    """A cheap test: whether the middle one of consecutive wide lines has a gap."""
    least = _WIDE * (page.box[2] - page.box[0])
    some: list[Line] = []
    run: list[Line] = []
    for line in [*page.lines, None]:
        if line is not None and line.right - line.left > least:
            run.append(line)
            continue
        if len(run) >= _FEWEST and glyphs.has_positions(run[len(run) // 2]):
            some.append(run[len(run) // 2])
        run.clear()
    if not some:
        return False
    glyphs.load_words(some)
    return any(len(_gaps(line, glyphs)) == 1 for line in some)


def _blocks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Lines of one size close below or beside each other; every line is in one block."""
    block: list[Line] = []
    for line in lines:
        if block:
            above = block[-1]
            gap = min(other.bottom for other in block[-2:]) - line.top
            is_near = -1.5 * line.height < gap < _CLOSE * line.height
            is_alike = abs(above.size - line.size) <= 0.1 * above.size and line.kind == "text"
            if not is_near or not is_alike:
                yield block
                block = []
        block.append(line)
    if block:
        yield block


def _columns(page: PageLines, block: Sequence[Line], glyphs: Glyphs) -> list[Line] | None:
    """The left halves of the lines, then the right ones; None if there are no two columns."""
    least = _WIDE * (page.box[2] - page.box[0])
    wide = [line for line in block if line.right - line.left > least and glyphs.has_positions(line)]
    if len(wide) < _FEWEST:
        return None
    middle = len(wide) // 2
    glyphs.load_words(wide[middle - 1 : middle + 1])
    if not all(_gaps(line, glyphs) for line in wide[middle - 1 : middle + 1]):
        return None
    glyphs.load_words(wide)
    gutter = _gutter(wide, glyphs)
    if gutter is None:
        return None
    x = sum(gutter) / 2
    left: list[Line] = []
    right: list[Line] = []
    for line in block:
        if line.right <= x:
            left.append(line)
        elif line.left >= x:
            right.append(line)
        elif line.left < x < line.right and glyphs.has_positions(line):
            halves = _halves(line, x, glyphs)
            if halves is None:
                return None
            left.append(halves[0])
            right.append(halves[1])
        else:
            return None
    return [*left, *right] if _is_prose(left) and _is_prose(right) else None


def _gaps(line: Line, glyphs: Glyphs) -> list[_Gap]:
    """What is wider than the space between two words."""
    least = _GUTTER * line.size
    words = glyphs.words(line)
    return [(w[3], other[2]) for w, other in pairwise(words) if other[2] - w[3] >= least > 0]


def _gutter(lines: Sequence[Line], glyphs: Glyphs) -> _Gap | None:
    """What all these lines leave free at one place; None if a line has no gap there, or another."""
    found: _Gap | None = None
    for line in lines:
        gaps = _gaps(line, glyphs)
        if len(gaps) != 1:
            return None
        (left, right) = gaps[0]
        found = (left, right) if found is None else (max(found[0], left), min(found[1], right))
        if found[1] - found[0] < _GUTTER * line.size:
            return None
    return found


def _halves(line: Line, x: float, glyphs: Glyphs) -> tuple[Line, Line] | None:
    """None if the line leaves no gutter there, as one that is centred below both columns."""
    words = glyphs.words(line)
    for behind, (word, other) in enumerate(pairwise(words), start=1):
        if word[3] <= x <= other[2] and other[2] - word[3] >= _GUTTER * line.size:
            return _part(line, words[:behind]), _part(line, words[behind:])
    return None


def _part(line: Line, words: Sequence[tuple[int, int, float, float]]) -> Line:
    start, end = words[0][0], words[-1][1]
    return Line(
        line.text[start:end],
        min(word[2] for word in words),
        line.top,
        max(word[3] for word in words),
        line.bottom,
        line.size,
        line.start + start,
        line.start + end,
    )


def _is_prose(lines: Sequence[Line]) -> bool:
    """Whether lines are long, and mostly go on in the middle of a sentence."""
    if len(lines) < _FEWEST or sum(len(line.text) for line in lines) < _LONG * len(lines):
        return False
    if any(RIGHT_TO_LEFT.search(line.text) for line in lines):
        return False
    going_on = sum(line.text[0].islower() for line in lines[1:])
    return going_on >= _GOES_ON * (len(lines) - 1)
