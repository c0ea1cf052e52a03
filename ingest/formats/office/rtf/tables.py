"""Merged cells of tables in an RTF file, which its reader does not know: marked before it reads.

A row says where each of its cells ends; a cell that ends where several of another row do covers
their columns. Without marks, what follows it would stand in the wrong columns.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ingest.formats.office.merged_cells import Covered, merged_table

_TOKEN: Final = re.compile(
    rb"[{}]|\\bin(\d{1,9}) ?|\\(trowd|cellx|clmrg|clvmrg|cell|row|intbl|pard|par|nesttableprops)"
    rb"(-?\d{0,7})(?![a-z0-9]) ?|\\[a-z]+|\\[^a-z]",
    re.DOTALL,
)
_WIDEST: Final = 64  # columns; Word writes up to 63
_CLOSE: Final = 60  # twentieths of a point between edges of one column in two rows
_LARGEST: Final = 4 * 1024 * 1024  # bytes of marks; a file with more is read without them
# Beside those of common/raised_text.py; `{}` keeps the reader from adding a space.
_MARKS: Final = {Covered.FROM_LEFT: b"{\\uc0\\u-548 }{}", Covered.FROM_ABOVE: b"{\\uc0\\u-547 }{}"}
_READ: Final = {"\ufddc": Covered.FROM_LEFT, "\ufddd": Covered.FROM_ABOVE}
_ANY_READ: Final = re.compile("[\ufddc\ufddd]")
_TABLE: Final = re.compile(r"^\|[^\n]*(?:\n\|[^\n]*)+", re.MULTILINE)
_BORDER: Final = re.compile(r"(?<!\\)\|")


@dataclass(slots=True)
class _Row:
    """Each list: one item per cell."""

    edges: list[int] = field(default_factory=list)
    """Right ends."""
    covered: list[Covered | None] = field(default_factory=list)
    """By which cell of its own table a cell is covered."""
    cells: list[tuple[int, int]] = field(default_factory=list)
    """Start and end of the words that end the cells."""
    next_covered: Covered | None = None

    def define(self, word: bytes, number: bytes) -> None:
        """Take one word of the row's definition."""
        if word == b"trowd":
            self.edges, self.covered, self.next_covered = [], [], None
        elif word == b"clmrg":
            self.next_covered = Covered.FROM_LEFT
        elif word == b"clvmrg":
            self.next_covered = self.next_covered or Covered.FROM_ABOVE
        elif number.strip(b"-") and len(self.edges) <= _WIDEST:  # one more shows it is too wide
            self.edges.append(int(number))
            self.covered.append(self.next_covered)
            self.next_covered = None


def mark_merged(data: bytes) -> bytes:
    """The file with marks in the cells that others cover; missing ones are inserted."""
    marks: list[tuple[int, bytes]] = []
    size = 0
    for rows in _tables(data):
        grid = _grid(rows)
        for row in rows:
            found = list(_marks(row, grid))
            marks += found
            size += sum(len(mark) for _, mark in found)
            if size > _LARGEST:
                return data
    pieces: list[bytes] = []
    end = 0
    for at, mark in marks:
        pieces += [data[end:at], mark]
        end = at
    return b"".join([*pieces, data[end:]])


def write_merged(markdown: str) -> str:
    """The Markdown with its marked tables as those of other formats are."""
    return _ANY_READ.sub("", _TABLE.sub(_merged, markdown))


def _merged(found: re.Match[str]) -> str:
    if not _ANY_READ.search(found[0]):
        return found[0]
    lines = found[0].split("\n")
    grid = [list(map(_cell, _BORDER.split(line.strip())[1:-1])) for line in [lines[0], *lines[2:]]]
    return "\n\n".join(merged_table(grid))


def _cell(text: str) -> str | Covered:
    covered = _READ.get(text.strip(" *_"))
    return covered or _ANY_READ.sub("", text).strip().replace(r"\|", "|")


def _tables(data: bytes) -> Iterator[list[_Row]]:
    """The rows of each table, without those of tables in cells."""
    row = _Row()
    rows: list[_Row] = []
    is_inside = False
    for token in _outer_words(data):
        word = token[2]
        if word == b"cell":
            row.cells.append(token.span())
        elif word == b"row":
            rows.append(row)
            row = _Row(row.edges, row.covered)  # holds until a row says otherwise
        elif word in (b"pard", b"intbl"):
            is_inside = word == b"intbl"
        elif word == b"par":
            if rows and not is_inside:
                yield rows
                rows = []
        else:
            row.define(word, token[3])
    yield rows


def _outer_words(data: bytes) -> Iterator[re.Match[bytes]]:
    """The words about tables, without those about inner ones."""
    depth = inner = 0  # `inner`: number of groups around the definition of an inner row
    at = 0
    while (token := _TOKEN.search(data, at)) is not None:
        at = token.end() + int(token[1] or 0)  # binary data
        if token[0] == b"{":
            depth += 1
        elif token[0] == b"}":
            inner = 0 if depth == inner else inner
            depth -= 1
        elif token[2] == b"nesttableprops":
            inner = inner or depth
        elif token[2] and not inner:
            yield token


def _grid(rows: list[_Row]) -> list[int]:
    """The right ends of the columns: those of the row with most cells."""
    return max((row.edges for row in rows), key=len, default=[])


def _marks(row: _Row, grid: list[int]) -> Iterator[tuple[int, bytes]]:
    """Marks, and where they are put; none for a row that does not fit into the grid."""
    if len(grid) > _WIDEST or len(row.cells) != len(row.edges):
        return
    columns = [_column(edge, grid) for edge in row.edges]
    if not all(a < b for a, b in zip([-1, *columns], columns, strict=False)):
        return
    for cell, (start, end) in enumerate(row.cells):
        covered = row.covered[cell]
        if covered is not None:
            yield start, _MARKS[covered]
        missing = columns[cell] - (columns[cell - 1] if cell else -1) - 1
        if missing:
            yield end, (_MARKS[covered or Covered.FROM_LEFT] + b"\\cell ") * missing


def _column(edge: int, grid: list[int]) -> int:
    """The column that ends there; -1 if none does."""
    near = bisect_left(grid, edge - _CLOSE)
    return near if near < len(grid) and abs(grid[near] - edge) <= _CLOSE else -1
