"""Puts lines together that pdfium broke at single characters, and takes apart those it joined.

Where the text of a page fills its height more than its width, as that of receipts and many
invoices, pdfium takes text for vertical if each character is set by itself. Programs that place
characters on whole pixels do so, among them browsers without a screen.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.layout.rotation import rotated
from ingest.formats.pdf.layout.spans import HYPHEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ingest.formats.pdf.engine.pdfium import Box
    from ingest.formats.pdf.layout.text_lines import Line

_WORD = re.compile(r"\S+")
_FEWEST = 3  # breaks; fewer are raised figures, or cells
_LEVEL = 0.1  # line heights between the bottoms of two parts of a line
_AS_HIGH = 0.02  # the same between their heights; those with a raised figure are higher
_OTHER = 0.3  # the same between the bottoms of two lines
_NEAR = 0.6  # line heights between two parts of the same words
_BEFORE = 0.3  # line heights by which a part may begin inside the one before it
_SPACE = 0.12  # line heights between two words


def mend_broken_lines(text_page: int, turn: int, lines: list[Line]) -> list[Line]:
    """One line for all text that follows at the same height, as pdfium makes them elsewhere.

    The same list if pdfium broke no words. `turn` as for rotated().
    """
    breaks = sum(_goes_on(line, part) and _is_near(line, part) for line, part in pairwise(lines))
    if breaks < _FEWEST:
        return lines
    parts = [part for line in lines for part in _apart(text_page, turn, line)]
    groups = [parts[:1]]
    for part, following in pairwise(parts):
        if _goes_on(part, following):
            groups[-1].append(following)
        else:
            groups.append([following])
    return [_joined(group) if len(group) > 1 else group[0] for group in groups]


def _goes_on(line: Line, part: Line) -> bool:
    height = line.top - line.bottom
    return (
        part.left > line.right - _BEFORE * height
        and abs(part.bottom - line.bottom) < _LEVEL * height
        and abs(part.top - part.bottom - height) < _AS_HIGH * height
    )


def _is_near(line: Line, part: Line) -> bool:
    """Whether a single character is set close to the rest of its line."""
    is_single = len(line.text) == 1 or len(part.text) == 1
    return is_single and part.left - line.right < _NEAR * line.height


def _apart(text_page: int, turn: int, line: Line) -> Iterator[Line]:
    """The line, or its parts if words of other lines follow in it."""
    words = [match.span() for match in _WORD.finditer(line.text)]
    if len(words) < 2 or line.end - line.start != len(line.text):
        yield line
        return
    ends = [line.start + place for start, end in words for place in (start, end - 1)]
    boxes = [rotated(box, turn) for box in pdfium.char_boxes(text_page, ends)]
    first = 0
    for index in range(1, len(words) + 1):
        if index < len(words) and not _is_elsewhere(boxes[2 * index - 1], boxes[2 * index]):
            continue
        start, end = words[first][0], words[index - 1][1]
        left, tops, rights, bottoms = zip(*boxes[2 * first : 2 * index], strict=True)
        yield replace(
            line,
            text=line.text[start:end],
            left=min(left),
            top=max(tops),
            right=max(rights),
            bottom=min(bottoms),
            start=line.start + start,
            end=line.start + end,
        )
        first = index


def _is_elsewhere(before: Box, box: Box) -> bool:
    """Whether a word begins another line than the character before it; marks are smaller."""
    height = before[1] - before[3]
    if box[0] < before[2] - _BEFORE * height:
        return True
    is_as_high = abs(box[1] - box[3] - height) < _LEVEL * height
    return is_as_high and abs(box[3] - before[3]) > _OTHER * height


def _joined(parts: Sequence[Line]) -> Line:
    text = ""
    places: list[int] = []
    for before, part in zip([None, *parts], parts, strict=False):
        if before is not None and part.left - before.right > _SPACE * part.height:
            text += " "
            places.append(before.end)  # of the line break or space behind it
        text += part.text if part is parts[-1] else part.text.replace(HYPHEN, "-")
        places += range(part.start, part.end)
    return replace(
        parts[0],
        text=text,
        left=min(part.left for part in parts),
        top=max(part.top for part in parts),
        right=max(part.right for part in parts),
        bottom=min(part.bottom for part in parts),
        end=parts[-1].end,
        places=places if len(places) == len(text) else None,
    )
