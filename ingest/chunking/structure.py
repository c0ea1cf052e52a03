"""The structure that chunking needs from a text: headings, and blocks to keep whole."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

Position = int
"""In characters of the text."""
Range = tuple[Position, Position]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    start: Position
    end: Position
    """End of its line or, for a setext heading, of the line that underlines it."""
    level: int
    """1 to 6, outermost first."""
    title: str
    """At most 200 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A table, a list, or verbatim lines: fenced code, `<pre>`, a comment."""

    kind: Literal["table", "list", "verbatim"]
    start: Position
    end: Position
    repeated_header: Range | None = None
    """Whole lines that a reader needs to understand the rest of the block: a table's header and
    delimiter line, or the opening code fence."""


@dataclass(frozen=True, slots=True)
class Structure:
    headings: list[Heading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    """In order, not overlapping."""
    rows: list[Position] = field(default_factory=list)
    """Starts of table rows, list items and lines of code, in order; all inside blocks. A block's
    first row starts where the block starts. A table's delimiter line belongs to the header row, an
    opening fence to the first line of code."""
    definitions: list[Heading] = field(default_factory=list)
    """Classes and functions, if the text is a file of source code (definitions.py)."""
    row_parents: dict[int, int] = field(default_factory=dict)
    """For a nested list item: the index in `rows` of the item that contains it."""
    row_ends: dict[int, Position] = field(default_factory=dict)
    """For a list item with nested items: where the last of them ends."""

    def headings_between(self, start: Position, end: Position) -> list[Heading]:
        """Headings that start in [start, end]."""
        first = bisect_left(self.headings, start, key=_start)
        return self.headings[first : bisect_right(self.headings, end, lo=first, key=_start)]

    def level_at(self, position: Position) -> int:
        """The level of the section at a position; 0 above the first heading."""
        index = bisect_right(self.headings, position, key=_start) - 1
        return self.headings[index].level if index >= 0 else 0

    def first_definition(self, start: Position, end: Position) -> Position | None:
        """The first class or function that begins in [start, end)."""
        first = bisect_left(self.definitions, start, key=_start)
        last = bisect_left(self.definitions, end, lo=first, key=_start)
        return next((one.start for one in self.definitions[first:last] if one.title), None)

    def last_row(self, start: Position, end: Position) -> Position | None:
        """The last row that starts in [start, end]."""
        index = bisect_right(self.rows, end) - 1
        return self.rows[index] if index >= 0 and self.rows[index] >= start else None

    def first_row(self, start: Position, end: Position) -> Position | None:
        """The first row that starts in [start, end)."""
        index = bisect_left(self.rows, start)
        return self.rows[index] if index < len(self.rows) and self.rows[index] < end else None

    def block_around(self, position: Position) -> Block | None:
        """The block that a cut at `position` would split."""
        index = bisect_left(self.blocks, position, key=_start) - 1
        if index >= 0 and position < self.blocks[index].end:
            return self.blocks[index]
        return None

    def units_around(self, position: Position) -> Iterator[Range]:
        """The units that a cut at `position` would split, from the innermost to the outermost.

        In order: the row without its nested items, the row with them, its parent items, the block.
        """
        block = self.block_around(position)
        if block is None:
            return
        index = bisect_left(self.rows, position) - 1
        following = self.rows[index + 1] if index + 1 < len(self.rows) else block.end
        own_end = min(following, block.end)
        if position < own_end:
            yield self.rows[index], own_end
        nested: int | None = index
        while nested is not None:
            if position < self.row_ends.get(nested, 0):
                yield self.rows[nested], self.row_ends[nested]
            nested = self.row_parents.get(nested)
        yield block.start, block.end

    def outermost_rows(self, block: Block) -> list[int]:
        """Starts of the block's rows that are not nested in another row."""
        first = bisect_left(self.rows, block.start)
        last = bisect_left(self.rows, block.end, lo=first)
        return [self.rows[row] for row in range(first, last) if row not in self.row_parents]


def _start(part: Heading | Block) -> int:
    return part.start


def heading_paths(headings: Sequence[Heading]) -> list[tuple[str, ...]]:
    """For each heading, the titles from the outermost heading to itself, without empty ones."""
    paths = []
    open_headings: list[Heading] = []
    for heading in headings:
        while open_headings and open_headings[-1].level >= heading.level:
            open_headings.pop()
        open_headings.append(heading)
        paths.append(tuple(above.title for above in open_headings if above.title))
    return paths


class Sections:
    """Finds the section that contains a piece of a text.

    A section runs from its heading to the next heading of the same or a higher level.
    """

    def __init__(self, headings: Sequence[Heading], length: int) -> None:
        self._starts = [heading.start for heading in headings]
        self._ends = [length] * len(headings)
        self._parents: list[int | None] = []
        self._length = length
        open_headings: list[int] = []
        for index, heading in enumerate(headings):
            while open_headings and headings[open_headings[-1]].level >= heading.level:
                self._ends[open_headings.pop()] = heading.start
            self._parents.append(open_headings[-1] if open_headings else None)
            open_headings.append(index)

    def around(self, start: Position, end: Position) -> Range:
        """The innermost section that contains the whole piece.

        Text before the first heading counts as a section. If no section fits: the whole text.
        """
        index: int | None = bisect_right(self._starts, start) - 1
        if index == -1:
            first = self._starts[0] if self._starts else self._length
            return (0, first if end <= first else self._length)
        while index is not None:
            if end <= self._ends[index]:
                return self._starts[index], self._ends[index]
            index = self._parents[index]
        return 0, self._length
