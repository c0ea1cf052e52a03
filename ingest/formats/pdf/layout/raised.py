"""Keeps raised and lowered figures apart: exponents, note marks, indices.

pdfium returns `2^10` as `210`, and often breaks the line behind a raised figure. Only figures are
looked at: `1st` stays as it is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice

from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.engine.pdfium import Box
from ingest.formats.pdf.layout.rotation import rotated
from ingest.formats.pdf.layout.spans import utf16_indices
from ingest.formats.pdf.layout.text_lines import Line, PageLines

# All of up to _LONGEST_MARK digits in a row, but no single one behind a space. Written so that it
# begins with a plain digit, which takes a fifteenth of the time.
_FIGURE = re.compile(r"\d(?:(?<=\S\d)\d{,2}|\d{1,2})(?!\d)(?<!\d\d\d\d)")
# Figures that may end in a mark, as `8,935,112³` or `2020¹`; figures behind a space or line break,
# but none of a fraction.
_LONG_FIGURE = re.compile(r"\d{4,}")
_SPACED = re.compile(r"\d(?<=[ \n]\d)\d?(?=[\s,]|$)(?!\s*[/\u2044])")
_MARK_IN_BRACKETS = re.compile(r"\[(?:\d{1,3}|[a-z]{1,2})\]$")
_SIGNS = "-\u2212\u2013"
_BEFORE_MARK = frozenset(")]”\u2019\"'.,;:!?")
_BETWEEN = " \r\n" + "".join(_BEFORE_MARK)
_LONGEST_MARK = 3  # digits
_LONGEST_FIGURE = 6  # digits, with those of its mark
_FARTHEST_BEFORE = 5  # characters from the last letter to a figure, with a line break
_MOST_CANDIDATES = 200  # per page; tables of figures have more
_SMALLER = 0.85  # times the height of the text beside it
# Shares of that height: small figures on the same baseline are neither raised nor lowered.
_RAISED, _BELOW_TOP, _LOWERED = 0.12, 0.2, 0.02
_SUPER = str.maketrans("0123456789+-\u2212\u2013=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾")
_SUB = str.maketrans("0123456789+-\u2212\u2013=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
MARKED = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
"""Raised and lowered figures and signs, as mark_raised() writes them."""
_JOINING = MARKED | {"\N{FRACTION SLASH}"}
_LARGE_LETTERS = "\u0590"  # figures are smaller than letters behind it, as those of Chinese
_LONG_NOTE = 12  # characters; less is no note
_FIGURES = frozenset("0123456789+-\u2212\u2013=(),")
_SPACE = 0.15  # font sizes between two words
_NEAR = 0.6  # font sizes between two parts of a line
_FARTHEST = 1.0  # times the height of a letter, from it to the mark behind it
_OVERLAP = 0.3  # share of the lower height by which two parts of a line overlap


def mark_raised(page: int, text_page: int, text: str, count: int, lines: PageLines) -> None:
    """Write raised and lowered figures with the characters of Unicode for them, one for one."""
    # A figure of another size is a text object of its own inside a line.
    if not lines.has_places or pdfium.count_objects(page) <= len(lines.lines):
        return
    spaced = _spaced(text)
    ends = _candidates(text) + _long(text) + spaced
    if not ends:
        return
    first_spaced = len(ends) - len(spaced)
    if count != len(text):
        ends = pdfium.chars_at_text(text_page, utf16_indices(text, ends))
    turn = lines.turn
    heights = [top - bottom for _, top, _, bottom in _boxes(text_page, ends, turn)]
    suspects = [
        (ends[at], ends[at + 1], ends[at + 2], at >= first_spaced)
        for at in range(0, len(ends), 3)
        if 0 < heights[at + 1] < _SMALLER * heights[at]
        or 0 < heights[at + 2] < _SMALLER * heights[at + 1]
    ]
    if suspects:
        lines.has_raised = True
        _mark(text_page, turn, suspects, lines.lines)


def _candidates(text: str) -> list[int]:
    """Before, first and last character of figures that may be raised or lowered.

    Behind a letter, a bracket or a sign; or of several digits, as `2^10`, but no year. None where
    more than _MOST_CANDIDATES are.
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
            return []
    return ends


def _long(text: str) -> list[int]:
    """The same for the last digits of long figures."""
    spans = (match.span() for match in _LONG_FIGURE.finditer(text))
    some = ((start, end) for start, end in spans if end - start <= _LONGEST_FIGURE)
    found = list(islice(some, _MOST_CANDIDATES + 1))
    if len(found) > _MOST_CANDIDATES:
        return []
    return [place for start, end in found for place in (start, start, end - 1)]


def _spaced(text: str) -> list[int]:
    """The same for figures behind a space or line break."""
    ends: list[int] = []
    for match in _SPACED.finditer(text):
        first = max(match.start() - _FARTHEST_BEFORE, 0)
        head = text[first : match.start()].rstrip(_BETWEEN)
        before = first + len(head) - 1
        if not head[-1:].isalnum():
            continue
        if text[before] < _LARGE_LETTERS:
            ends += (before, match.start(), match.end() - 1)
        if len(ends) > 3 * _MOST_CANDIDATES:
            return []
    return ends


def _mark(
    text_page: int,
    turn: int,
    suspects: Sequence[tuple[int, int, int, bool]],
    lines: Sequence[Line],
) -> None:
    """`suspects`: before, first and last character, and whether there is a space before it."""
    by_start = sorted(
        (line for line in lines if line.end - line.start == len(line.text)),
        key=lambda line: line.start,
    )
    starts = [line.start for line in by_start]
    for before, first, last, is_spaced in suspects:
        place = bisect_right(starts, last) - 1
        if place < 0 or last >= by_start[place].end:
            continue
        line = by_start[place]
        first = max(first, before + 1, line.start)
        last = min(last + 2, line.end - 1)  # a mark may be followed by another: `1,2`
        boxes = _boxes(text_page, [before, *range(first, last + 1)], turn)
        if is_spaced and (
            pdfium.size(text_page, first) >= _SMALLER * pdfium.size(text_page, before)
            or not _is_beside_top(boxes[0], boxes[1])
            or _is_over_another(boxes[0], boxes[1], lines)
        ):
            continue
        line.text = _marked(line.text, first - 1 - line.start, boxes)


def _is_beside_top(base: Box, mark: Box) -> bool:
    """Whether a character is raised close behind another."""
    height = base[1] - base[3]
    return (
        height > 0
        and -_NEAR < (mark[0] - base[2]) / height < _FARTHEST
        and mark[3] > base[3] + _RAISED * height
    )


def _is_over_another(base: Box, mark: Box, lines: Sequence[Line]) -> bool:
    """Whether something as short stands below a raised character, as in a fraction."""
    height = base[1] - base[3]
    return any(
        base[3] - height < line.bottom < base[3]
        and line.top < base[3] + 0.5 * height
        and line.left < mark[2]
        and mark[0] < line.right < mark[2] + height
        for line in lines
    )


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
            if _is_small(previous, line) and is_mark_of_note(previous.text, line.text):
                if line.left - previous.right <= _SPACE * line.size:
                    previous.text += " "
                _append(previous, line, is_small=False)
                was_small = False
                continue
            is_small = _is_small(line, previous)
            is_behind_mark = _MARK_IN_BRACKETS.search(previous.text) is not None
            if (
                is_small
                or was_small
                or is_behind_mark
                or {previous.text[-1], line.text[0]} & _JOINING
            ):
                _append(previous, line, is_small=is_small)
                was_small = is_small
                continue
        if previous is not None:
            yield previous
        previous, was_small = line, False
    if previous is not None:
        yield previous


def is_mark_of_note(part: str, text: str) -> bool:
    """Whether a small part of a line before this text may be the mark of a note."""
    is_figure = part.isdecimal() and len(part) <= _LONGEST_MARK
    return is_figure and text[:1].isalpha() and len(text) > _LONG_NOTE


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
