"""The distance of the lines of a paragraph, which tells where the next paragraph begins."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from ingest.formats.common.letter_order import RIGHT_TO_LEFT
from ingest.formats.pdf.layout.line_ends import END_OF_SENTENCE
from ingest.formats.pdf.layout.text_lines import Line

_FEWEST = 3  # pairs of lines
_LONG = 20  # characters of a line of text, not of a list
_MORE = 1.12  # times the usual distance of the lines of a paragraph
_MORE_THAN_MOST = 1.05  # times the widest distance
_RARE = 8  # lines, of which one may be farther apart by mistake

_OF_OTHER_FONT = re.compile("[0-9A-Za-z]")


def widest_pitches(lines: Sequence[Line]) -> dict[float, float]:
    """By font size: the widest distance between lines of a paragraph, in points.

    Measured where a sentence goes on for certain. Lines with a formula, or with letters of another
    script, may be farther apart than others.
    """
    found: dict[float, list[float]] = defaultdict(list)
    for line, following in pairwise(lines):
        if (
            line.kind == following.kind
            and line.size == following.size
            and len(line.text) > _LONG
            and _goes_on(following.text)
            and not line.text.endswith(END_OF_SENTENCE)
            and (distance := _distance(line, following)) > 0
        ):
            found[line.size].append(distance)
    return {
        size: _widest(sorted(distances))
        for size, distances in found.items()
        if len(distances) >= _FEWEST
    }


def _widest(distances: Sequence[float]) -> float:
    count = len(distances)
    return max(_MORE * distances[count // 2], _MORE_THAN_MOST * distances[-1 - count // _RARE])


def is_new_paragraph(line: Line, following: Line, pitches: Mapping[float, float]) -> bool:
    """Whether a sentence ends above a gap that is wider than between the lines of a paragraph."""
    pitch = pitches.get(line.size)
    return (
        pitch is not None
        and line.text.endswith(END_OF_SENTENCE)
        and line.size == following.size
        and not following.text[:1].islower()
        and not _is_mixed(following.text)
        and _distance(line, following) > pitch
    )


def _is_mixed(text: str) -> bool:
    """Whether the line may be higher than others, as figures have a font of their own in it."""
    return RIGHT_TO_LEFT.search(text) is not None and _OF_OTHER_FONT.search(text) is not None


def _goes_on(text: str) -> bool:
    """Whether the text begins with a small letter, or one of a script without capitals."""
    return text[:1].isalpha() and not text[0].isupper()


def _distance(line: Line, following: Line) -> float:
    """The lesser one: a line may begin or end with characters that are higher or deeper."""
    return min(line.top - following.top, line.bottom - following.bottom)
