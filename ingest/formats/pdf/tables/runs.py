"""Baselines below each other whose cells fit the same columns."""

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ingest.formats.pdf.layout.text_lines import SLACK, Line
from ingest.formats.pdf.tables.cells import Glyphs
from ingest.formats.pdf.tables.fitting import are_figures, is_header, split_at_columns
from ingest.formats.pdf.tables.rows import WIDER, Piece, is_half_line, is_number

FEWEST_ROWS = 3
APART = 2.0
"""Line heights between rows."""
MOST_LINES = 5
"""Of a cell, down to the middle of its row."""
_WRAPPED = 0.7  # line heights between the lines of a cell
_MOST_ABOVE = 12  # baselines that a run may take from the one above it


@dataclass(frozen=True, slots=True)
class Cells:
    """What is known of pieces."""

    glyphs: Glyphs
    owners: dict[int, list[Line]]
    """The lines of each piece, by its id."""

    def split(self, pieces: Sequence[Piece], run: "Run") -> list[Piece]:
        """The pieces; those that reach over several columns of the run as one for each of them."""
        found: list[Piece] = []
        for piece in pieces:
            owners = self.owners[id(piece)]
            parts = [piece]
            if len(owners) == 1 and self.glyphs.has_positions(owners[0]):
                parts = split_at_columns(piece, owners[0], self.glyphs, run.lefts, run.rights)
            for part in parts:
                self.owners[id(part)] = owners
            found += parts
        return found

    def split_figures(self, pieces: Sequence[Piece], run: "Run") -> list[Piece]:
        """The same, if all cells but the first are figures."""
        found = self.split(pieces, run)
        return found if are_figures(found[1:]) else list(pieces)


@dataclass(slots=True)
class Run:
    """Baselines that may form a table. Columns are disjoint and sorted from left to right."""

    lefts: list[float] = field(default_factory=list)
    rights: list[float] = field(default_factory=list)
    lines: list[list[Piece]] = field(default_factory=list)

    def take(self, pieces: list[Piece]) -> bool:
        """Add a baseline; returns False, and adds nothing, if its cells do not fit the columns."""
        lefts, rights = self.lefts, self.rights
        known: dict[int, tuple[float, float]] = {}
        new = []
        for piece in pieces:
            left, right = piece.left, piece.right
            place = bisect_right(rights, left)
            if place == len(lefts) or lefts[place] >= right:
                new.append((left, right))
            elif place in known:
                return False
            elif place + 1 < len(lefts) and lefts[place + 1] < right:
                is_label = len(pieces) == 2 and self._is_label(*pieces)
                if not is_label and not self._runs_over(piece, place, is_alone=len(pieces) == 1):
                    return False
                known[place] = (left, rights[place])
            else:
                known[place] = (left, right)
        if len(pieces) == 1 and new:  # a cell that wraps stays in its column
            return False
        for column, (left, right) in known.items():
            lefts[column] = min(lefts[column], left)
            rights[column] = max(rights[column], right)
        for left, right in new:
            insort(self.lefts, left)
            insort(self.rights, right)
        self.lines.append(pieces)
        return True

    def _runs_over(self, piece: Piece, place: int, *, is_alone: bool) -> bool:
        """Whether this continues a cell, and goes on over the empty cells to its right."""
        starts_there = abs(piece.left - self.lefts[place]) < SLACK * piece.height
        return is_alone and place > 0 and starts_there and piece.right <= self.rights[-1]

    def _is_label(self, piece: Piece, last: Piece) -> bool:
        """Whether a piece names the total in the last column, and reaches over empty cells."""
        is_total = last.right > self.lefts[-1] and is_number(last.text.strip())
        return is_total and len(self.lines) >= FEWEST_ROWS and not is_number(piece.text.strip())

    def take_from(self, above: Sequence[list[Piece]], cells: Cells) -> list[Piece]:
        """Take the baselines above that fit, up to the header; returns the groups that it has.

        A header may be wider than its columns, and end up as a run of its own.
        """
        for line in reversed(above[-_MOST_ABOVE:]):
            gap = line[0].middle - self.lines[0][0].middle - line[0].height
            if gap > APART * line[0].height:
                break
            if is_header(self.lines[0]):
                return line if len(line) > 1 else []
            if len(line) < 2 or not (self.take(line) or self.take(cells.split(line, self))):
                break
            self.lines.insert(0, self.lines.pop())
        return []

    def placed(self) -> list[list[Piece]]:
        """The baselines, each piece with its column."""
        return [
            [Piece(bisect_right(self.lefts, piece.left) - 1, *piece[1:]) for piece in line]
            for line in self.lines
        ]


def runs(lines: Sequence[list[Piece]], cells: Cells) -> Iterator[Run]:
    """Baselines below each other whose cells fit the same columns."""
    run = Run()
    for index, line in enumerate(lines):
        if run.lines:
            gap = run.lines[-1][0].middle - line[0].middle - line[0].height
            if gap < -SLACK * line[0].height and _is_over(line[0], run.lines[-1]):
                continue  # printed over the table
            is_single = len(line) == 1
            is_row = not is_single or _begins_row(run, lines[index : index + MOST_LINES])
            is_title = is_single and _is_title(line[0], run, lines[index + 1 : index + 2])
            is_near = gap < (APART if is_row else _WRAPPED) * line[0].height
            if is_near and not is_title and run.take(line):
                continue
            if is_near and not is_single and run.take(cells.split_figures(line, run)):
                continue
            yield _without_end(run)
            run = Run()
        if len(line) > 1:
            run.take(line)
    if run.lines:
        yield _without_end(run)


def _begins_row(run: Run, lines: Sequence[Sequence[Piece]]) -> bool:
    """Whether a single cell goes on beside the others of its row, which stand in its middle."""
    if lines[0][0].left <= run.rights[0]:
        return False
    for (upper, *_), below in pairwise(lines):
        if upper.middle - below[0].middle - upper.height > _WRAPPED * upper.height:
            return False
        if len(below) > 1:
            return True
    return False


def _is_over(piece: Piece, row: Sequence[Piece]) -> bool:
    """Whether a piece is printed over others; a cell in the middle of its row is beside them."""
    return any(piece.left < other.right and other.left < piece.right for other in row)


def _is_title(piece: Piece, run: Run, below: Sequence[Sequence[Piece]]) -> bool:
    """Whether a line is the title of the next table: set apart, and above a row without numbers."""
    if piece.left > run.rights[0] or not below or len(below[0]) < 2 or len(run.lines) < 2:
        return False
    pitch = run.lines[-2][0].middle - run.lines[-1][0].middle
    is_apart = run.lines[-1][0].middle - piece.middle > WIDER * pitch
    return is_apart and not any(is_number(other.text.strip()) for other in below[0])


def _without_end(run: Run) -> Run:
    """Drop single cells below the last row, unless they clearly continue one of its cells."""
    last = max(index for index, line in enumerate(run.lines) if len(line) > 1)
    end = last + 1
    while end < len(run.lines) and (
        run.lines[end][0].left > run.rights[0]
        or is_half_line(run.lines[end - 1][0], run.lines[end][0])
    ):
        end += 1
    del run.lines[end:]
    return run
