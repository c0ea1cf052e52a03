"""Where a text is best cut: heading > paragraph > row or item > sentence > line > word > character.

Everything searches a window of one chunk, so that a text is looked at a bounded number of times.
"""

import re
import unicodedata
from collections.abc import Callable

from ingest.pipeline.structure import Heading, read_structure

_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_CLOSING = r"[\"'”\u2019»)\]」』\uff09]{0,3}"
_SENTENCE_END = re.compile(
    rf"[.!?…]{_CLOSING}\s+(?=[^\sa-z])"  # a small letter goes on after an abbreviation
    rf"|[。\uff01\uff1f]{_CLOSING}"  # full-width marks need no space behind them
)
_LINE_END = re.compile(r"\n")
_SPACE = re.compile(r"\s")
_WORD_ENDS = (" ", "\n", "\t", "、", "\uff0c", "\uff1b")  # the last: full-width , and ;
_ZERO_WIDTH_JOINER = "\u200d"

# How full a chunk has to be before a boundary of that kind may end it.
_HEADING_FILL = 0.1
_FILL = 0.5

Position = int


class Boundaries:
    """The boundaries of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.structure = read_structure(text)

    def cut(
        self,
        *,
        after: Position,
        limit: Position,
        at: Callable[[float], Position],
        fits: Callable[[Position, Position], bool],
    ) -> Position:
        """The best place in (after, limit]. White space beside it belongs to nobody.

        `at` says where a chunk would be so full (0 to 1), `fits` whether a range of characters can
        be a chunk.
        """
        heading = self._heading(max(after + 1, at(_HEADING_FILL)), limit)
        if heading:
            return heading.start
        cut = self._below_heading(max(after + 1, at(_FILL)), limit)
        block = self.structure.block_around(cut)
        if block and block[0] > after and fits(*block):
            cut = block[0]
        return self._before_its_heading(cut, after)

    def resume(self, start: Position, end: Position) -> Position:
        """Where in [start, end] an overlap of at most that range should begin."""
        headings = self.structure.headings_between(start, end - 1)
        if headings:
            return headings[0].start
        row = self.structure.first_row(start, end)
        if row is not None:
            return row
        for pattern in (_SENTENCE_END, _LINE_END, _SPACE):
            match = pattern.search(self._text, start, end)
            if match and match.end() < end:
                return match.end()
        return self._between_characters(start, 0)

    def is_heading(self, position: Position) -> bool:
        """Whether `position` is where a heading starts, behind up to three spaces."""
        near = self.structure.headings_between(position - 3, position)
        return bool(near) and not self._text[near[-1].start : position].strip()

    def _heading(self, start: Position, limit: Position) -> Heading | None:
        """The last of the highest level: sections are worth more than full chunks."""
        found = self.structure.headings_between(start, limit)
        return min(reversed(found), key=_level) if found else None

    def _below_heading(self, start: Position, limit: Position) -> Position:
        for find in (
            self._paragraph,
            self.structure.last_row,
            self._sentence,
            self._line,
            self._word,
        ):
            cut = find(start, limit)
            if cut is not None:
                return cut
        return self._between_characters(limit, start)

    def _paragraph(self, start: Position, limit: Position) -> Position | None:
        blank = self._text.rfind("\n\n", start - 1, limit)
        if blank >= 0:
            return blank + 2
        ends = [match.end() for match in _BLANK_LINE.finditer(self._text, start - 1, limit)]
        return ends[-1] if ends else None

    def _sentence(self, start: Position, limit: Position) -> Position | None:
        matches = _SENTENCE_END.finditer(self._text, start - 1, limit + 1)
        ends = [match.end() for match in matches if match.end() <= limit]
        return ends[-1] if ends else None

    def _line(self, start: Position, limit: Position) -> Position | None:
        end = self._text.rfind("\n", start - 1, limit)
        return end + 1 if end >= 0 else None

    def _word(self, start: Position, limit: Position) -> Position | None:
        if limit == len(self._text) or self._text[limit - 1].isspace():
            return limit
        end = max(self._text.rfind(mark, start - 1, limit) for mark in _WORD_ENDS)
        return end + 1 if end >= 0 else None

    def _between_characters(self, cut: Position, lowest: Position) -> Position:
        """Back to where no accent or emoji is torn from what it belongs to."""
        for position in range(cut, max(lowest, cut - 16), -1):
            if self._text[position - 1] != _ZERO_WIDTH_JOINER and not self._attaches(position):
                return position
        return cut

    def _attaches(self, position: Position) -> bool:
        if position >= len(self._text):
            return False
        character = self._text[position]
        return character == _ZERO_WIDTH_JOINER or unicodedata.category(character).startswith("M")

    def _before_its_heading(self, cut: Position, after: Position) -> Position:
        """A heading goes with what follows it, never at the end of a chunk."""
        for heading in reversed(self.structure.headings_between(after + 1, cut - 1)):
            if self._text[heading.end : cut].strip():
                break
            cut = heading.start
        return cut


def _level(heading: Heading) -> int:
    return heading.level
