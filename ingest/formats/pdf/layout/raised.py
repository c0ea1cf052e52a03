"""Keeps raised and lowered figures apart: exponents, note marks, indices.

pdfium returns `2^10` as `210`, and often breaks the line behind a raised figure. Only figures are
looked at: `1st` stays as it is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.engine.pdfium import Box
from ingest.formats.pdf.layout.rotation import rotated
from ingest.formats.pdf.layout.spans import utf16_indices
from ingest.formats.pdf.layout.text_lines import Line, PageLines

# All of up to _LONGEST_MARK digits in a row, but no single one behind a space. Written so that it
# begins with a plain digit, which takes a fifteenth of the time.
_FIGURE = re.compile(r"\d(?:(?<=\S\d)\d{,2}|\d{1,2})(?!\d)(?<!\d\d\d\d)")
_SIGNS = "-\u2212\u2013"
_BEFORE_MARK = frozenset(")]”\u2019\"'.,;:!?")
_LONGEST_MARK = 3  # digits
_MOST_CANDIDATES = 200  # per page; tables of figures have more
_SMALLER = 0.85  # times the height of the text beside it
# Shares of that height: small figures on the same baseline are neither raised nor lowered.
_RAISED, _BELOW_TOP, _LOWERED = 0.12, 0.2, 0.02
_SUPER = str.maketrans("0123456789+-\u2212\u2013=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾")
_SUB = str.maketrans("0123456789+-\u2212\u2013=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
_MARKED = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
_JOINING = _MARKED | {"\N{FRACTION SLASH}"}
_FIGURES = frozenset("0123456789+-\u2212\u2013=(),")
_SPACE = 0.15  # font sizes between two words
_NEAR = 0.6  # font sizes between two parts of a line
_OVERLAP = 0.3  # share of the lower height by which two parts of a line overlap


def mark_raised(page: int, text_page: int, text: str, count: int, lines: PageLines) -> None:
    """Write raised and lowered figures with the characters of Unicode for them, one for one."""
    # A figure of another size is a text object of its own inside a line.
    if not lines.has_places or pdfium.count_objects(page) <= len(lines.lines):
        return
    ends = _candidates(text)
    if not 0 < len(ends) <= 3 * _MOST_CANDIDATES:
        return
    if count != len(text):
        ends = pdfium.chars_at_text(text_page, utf16_indices(text, ends))
    turn = lines.turn
    heights = [top - bottom for _, top, _, bottom in _boxes(text_page, ends, turn)]
    suspects = [
        (ends[at], ends[at + 2])
        for at in range(0, len(ends), 3)
        if 0 < heights[at + 1] < _SMALLER * heights[at]
        or 0 < heights[at + 2] < _SMALLER * heights[at + 1]
    ]
    if suspects:
        lines.has_raised = True
        _mark(text_page, turn, suspects, lines.lines)


def _candidates(text: str) -> list[int]:
    """Before, first and last character of figures that may be raised or lowered.

    Behind a letter, a bracket or a sign; or of several digits, as `2^10`, but no year. Ends behind
    _MOST_CANDIDATES.
    """
    ends: list[int] = []
    for match in _FIGURE.finditer(text):
        start, end = match.span()
        length = end - start
        before = text[start - 1] if start else " "
        if before in _SIGNS:
            if length < _LONGEST_MARK and start > 1 and text[start - 2] > " ":
                ends += (start - 2, start - 1, end - 1)
        elif before.isalpha() or before in _BEFORE_MARK:
            ends += (start - 1, start, end - 1)
        elif length > 1 and text[end : end + 1] not in ("", "."):
            ends += (start, start, end - 1)
        if len(ends) > 3 * _MOST_CANDIDATES:
            break
    return ends


def _mark(
    text_page: int, turn: int, suspects: Sequence[tuple[int, int]], lines: Sequence[Line]
) -> None:
    by_start = sorted(
        (line for line in lines if line.end - line.start == len(line.text)),
        key=lambda line: line.start,
    )
    starts = [line.start for line in by_start]
    for first, last in suspects:
        place = bisect_right(starts, last) - 1
        if place < 0 or last >= by_start[place].end:
            continue
        line = by_start[place]
        first = max(first, line.start)
        last = min(last + 2, line.end - 1)  # a mark may be followed by another: `1,2`
        boxes = _boxes(text_page, range(first, last + 1), turn)
        line.text = _marked(line.text, first - line.start, boxes)


def _marked(text: str, start: int, boxes: Sequence[Box]) -> str:
    characters = list(text)
    base = boxes[0]
    for place, box in enumerate(boxes[1:], start=start + 1):
        character = text[place]
        if character in _FIGURES and _differ(base, box):
            height = base[1] - base[3]
            if box[3] > base[3] + _RAISED * height and box[1] > base[1] - _BELOW_TOP * height:
                characters[place] = character.translate(_SUPER)
            elif box[3] < base[3] - _LOWERED * height:
                characters[place] = character.translate(_SUB)
        elif character != " ":
            base = box
    return "".join(characters)


def _boxes(text_page: int, characters: Sequence[int], turn: int) -> list[Box]:
    boxes = pdfium.char_boxes(text_page, characters)
    return [rotated(box, turn) for box in boxes] if turn else boxes


def _differ(base: Box, box: Box) -> bool:
    """Whether the second character is clearly smaller than the first."""
    return 0 < box[1] - box[3] < _SMALLER * (base[1] - base[3])


def join_broken(page: PageLines) -> None:
    """Join the parts of a line that pdfium broke at a raised or lowered figure."""
    if page.has_places and page.has_parts:
        joined = list(_joined(page.lines))
        page.has_raised = page.has_raised or len(joined) < len(page.lines)
        page.lines = joined


def _joined(lines: Sequence[Line]) -> Iterator[Line]:
    previous: Line | None = None
    was_small = False
    for line in lines:
        if previous is not None and _is_beside(previous, line):
            is_small = _is_small(line, previous)
            if is_small or was_small or {previous.text[-1], line.text[0]} & _JOINING:
                _append(previous, line, is_small=is_small)
                was_small = is_small
                continue
        if previous is not None:
            yield previous
        previous, was_small = line, False
    if previous is not None:
        yield previous


def _is_small(part: Line, line: Line) -> bool:
    return part.size < _SMALLER * line.size


def _is_beside(line: Line, part: Line) -> bool:
    """Whether a line goes on in this part."""
    if not line.kind == part.kind == "text" or not line.text or not part.text:
        return False
    size = max(line.size, part.size)
    gap = part.left - line.right
    overlap = min(line.top, part.top) - max(line.bottom, part.bottom)
    return -0.5 * size < gap < _NEAR * size and overlap > _OVERLAP * min(line.height, part.height)


def _append(line: Line, part: Line, *, is_small: bool) -> None:
    text = part.text
    if is_small and set(text) <= _FIGURES and part.bottom > line.bottom:
        text = text.translate(_SUPER)
    space = " " if part.left - line.right > _SPACE * max(line.size, part.size) else ""
    line.text = f"{line.text}{space}{text}"
    line.right = max(line.right, part.right)
    line.top, line.bottom = max(line.top, part.top), min(line.bottom, part.bottom)
    line.size = max(line.size, part.size)
