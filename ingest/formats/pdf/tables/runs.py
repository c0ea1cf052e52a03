"""Baselines below each other whose cells fit the same columns."""

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from ingest.formats.pdf.layout.text_lines import SLACK, Line
from ingest.formats.pdf.tables.cells import Glyphs
from ingest.formats.pdf.tables.fitting import are_figures, is_header, split_at_columns
from ingest.formats.pdf.tables.rows import WIDER, Piece, is_half_line, is_number

FEWEST_ROWS = 3
APART = 2.0
"""Line heights between rows."""
FARTHEST = 3.5
"""The same between rows at the same distance from each other."""
MOST_LINES = 5
"""Of a cell, down to the middle of its row."""
_TALLER = 1.5  # times the height of the smallest text: more than of another font
_WRAPPED = 0.7  # line heights between the lines of a cell
_MOST_REFITS = 5  # of a run
MOST_ABOVE = 12
"""Baselines that a run may take from above its first one."""


@dataclass(frozen=True, slots=True)
class Cells:
    """What is known of pieces."""

    glyphs: Glyphs
    owners: dict[int, list[Line]]
    """The lines of each piece, by its id."""

    def split(
        self, pieces: Sequence[Piece], lefts: Sequence[float], rights: Sequence[float]
    ) -> list[Piece]:
        """The pieces; those that reach over several columns as one for each of them."""
        return [part for piece in pieces for part in self._parts(piece, lefts, rights)]

    def split_figures(
        self, pieces: Sequence[Piece], lefts: Sequence[float], rights: Sequence[float]
    ) -> list[Piece]:
        """The same for pieces of which all but the first column would be figures."""
        found: list[Piece] = []
        for piece in pieces:
            parts = self._parts(piece, lefts, rights)
            found += parts if are_figures(parts[1:]) else [piece]
        return found

    def _parts(self, piece: Piece, lefts: Sequence[float], rights: Sequence[float]) -> list[Piece]:
        owners = self.owners[id(piece)]
        if len(owners) > 1 or not self.glyphs.has_positions(owners[0]):
            return [piece]
        parts = split_at_columns(piece, owners[0], self.glyphs, lefts, rights)
        for part in parts:
            self.owners[id(part)] = owners
        return parts


@dataclass(slots=True)
class Run:
    """Baselines that may form a table. Columns are disjoint and sorted from left to right."""

    lefts: list[float] = field(default_factory=list)
    rights: list[float] = field(default_factory=list)
    lines: list[list[Piece]] = field(default_factory=list)
    start: int = 0
    """Index of its first baseline among all."""
    refits: int = 0

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
        """Whether this continues a cell, and goes on over the empty cells to its right.

        No figure goes on: below one, such a line names the columns of the next table.
        """
        starts_there = abs(piece.left - self.lefts[place]) < SLACK * piece.height
        if not (is_alone and place > 0 and starts_there and piece.right <= self.rights[-1]):
            return False
        near = (other for line in reversed(self.lines[-MOST_LINES:]) for other in line)
        above = next((p for p in near if bisect_right(self.lefts, p.left) - 1 == place), None)
        return above is None or not is_number(above.text.strip())

    def _is_label(self, piece: Piece, last: Piece) -> bool:
        """Whether a piece names the total in the last column, and reaches over empty cells."""
        is_total = last.right > self.lefts[-1] and is_number(last.text.strip())
        return is_total and len(self.lines) >= FEWEST_ROWS and not is_number(piece.text.strip())

    def take_apart(self, line: list[Piece], cells: Cells) -> bool:
        """The same for a baseline whose cells stand close, or to which a cell above is several.

        Cells that stand close are taken for one until a line shows their columns.
        """
        if self.take(cells.split_figures(line, self.lefts, self.rights)):
            return True
        if self.refits == _MOST_REFITS:
            return False
        lefts, rights = [piece.left for piece in line], [piece.right for piece in line]
        lines = [cells.split_figures(other, lefts, rights) for other in self.lines]
        if sum(map(len, lines)) == sum(map(len, self.lines)):
            return False
        fitted = Run()
        if not all(fitted.take(other) for other in (*lines, line)):
            return False
        self.lefts, self.rights, self.lines = fitted.lefts, fitted.rights, fitted.lines
        self.refits += 1
        return True

    def take_from(self, above: Sequence[list[Piece]], cells: Cells) -> list[Piece]:
        """Take the baselines above that fit, up to the header; returns the groups that it has.

        A header may be wider than its columns, and end up as a run of its own.
        """
        for line in reversed(above):
            gap = line[0].middle - self.lines[0][0].middle - line[0].height
            most = FARTHEST if _are_regular([line, *self.lines[:2]]) else APART
            if gap > most * line[0].height:
                break
            if is_header(self.lines[0]):
                return line if len(line) > 1 else []
            parts = cells.split(line, self.lefts, self.rights)
            is_whole = len(parts) > 1 and len(parts) >= len(self.lefts) - 1
            if len(line) == 1 and not is_whole:
                break
            if not (len(line) > 1 and self.take(line)) and not self.take(parts):
                break
            self.lines.insert(0, self.lines.pop())
        return []

    def parts(self) -> Iterator["Run"]:
        """What is above and below its widest gap: tables that happen to fit the same columns."""
        pitches = [upper[0].middle - lower[0].middle for upper, lower in pairwise(self.lines)]
        if len(pitches) < FEWEST_ROWS:
            return
        widest = max(range(len(pitches)), key=pitches.__getitem__) + 1
        if pitches[widest - 1] < WIDER * median(pitches):
            return
        for lines in (self.lines[:widest], self.lines[widest:]):
            part = Run()
            if all(part.take(line) for line in lines):
                yield part

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
            most = APART if is_row else _WRAPPED
            if not is_single and gap < FARTHEST * line[0].height:
                around = (*run.lines[-2:], line, *lines[index + 1 : index + 2])
                most = FARTHEST if _are_regular(around) else most
            is_near = gap < most * line[0].height
            fits = is_near and not is_title and run.take(line)
            if fits or (is_near and not is_single and run.take_apart(line, cells)):
                continue
            yield _without_end(run)
            run = Run(start=index)
        if len(line) > 1:
            run.start = run.start if run.lines else index
            run.take(line)
    if run.lines:
        yield _without_end(run)


def _are_regular(lines: Sequence[Sequence[Piece]]) -> bool:
    """Whether two of the distances between these baselines are the same, and all heights."""
    heights = [line[0].height for line in lines]
    if max(heights) > _TALLER * min(heights):
        return False
    pitches = [upper[0].middle - lower[0].middle for upper, lower in pairwise(lines)]
    return any(abs(p - q) < SLACK * lines[0][0].height for p, q in pairwise(pitches))


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
