"""Finds headings that nothing but their words and the room around them tells from the text.

Documents with one font only: numbers that count as those of sections do, or capitals. Used if
nothing else was found.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.formats.pdf.headings.candidates import NO_HEADING_END, NUMBERED, is_title
from ingest.formats.pdf.layout.text_lines import Line, PageLines

_FEWEST = 3  # headings, to be sure that they are any
_LONGEST = 80  # characters
_WIDEST = 0.8  # of the width of the text
_WIDE = 0.95  # font sizes per character; wider lines have gaps, as the header of a table
_APART = 0.4  # line heights above a heading
_OFTEN = 4  # times
_TEXT = 120  # characters of text to each heading, on average
_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,4}(?!\))")
_SENTENCES = re.compile(r"[^\W\d_]{3,}[.;] ")  # not a heading: it goes on
_WORDS = re.compile(r"\d\s+[^\W\d_a-zß-ÿа-я]|\.\s+[^\W\d_a-zß-ÿа-я]")  # no small first letter


def find_plain(pages: Sequence[PageLines], skipped: set[int]) -> list[Line]:
    """The headings; `skipped` are the ids of lines of tables of contents."""
    alone = [
        (line, below)
        for page in pages
        if page.has_places
        for line, below in _alone(page)
        if id(line) not in skipped
    ]
    length = sum(len(line.text) for page in pages for line in page.lines)
    for found in (_counted(alone), _in_capitals(alone)):
        if _FEWEST <= len(found) <= length / _TEXT:
            return found
    return []


def _alone(page: PageLines) -> Iterator[tuple[Line, Line | None]]:
    """Short lines with room above, each with the line below, which may be on the next page."""
    text = [line for line in page.lines if line.text and line.kind == "text"]
    width = max((line.right for line in text), default=0) - min(
        (line.left for line in text), default=0
    )
    above: Line | None = None
    for line, below in pairwise([*text, None]):
        if line is None:
            continue
        has_room = above is None or above.bottom - line.top > _APART * line.height
        if (
            (has_room or (above is not None and line.bottom > above.top))
            and len(line.text) <= _LONGEST
            and line.right - line.left < _WIDEST * width
            and line.right - line.left < _WIDE * line.size * len(line.text)
            and not line.text.rstrip().endswith(NO_HEADING_END)
            and not (below is not None and below.text[0].islower())
            and is_title(line.text)
            and _SENTENCES.search(line.text) is None
        ):
            yield line, below
        above = line


def _counted(alone: Sequence[tuple[Line, Line | None]]) -> list[Line]:
    """Lines whose numbers count from 1 as those of sections do: 1, 1.1, 1.2, 2.

    None if two of them follow one another like items.
    """
    found = []
    at: list[int] = []
    below_last: Line | None = None
    for line, below in alone:
        match = _NUMBER.match(line.text)
        if match is None or not NUMBERED.match(line.text):
            continue
        number = [int(part) for part in match.group().split(".")]
        if _WORDS.search(line.text) and number in (
            [*at, 1],
            *([*at[:depth], at[depth] + 1] for depth in range(len(at))),
        ):
            if line is below_last and len(number) <= len(at):
                return []
            at, below_last = number, below
            found.append(line)
    return found


def _in_capitals(alone: Sequence[tuple[Line, Line | None]]) -> list[Line]:
    """Lines in capitals above text that is not; a line repeated often names who speaks."""
    found = [
        line
        for line, below in alone
        if line.text.isupper() and (below is None or not below.text.isupper())
    ]
    times = Counter(line.text for line in found)
    return [line for line in found if times[line.text] < _OFTEN]
