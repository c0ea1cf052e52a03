"""Tells which lines are bold, by the names of fonts and, where they differ, by their weights."""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.headings.candidates import DEEP, NUMBERED, candidates, continues
from ingest.formats.pdf.layout.text_lines import Line, PageLines

_BOLD = re.compile(rb"bold|black|heavy|demi|-bd|-blk|semibd|cmb|ssbx|sfbx|ecbx|-medi(?!um)")
_GAP = 1.5  # times the font size
_WORD = re.compile(r"\S+")
_LARGER = 1.05  # times the usual size of the page
_ITALIC = re.compile(rb"italic|oblique|slant|cmti|sfti|ecti|cmsl")


def find_bold(text_page: int, lines: PageLines) -> None:
    """Set `bold` and `goes_on` of lines that may be headings; correct the size of the large ones.

    In the size of the body, italics count as bold behind a number of several parts.
    """
    large = _correct_sizes(text_page, lines)
    found = candidates(lines.lines)
    if not found and not large:
        return

    @cache
    def weights_differ() -> bool:
        # Ghostscript states the weight of bold for plain fonts, too.
        longest = max(lines.lines, key=lambda line: len(line.text) if line.kind == "text" else 0)
        return not pdfium.is_heavy(text_page, longest.start)

    def is_bold(character: int) -> bool:
        return _BOLD.search(pdfium.font_name(text_page, character)) is not None or (
            pdfium.is_heavy(text_page, character) and weights_differ()
        )

    for line, character in large:
        line.bold = is_bold(character)
    for line in found:
        line.bold = is_bold(line.start) and (not line.stands_alone or is_bold(line.end - 1))
        if not line.bold and DEEP.match(line.text):
            line.bold = _is_italic(text_page, line)
        if line.bold and line.start in lines.gaps and _has_columns(text_page, lines, line):
            line.bold = line.stands_alone = False  # the header of a table
    for line, following in pairwise(lines.lines):
        is_first = line.stands_alone or NUMBERED.match(line.text)
        if line.bold and (is_first or line.goes_on) and continues(following, line):
            following.goes_on = is_bold(following.start) and is_bold(following.end - 1)
            following.bold = following.bold or following.goes_on


def _has_columns(text_page: int, page: PageLines, line: Line) -> bool:
    """Whether there is a wide gap between two of its words, other than its number."""
    if page.turn or line.end - line.start != len(line.text):
        return False
    words = [match.span() for match in _WORD.finditer(line.text)]
    if NUMBERED.match(line.text):
        del words[0]
    ends = [line.start + place for start, end in words for place in (start, end - 1)]
    boxes = pdfium.char_boxes(text_page, ends)
    gaps = zip(boxes[1::2], boxes[2::2], strict=False)
    return any(following[0] - box[2] > _GAP * line.size for box, following in gaps)


def _correct_sizes(text_page: int, page: PageLines) -> list[tuple[Line, int]]:
    """The lines in large type, each with a character of its longest word.

    Until here, a line's size is that of its first character, which may be a number in the margin
    or an initial, or of another line of the same height, which a raised mark changes.
    """
    text = [line for line in page.lines if line.kind == "text" and line.end > line.start]
    by_height: dict[float, list[Line]] = defaultdict(list)
    for line in text:
        by_height[line.height * 10 // 1].append(line)
    for alike in by_height.values():
        longest = max(alike, key=lambda line: len(line.text))
        before = longest.size
        _measure(text_page, longest)
        is_right = abs(longest.size - before) < 0.01 * before
        for line in alike:
            if not is_right or line.text[0].isdecimal():
                _measure(text_page, line)
    usual = _usual_size(text)
    large = []
    for line in text:
        if line.size > _LARGER * usual:
            character = _measure(text_page, line)
            if line.size > _LARGER * usual:
                large.append((line, character))
    return large


def _measure(text_page: int, line: Line) -> int:
    """Set the line's size to that of its longest word; return a character of it."""
    character = line.start
    if line.end - line.start == len(line.text):
        character += line.text.find(max(line.text.split(), key=len, default=""))
    line.size = pdfium.size(text_page, character) or line.size
    return character


def _usual_size(lines: Sequence[Line]) -> float:
    sizes: dict[float, int] = defaultdict(int)
    for line in lines:
        sizes[line.size] += len(line.text)
    return max(sizes, key=sizes.__getitem__, default=0.0)


def _is_italic(text_page: int, line: Line) -> bool:
    ends = line.start, line.end - 1
    return all(_ITALIC.search(pdfium.font_name(text_page, end)) for end in ends)
