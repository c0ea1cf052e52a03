"""The structure of Markdown, as far as cutting needs it: headings, and blocks to keep whole.

One pass over the lines, linear in the text. Not a Markdown parser: what it does not know is text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

_MARKED_LINE = re.compile(
    r"""[ ]{0,3}(?:
            (?P<fence>`{3,}|~{3,})
          | (?P<atx>\#{1,6})(?:[ \t]|$)
          | (?P<setext>=+|-{2,})[ \t]*$
          | (?P<row>\|)
        )
      | [ \t]*(?P<item>(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$))
    """,
    re.VERBOSE,
)
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+$")
_MARKS = frozenset("`~#=-|*+0123456789 \t")
_LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    start: int
    end: int
    """End of its line or, for a setext heading, of the line that underlines it."""
    level: int
    """1 to 6, outermost first."""
    title: str
    """At most 200 characters."""


@dataclass(frozen=True, slots=True)
class Structure:
    headings: list[Heading] = field(default_factory=list)
    blocks: list[tuple[int, int]] = field(default_factory=list)
    """Tables, lists and fenced code: ranges of characters, in order, not overlapping."""
    rows: list[int] = field(default_factory=list)
    """Starts of table rows, list items and lines of code, in order."""

    def headings_between(self, start: int, end: int) -> list[Heading]:
        """Headings that start in [start, end]."""
        first = bisect_left(self.headings, start, key=_start)
        return self.headings[first : bisect_right(self.headings, end, lo=first, key=_start)]

    def last_row(self, start: int, end: int) -> int | None:
        """The last row that starts in [start, end]."""
        index = bisect_right(self.rows, end) - 1
        return self.rows[index] if index >= 0 and self.rows[index] >= start else None

    def first_row(self, start: int, end: int) -> int | None:
        """The first row that starts in [start, end)."""
        index = bisect_left(self.rows, start)
        return self.rows[index] if index < len(self.rows) and self.rows[index] < end else None

    def block_around(self, position: int) -> tuple[int, int] | None:
        """The block that a cut at `position` would split."""
        index = bisect_left(self.blocks, (position,)) - 1
        if index >= 0 and position < self.blocks[index][1]:
            return self.blocks[index]
        return None


def _start(heading: Heading) -> int:
    return heading.start


def heading_paths(headings: Sequence[Heading]) -> list[tuple[str, ...]]:
    """For each heading the titles from the outermost down to itself; empty titles are left out."""
    paths = []
    open_headings: list[Heading] = []
    for heading in headings:
        while open_headings and open_headings[-1].level >= heading.level:
            open_headings.pop()
        open_headings.append(heading)
        paths.append(tuple(above.title for above in open_headings if above.title))
    return paths


def read_structure(text: str) -> Structure:
    """Headings outside fenced code; an unclosed fence reaches to the end, as CommonMark has it."""
    reader = _Reader()
    for line in text.split("\n"):
        reader.read(line)
    reader.finish()
    return reader.structure


class _Reader:
    def __init__(self) -> None:
        self.structure = Structure()
        self._position = 0
        self._next = 0
        self._fence = ""
        self._block: tuple[str, int] | None = None
        """Kind and start of the block that is open."""
        self._paragraph: tuple[int, str] | None = None
        """Start and first line of the open paragraph."""
        self._paragraph_lines = 0

    def read(self, line: str) -> None:
        self._position, self._next = self._next, self._next + len(line) + 1
        match = _MARKED_LINE.match(line) if line[:1] in _MARKS else None
        kind = match.lastgroup if match else None
        mark = match[kind] if match and kind else ""
        if self._fence:
            self._read_code(line, mark if kind == "fence" else "")
        elif kind == "fence":
            self._open("code")
            self._fence = mark
        elif kind == "atx":
            title = line.strip(" ")[len(mark) : 2 * _LONGEST_TITLE].strip()
            self._add_heading(len(mark), self._position, _CLOSING_MARKS.sub("", title))
        elif kind == "setext":
            self._read_underline(mark)
        elif kind in {"row", "item"}:
            self._open("table" if kind == "row" else "list")
            self.structure.rows.append(self._position)
        else:
            self._read_text(line)

    def finish(self) -> None:
        self._close(self._next)

    def _close(self, end: int) -> None:
        if self._block:
            self.structure.blocks.append((self._block[1], end))
            self._block = None
        self._paragraph, self._paragraph_lines = None, 0

    def _open(self, kind: str) -> None:
        """A list goes on after an item, a table after a row; anything else starts a new block."""
        if self._block is None or self._block[0] != kind:
            self._close(self._position)
            self._block = (kind, self._position)

    def _read_code(self, line: str, mark: str) -> None:
        self.structure.rows.append(self._position)
        if mark.startswith(self._fence) and not line.strip(" \t").strip(mark[0]):
            self._fence = ""
            self._close(self._next)

    def _read_underline(self, mark: str) -> None:
        # Under several lines it is more often a rule than the underline of a long heading.
        if self._paragraph and self._paragraph_lines == 1:
            start, title = self._paragraph
            self._add_heading(1 if mark[0] == "=" else 2, start, title)
        else:
            self._close(self._position)

    def _read_text(self, line: str) -> None:
        blank = not line or line.isspace()
        if blank or (self._block and self._block[0] != "list"):
            self._close(self._position)
        if blank or self._block:
            return
        if self._paragraph is None:
            self._paragraph = (self._position, line)
        self._paragraph_lines += 1

    def _add_heading(self, level: int, start: int, title: str) -> None:
        self._close(self._position)
        title = title[: 2 * _LONGEST_TITLE].strip()[:_LONGEST_TITLE]
        heading = Heading(start=start, end=self._next - 1, level=level, title=title)
        self.structure.headings.append(heading)
