"""Finds tables without ruled lines: rows with the same columns, separated by clear gaps."""

from bisect import bisect_right, insort
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from ingest.formats.common.markdown import plain
from ingest.formats.pdf.layout.raised import is_mark_of_note
from ingest.formats.pdf.layout.text_lines import SLACK, Line, PageLines, Table
from ingest.formats.pdf.tables.cells import Glyphs, replace_by_table, replace_lines
from ingest.formats.pdf.tables.groups import under_groups
from ingest.formats.pdf.tables.kinds import as_form, is_contents, is_table
from ingest.formats.pdf.tables.rows import (
    WIDER,
    Piece,
    baselines,
    first_baselines,
    grouped,
    is_half_line,
    is_number,
    texts,
)

_GAP = 0.75  # font sizes between two cells; words of a sentence are closer
_FEWEST_ROWS = 3
_FEWEST_GAPS = 2  # in the lines that are likely to have one, or stand side by side
_APART = 2.0  # line heights between rows
_WRAPPED = 0.7  # line heights between the lines of a cell
_BETWEEN = 6  # lines without gaps between two lines with gaps, as where a cell wraps
_BEFORE, _AFTER = 2, 4  # lines around those with gaps
_SMALLER = 0.85  # times the height of the text beside it: a raised mark
_TOUCHING = 0.5  # line heights between a mark and its text
_JUMP = 8.0  # line heights; further up begins a column of the page, not a cell


@dataclass(slots=True)
class _Run:
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
                if not self._runs_over(piece, place, is_alone=len(pieces) == 1):
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

    def placed(self) -> list[list[Piece]]:
        """The baselines, each piece with its column."""
        return [
            [Piece(bisect_right(self.lefts, piece.left) - 1, *piece[1:]) for piece in line]
            for line in self.lines
        ]


def find_aligned(page: PageLines, glyphs: Glyphs, *, near: Collection[int]) -> None:
    """Replace rows that clearly form a table by Markdown, and those of a form by `label: value`.

    Examines only lines whose `start` is in `near`, and their neighbours.
    """
    for stretch in list(_stretches(page.lines, near)):
        likely = [line for line in stretch if line.start in near]
        glyphs.load_words(likely)
        pieces = [(piece, line) for line in likely for piece in _split(line, glyphs)]
        if len(pieces) < len(likely) + _FEWEST_GAPS:
            continue
        others = [line for line in stretch if line.start not in near]
        glyphs.load_words(others)
        pieces += [(piece, line) for line in others for piece in _split(line, glyphs)]
        owners = {id(piece): [line] for piece, line in pieces}
        rows = baselines([piece for piece, _ in pieces])
        for run in _runs([_with_mark(row, owners) for row in rows]):
            if len(run.lines) < _FEWEST_ROWS:
                continue
            inside = {o.start: o for line in run.lines for p in line for o in owners[id(p)]}
            _replace(page, run, list(inside.values()))


def _replace(page: PageLines, run: _Run, inside: Sequence[Line]) -> None:
    lines = under_groups(run.placed(), run.lefts, run.rights)
    rows = [texts(row, len(run.lefts)) for row in grouped(lines, first_baselines(lines))]
    if len(rows) < _FEWEST_ROWS:
        return
    pairs = as_form(rows)
    if pairs is not None:
        _replace_by_pairs(page, inside, pairs)
    elif is_table(rows) and not is_contents(rows):
        columns = list(zip(run.lefts, run.rights, strict=True))
        replace_by_table(page, inside, Table(rows, columns))


def _replace_by_pairs(page: PageLines, inside: Sequence[Line], pairs: Sequence[str]) -> None:
    """Replace the lines of a form by a line for each label with its value."""
    replace_lines(page, inside, plain("\n".join(pairs)))


def _stretches(lines: Sequence[Line], near: Collection[int]) -> Iterator[list[Line]]:
    """Lines around those with gaps, in the order of the file, without jumps to another column."""
    marked = [
        index for index, line in enumerate(lines) if line.start in near and line.kind == "text"
    ]
    at = 0
    while at < len(marked):
        last = at
        while last + 1 < len(marked) and marked[last + 1] - marked[last] <= _BETWEEN + 1:
            last += 1
        if last - at + 1 < _FEWEST_ROWS:
            at = last + 1
            continue
        stretch: list[Line] = []
        lowest = 0.0
        for line in lines[max(marked[at] - _BEFORE, 0) : marked[last] + 1 + _AFTER]:
            if stretch and _is_elsewhere(stretch[-1], line, lowest):
                yield stretch
                stretch = []
            lowest = min(lowest, line.bottom) if stretch else line.bottom
            stretch.append(line)
        yield stretch
        at = last + 1


def _is_elsewhere(previous: Line, line: Line, lowest: float) -> bool:
    rises = line.bottom - previous.bottom > _JUMP * previous.height
    return rises or lowest - line.top > _APART * previous.height


def _runs(lines: Sequence[list[Piece]]) -> Iterator[_Run]:
    """Baselines below each other whose cells fit the same columns."""
    run = _Run()
    for index, line in enumerate(lines):
        if run.lines:
            gap = run.lines[-1][0].middle - line[0].middle - line[0].height
            if gap < -SLACK * line[0].height and _is_over(line[0], run.lines[-1]):
                continue  # printed over the table
            most = _APART if len(line) > 1 else _WRAPPED
            is_title = len(line) == 1 and _is_title(line[0], run, lines[index + 1 : index + 2])
            if gap < most * line[0].height and not is_title and run.take(line):
                continue
            yield _without_end(run)
            run = _Run()
        if len(line) > 1:
            run.take(line)
    if run.lines:
        yield _without_end(run)


def _with_mark(row: list[Piece], owners: dict[int, list[Line]]) -> list[Piece]:
    """The pieces of a baseline from the left; the raised mark of a note is one with its text.

    `owners`: the lines of each piece, by its id.
    """
    row.sort(key=lambda piece: piece.left)
    if len(row) < 2:
        return row
    mark, text, *rest = row
    is_near = text.left - mark.right < _TOUCHING * text.height
    if not is_near or mark.height > _SMALLER * text.height:
        return row
    if not is_mark_of_note(mark.text.strip(), text.text.strip()):
        return row
    both = Piece(0, mark.left, text.right, text.middle, text.height, f"{mark.text} {text.text}")
    owners[id(both)] = owners[id(mark)] + owners[id(text)]
    return [both, *rest]


def _is_over(piece: Piece, row: Sequence[Piece]) -> bool:
    """Whether a piece is printed over others; a cell in the middle of its row is beside them."""
    return any(piece.left < other.right and other.left < piece.right for other in row)


def _is_title(piece: Piece, run: _Run, below: Sequence[Sequence[Piece]]) -> bool:
    """Whether a line is the title of the next table: set apart, and above a row without numbers."""
    if piece.left > run.rights[0] or not below or len(below[0]) < 2 or len(run.lines) < 2:
        return False
    pitch = run.lines[-2][0].middle - run.lines[-1][0].middle
    is_apart = run.lines[-1][0].middle - piece.middle > WIDER * pitch
    return is_apart and not any(is_number(other.text.strip()) for other in below[0])


def _without_end(run: _Run) -> _Run:
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


def _split(line: Line, glyphs: Glyphs) -> Iterator[Piece]:
    """Split the line at its gaps; columns are not yet known."""
    middle = (line.top + line.bottom) / 2
    words = glyphs.words(line) if glyphs.has_positions(line) else []
    if not words:
        yield Piece(0, line.left, line.right, middle, line.height, line.text)
        return
    gap = _GAP * (line.size or line.height)
    start, _, left, right = words[0]
    for first, _, word_left, word_right in words[1:]:
        if word_left - right > gap:
            yield Piece(0, left, right, middle, line.height, line.text[start:first])
            start, left, right = first, word_left, word_right
        else:
            right = max(right, word_right)
    yield Piece(0, left, right, middle, line.height, line.text[start:])
