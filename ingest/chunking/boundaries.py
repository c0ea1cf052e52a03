"""Chooses where to cut a text: heading > paragraph > row or item > cell > sentence > line > word.

Each search covers a window of at most one chunk, so the number of passes over a text is bounded.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence

from ingest.chunking.sentences import Sentences
from ingest.chunking.structure import Heading, Position, Structure

_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_LINE_END = re.compile(r"\n")
_SPACE = re.compile(r"\s")
_WORD_ENDS = (" ", "\n", "\t", "、", "\uff0c", "\uff1b")  # the last two: full-width , and ;
_MOST_ABBREVIATIONS = 8  # in a row: `Prof. Dr. h. c.`
_INDENT = 3  # spaces before a heading, at most
_ZERO_WIDTH_JOINER = "\u200d"
# Matches before the bar of a non-empty cell, and before the next `key: ` of a record.
_CELL = re.compile(r"(?<!\\)(?=\|[ \t]*[^\s|])")
_FIELD = re.compile(r"(?<=; )(?=[^:;\n]{1,60}: )")

# How full a chunk must be (0 to 1) before a boundary of that kind may end it.
_HEADING_FILL = 0.1
_FILL = 0.5
_FILL_BY_SIZE = 0.75


class Boundaries:
    """The boundaries of one text. `by_size`: full chunks matter more than structure."""

    def __init__(self, text: str, structure: Structure, *, by_size: bool = False) -> None:
        self._text = text
        self._by_size = by_size
        self._heading_fill = _FILL_BY_SIZE if by_size else _HEADING_FILL
        self._fill = _FILL_BY_SIZE if by_size else _FILL
        self._sentences = Sentences(text)
        self.structure = structure

    def cut(
        self,
        *,
        after: Position,
        limit: Position,
        at: Callable[[float], Position],
        fits: Callable[[Position, Position], bool],
    ) -> Position:
        """The best place in (after, limit]. White space next to the cut belongs to no chunk.

        `at` returns the position where a chunk reaches a fill level (0 to 1); `fits` tells whether
        a range of characters can be a chunk.
        """
        heading = self._heading(max(after + 1, at(self._heading_fill)), limit)
        if heading:
            return heading.start
        cut = self._below_heading(max(after + 1, at(self._fill)), limit)
        cut = self._keep_unit_whole(cut, after, fits)
        cut = self._keep_table_header(cut, after)
        return self._keep_heading_with_text(cut, after)

    def parent_end(self, start: Position, limit: Position) -> Position | None:
        """Where the parent of the section at `start` ends in (start, limit]; None: not there.

        Sections are joined with neighbours below the same parent only. A heading without text of
        its own is joined with what follows.
        """
        if self._by_size:
            return None
        level = self.structure.level_at(start)
        for heading in self.structure.headings_between(start + 1, limit):
            if heading.level < level and self._has_text(start, heading.start):
                return heading.start
        return None

    def _has_text(self, start: Position, end: Position) -> bool:
        """Whether there is more than headings."""
        for heading in self.structure.headings_between(start - _INDENT, end - 1):
            if self._text[start : heading.start].strip():
                return True
            start = heading.end
        return bool(self._text[start:end].strip())

    def overlap_start(self, start: Position, end: Position) -> Position:
        """Where in [start, end] the overlap should begin; the range is its maximum.

        The overlap never contains part of a row that is whole in the previous chunk.
        """
        headings = self.structure.headings_between(start, end - 1)
        if headings:
            return headings[0].start
        if self.structure.definitions:  # the rest of a function does not say what it is
            definition = self.structure.first_definition(start, end)
            return end if definition is None else definition
        row = self.structure.first_row(start, end)
        if row is not None:
            return row
        block = self.structure.block_around(start)
        if block and block.end < end:
            start = block.end
        elif block:
            _, row_end = next(self.structure.units_around(start))
            if block.kind == "table" or row_end <= end:
                return end
        return self._overlap_in_text(start, end)

    def _overlap_in_text(self, start: Position, end: Position) -> Position:
        sentence = self._sentences.first_end(start, end)
        if sentence is not None:
            return sentence
        for pattern in (_LINE_END, _SPACE):
            if pattern is _SPACE and self._sentences.is_end(end):
                return end  # half a sentence would say less than it costs
            match = pattern.search(self._text, start, end)
            if match and match.end() < end:
                return match.end()
        return self._between_characters(start, 0)

    def allows_overlap(self, position: Position) -> bool:
        """Whether a chunk at `position` may begin with an overlap: not at a heading."""
        return self._by_size or not self._is_heading(position)

    def row_breaks(self) -> list[Position]:
        """Where chunks must end for one row per chunk: around table rows and outermost items.

        The headings directly above a block, and a table's header, go with its first row.
        """
        breaks: list[Position] = []
        end = 0
        for block in self.structure.blocks:
            if block.kind == "verbatim":
                continue
            first, *others = self.structure.outermost_rows(block)
            header_end = block.repeated_header[1] if block.repeated_header else None
            breaks.append(self._keep_heading_with_text(first, end - 1))
            breaks += [start for start in others if start != header_end]
            breaks.append(end := block.end)
        return breaks

    def _is_heading(self, position: Position) -> bool:
        """Whether a heading starts at `position`, after up to three spaces of indent."""
        near = self.structure.headings_between(position - _INDENT, position)
        return bool(near) and not self._text[near[-1].start : position].strip()

    def _heading(self, start: Position, limit: Position) -> Heading | None:
        """The last heading of the highest level: whole sections matter more than full chunks."""
        found = self.structure.headings_between(start, limit)
        return min(reversed(found), key=_level) if found else None

    def _below_heading(self, start: Position, limit: Position) -> Position:
        for find in (
            self._paragraph,
            self.structure.last_row,
            self._cell,
            self._sentences.last_end,
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

    def _cell(self, start: Position, limit: Position) -> Position | None:
        """A cell boundary in the table row or record that extends beyond `limit`."""
        block = self.structure.block_around(limit)
        if block is None or block.kind == "verbatim":
            return None
        pattern = _CELL if block.kind == "table" else _FIELD
        cuts = [match.start() for match in pattern.finditer(self._text, start, limit)]
        return cuts[-1] if cuts else None

    def _line(self, start: Position, limit: Position) -> Position | None:
        return self._last_space(("\n",), start, limit)

    def _word(self, start: Position, limit: Position) -> Position | None:
        if limit == len(self._text):
            return limit
        is_space = self._text[limit - 1].isspace()
        if is_space and not self._is_behind_abbreviation(limit - 1):
            return limit
        return self._last_space(_WORD_ENDS, start, limit - is_space) or (
            limit if is_space else None
        )

    def _last_space(
        self, marks: Sequence[str], start: Position, limit: Position
    ) -> Position | None:
        """The end of the last mark that stands behind no abbreviation, else of the last one."""
        found = end = max(self._text.rfind(mark, start - 1, limit) for mark in marks)
        for _ in range(_MOST_ABBREVIATIONS):
            if end < 0 or not self._is_behind_abbreviation(end):
                break
            end = max(self._text.rfind(mark, start - 1, end) for mark in marks)
        best = end if end >= 0 else found
        return best + 1 if best >= 0 else None

    def _is_behind_abbreviation(self, space: Position) -> bool:
        return space > 0 and self._sentences.is_abbreviation(space - 1)

    def _between_characters(self, cut: Position, lowest: Position) -> Position:
        """Move `cut` back so that it separates no accent from its letter and no joined emoji."""
        for position in range(cut, max(lowest, cut - 16), -1):
            if self._text[position - 1] != _ZERO_WIDTH_JOINER and not self._attaches(position):
                return position
        return cut

    def _attaches(self, position: Position) -> bool:
        if position >= len(self._text):
            return False
        character = self._text[position]
        return character == _ZERO_WIDTH_JOINER or unicodedata.category(character).startswith("M")

    def _keep_unit_whole(
        self, cut: Position, after: Position, fits: Callable[[Position, Position], bool]
    ) -> Position:
        """Move the cut before the largest unit that it would split although it fits a chunk.

        By size, only single rows are kept whole; whole tables would leave chunks underfilled.
        """
        for start, end in self.structure.units_around(cut):
            if start <= after or not fits(start, end):
                break
            cut = start
            if self._by_size:
                break
        return cut

    def _keep_table_header(self, cut: Position, after: Position) -> Position:
        """Keep a table's header with its first row."""
        block = self.structure.block_around(cut)
        if block is None or block.repeated_header is None:
            return cut
        start, end = block.repeated_header
        is_split_off = start > after and cut >= end and not self._text[end:cut].strip()
        return start if is_split_off else cut

    def _keep_heading_with_text(self, cut: Position, after: Position) -> Position:
        """Keep a heading with the text that follows it, never at the end of a chunk."""
        for heading in reversed(self.structure.headings_between(after + 1, cut - 1)):
            if self._text[heading.end : cut].strip():
                break
            cut = heading.start
        return cut


def _level(heading: Heading) -> int:
    return heading.level
