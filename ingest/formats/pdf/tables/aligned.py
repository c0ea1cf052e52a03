"""Finds tables without ruled lines: rows with the same columns, separated by clear gaps."""

from bisect import bisect_right, insort
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from ingest.formats.common.markdown import table
from ingest.formats.pdf.layout.text_lines import HYPHEN, Line, PageLines
from ingest.formats.pdf.tables.cells import Glyphs, is_beside, replace_by_table

_GAP = 0.75  # font sizes between two cells; words of a sentence are closer
_FEWEST_ROWS = 3
_FILLED = 0.6  # minimum share of filled cells
_LONG = 28.0  # mean characters per cell; above this, a column is prose
_LONGEST_NUMBER = 20  # characters in a cell with a number and its unit
_APART = 2.0  # line heights between rows

_Segment = tuple[float, float, str]
"""Left, right, text of a cell."""


@dataclass(slots=True)
class _Run:
    """Rows that may form a table. Columns are disjoint and sorted from left to right."""

    lefts: list[float] = field(default_factory=list)
    rights: list[float] = field(default_factory=list)
    rows: list[Sequence[_Segment]] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)

    def take(self, segments: Sequence[_Segment]) -> bool:
        """Add a row; returns False, and adds nothing, if its cells do not fit the columns."""
        lefts, rights = self.lefts, self.rights
        known: dict[int, tuple[float, float]] = {}
        new = []
        for left, right, _ in segments:
            place = bisect_right(rights, left)
            if place == len(lefts) or lefts[place] >= right:
                new.append((left, right))
            elif place in known or (place + 1 < len(lefts) and lefts[place + 1] < right):
                return False
            else:
                known[place] = (left, right)
        for column, (left, right) in known.items():
            lefts[column] = min(lefts[column], left)
            rights[column] = max(rights[column], right)
        for left, right in new:
            insort(self.lefts, left)
            insort(self.rights, right)
        self.rows.append(segments)
        return True

    def cells(self) -> list[list[str]]:
        """Text of each cell by row and column."""
        rows = []
        for segments in self.rows:
            row = [""] * len(self.lefts)
            for left, _, text in segments:
                row[bisect_right(self.lefts, left) - 1] = text.strip().replace(HYPHEN, "-")
            rows.append(row)
        return rows


def find_aligned(page: PageLines, glyphs: Glyphs, *, near: Collection[int]) -> None:
    """Replace rows that clearly form a table by Markdown.

    Examines only rows with a line whose `start` is in `near`, and their neighbours.
    """
    run = _Run()
    found = [run]
    previous: Sequence[Line] = ()
    rows = list(_rows(page.lines))
    marked = [any(line.start in near for line in row) for row in rows]
    for index, row in enumerate(rows):
        segments = (
            [segment for line in row for segment in _segments(line, glyphs)]
            if any(marked[max(index - 1, 0) : index + 2]) and all(map(glyphs.has_positions, row))
            else []
        )
        if len(segments) < 2 or not _follows(previous, row) or not run.take(segments):
            run = _Run()
            found.append(run)
            if len(segments) >= 2:
                run.take(segments)
        if run.rows:
            run.lines += row
        previous = row
    for candidate in found:
        if len(candidate.rows) >= _FEWEST_ROWS:
            cells = candidate.cells()
            if _is_table(cells):
                replace_by_table(page, candidate.lines, table(cells))


def _rows(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Groups of consecutive lines that stand side by side."""
    row: list[Line] = []
    for line in lines:
        if row and not is_beside(row[-1], line):
            yield row
            row = []
        row.append(line)
    if row:
        yield row


def _follows(previous: Sequence[Line], row: Sequence[Line]) -> bool:
    """Whether a row is directly below the previous one."""
    if not previous:
        return False
    distance = previous[0].top - row[0].top
    return 0 < distance < (_APART + 1) * max(row[0].height, previous[0].height)


def _segments(line: Line, glyphs: Glyphs) -> list[_Segment]:
    """Split the line at its gaps."""
    gap = _GAP * (line.size or line.height)
    segments: list[_Segment] = []
    words = glyphs.words(line)
    start, _, left, right = words[0]
    for first, _, word_left, word_right in words[1:]:
        if word_left - right > gap:
            segments.append((left, right, line.text[start:first]))
            start, left, right = first, word_left, word_right
        else:
            right = max(right, word_right)
    return [*segments, (left, right, line.text[start:])]


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    width = len(rows[0])
    filled = sum(map(bool, (cell for row in rows for cell in row)))
    if filled < _FILLED * width * len(rows):
        return False
    columns = [[cell for cell in column if cell] for column in zip(*rows, strict=True)]
    if width == 2:
        values = columns[1]
        numeric = sum(any(map(str.isdigit, value)) for value in values)
        return numeric >= 0.8 * len(values) and max(map(len, values)) <= _LONGEST_NUMBER
    prose = [sum(map(len, cells)) > _LONG * len(cells) for cells in columns]
    return sum(prose) < 2
