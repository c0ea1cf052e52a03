"""Packs a text into chunks greedily: each is filled up to the best boundary.

Time is linear for any text: packing a chunk reads a bounded number of characters.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ingest.chunking.boundaries import Boundaries
from ingest.chunking.structure import Block, Position, Range
from ingest.chunking.token_map import TokenMap

# Some tokenizers read long runs (unknown words, spaces) as one token. Chunks of them would be
# huge, and the vector of one token does not represent them.
_MOST_CHARACTERS_PER_TOKEN = 16
_TAIL = 8  # the last chunk gets at least 1/8 of a full one
_ENDS = 8  # a part counted alone differs by at most this many tokens, almost always
_HEADER_SHARE = 3  # a header may take up to a third of a chunk


class _Header(NamedTuple):
    """The part of a table or code block that is repeated at the start of a chunk."""

    range: Range | None = None
    text: str = ""
    tokens: int = 0


_NO_HEADER = _Header()


class ChunkRange(NamedTuple):
    """The range of one chunk."""

    start: Position
    end: Position
    tokens: int
    """Including those of the header."""
    repeated_header: Range | None


class Packer:
    """Cuts one text into ranges of at most `budget` tokens; no range crosses a break."""

    def __init__(
        self,
        text: str,
        *,
        tokens: TokenMap,
        boundaries: Boundaries,
        breaks: Sequence[Position],
        budget: int,
        overlap: int,
    ) -> None:
        self._text = text
        self._tokens = tokens
        self._boundaries = boundaries
        self._structure = boundaries.structure
        self._breaks = breaks
        self._budget = budget
        self._overlap = overlap
        self._known_header: tuple[Block | None, _Header] = (None, _NO_HEADER)

    def cuts(self) -> Iterator[ChunkRange]:
        """All chunks in order; they cover all of the text except white space."""
        start = covered = self._tokens.skip_space(0)
        while covered < len(self._text):
            stop = self._next_break(covered)
            cut = self._cut(start, covered, stop)
            if cut is None:  # the overlap leaves no room for the next whole row, or for anything
                start = covered
                continue
            yield cut
            covered = self._tokens.skip_space(cut.end)
            start = self._overlapping_start(start, covered) if covered < stop else covered

    def _next_break(self, position: Position) -> Position:
        index = bisect_right(self._breaks, position)
        end = len(self._text)
        return min(self._breaks[index], end) if index < len(self._breaks) else end

    def _cut(self, start: Position, covered: Position, stop: Position) -> ChunkRange | None:
        """The chunk from `start`; it ends after `covered` and at or before `stop`.

        None if the overlap, from `start` to `covered`, leaves too little room.
        """
        whole = self._tokens.strip(covered, min(self._end_of_unit(covered), stop))
        header = self._header(start)
        if header.tokens and whole > covered and not self._fits_with(header, start, whole):
            if start < covered:
                return None
            header = _NO_HEADER  # keeping the row whole matters more
        budget = self._first_budget(start, stop, header)
        while True:
            limit = self._limit(start, stop, budget)
            if limit <= covered:
                if start < covered:
                    return None
                limit = covered + 1
            end = max(self._end(start, covered, limit, stop), whole)
            count = self._count(start, end, header)
            if count <= self._budget or end == start + 1:
                return ChunkRange(start, end, count, header.range)
            if end == whole:
                if start < covered:
                    return None
                whole = covered
            # A part counted alone can have more tokens than within the text.
            taken = self._tokens.between(start, end)
            budget = min(budget - 1, taken - (count - self._budget))

    def _end_of_unit(self, start: Position) -> Position:
        """The end of the largest unit that begins at `start` and fits a chunk, or `start`."""
        found = start
        for unit_start, unit_end in self._structure.units_around(start + 1):
            if unit_start < start and self._tokens.skip_space(unit_start) < start:
                break
            if not self._fits(start, unit_end):
                break
            found = unit_end
        return found

    def _fits(self, start: Position, end: Position) -> bool:
        """Whether the range can be a chunk."""
        tokens = self._tokens.between(start, end)
        most_characters = _MOST_CHARACTERS_PER_TOKEN * self._budget
        if tokens > self._budget + _ENDS or end - start > 2 * most_characters:
            return False
        start, end = self._tokens.skip_space(start), self._tokens.strip(start, end)
        if end - start > most_characters:
            return False
        return tokens < self._budget - _ENDS or self._tokens.count(start, end) <= self._budget

    def _fits_with(self, header: _Header, start: Position, end: Position) -> bool:
        tokens = header.tokens + self._tokens.between(start, end)
        return tokens < self._budget - _ENDS or self._count(start, end, header) <= self._budget

    def _count(self, start: Position, end: Position, header: _Header) -> int:
        return self._tokens.count(start, end, prefix=header.text)

    def _header(self, start: Position) -> _Header:
        """The header of a chunk that starts inside a table or code block."""
        block = self._structure.block_around(start)
        if block is None or block.repeated_header is None or start < block.repeated_header[1]:
            return _NO_HEADER
        if block is not self._known_header[0]:
            self._known_header = (block, self._read_header(block.repeated_header))
        return self._known_header[1]

    def _read_header(self, header: Range) -> _Header:
        most = self._budget // _HEADER_SHARE
        text = self._text[slice(*header)]
        if len(text) > _MOST_CHARACTERS_PER_TOKEN * most:
            return _NO_HEADER
        tokens = self._tokens.count(*header)
        return _Header(header, text, tokens) if tokens <= most else _NO_HEADER

    def _first_budget(self, start: Position, stop: Position, header: _Header) -> int:
        budget = self._budget - header.tokens
        left = self._tokens.between(start, stop)
        tail = budget // _TAIL
        return left - tail if budget < left <= budget + tail else budget

    def _limit(self, start: Position, stop: Position, budget: int) -> Position:
        budget = max(budget, 0)
        limit = self._tokens.start(self._tokens.at(start) + budget)
        limit = min(limit, start + _MOST_CHARACTERS_PER_TOKEN * budget)
        return min(self._tokens.skip_space(limit), stop)

    def _end(self, start: Position, covered: Position, limit: Position, stop: Position) -> Position:
        parent_end = self._boundaries.parent_end(covered, limit)
        if parent_end is not None:
            limit = parent_end
        elif limit < stop:
            first, last = self._tokens.at(covered), self._tokens.at(limit)
            limit = self._boundaries.cut(
                after=covered,
                limit=limit,
                at=lambda fill: self._tokens.start(first + int(fill * (last - first))),
                fits=self._fits,
            )
        return self._tokens.strip(start, limit)

    def _overlapping_start(self, start: Position, covered: Position) -> Position:
        if self._overlap == 0 or not self._boundaries.allows_overlap(covered):
            return covered
        first = self._tokens.start(self._tokens.at(covered) - self._overlap)
        first = max(first, covered - _MOST_CHARACTERS_PER_TOKEN * self._overlap)
        resumed = self._boundaries.overlap_start(max(first, start + 1), covered)
        return min(self._tokens.skip_space(resumed), covered)
