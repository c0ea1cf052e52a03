"""Tables without ruled lines: rows of the same few columns, with clear gaps between them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from ingest.pipeline.extract.markdown_text import table
from ingest.pipeline.extract.pdf_cells import Glyphs, cell_text, is_beside, put_table
from ingest.pipeline.extract.pdf_lines import Line, PageLines

_GAP = 0.75  # of the font size between two cells; words of a text stand closer
_FEWEST_ROWS = 3
_FILLED = 0.6  # of the cells
_LONG = 28.0  # characters a cell on average; columns of prose are wider
_APART = 2.0  # heights of a line between rows

_Segment = tuple[float, float, str]
"""Left, right, text of a cell."""


@dataclass(slots=True)
class _Run:
    """Rows that may be a table."""

    columns: list[tuple[float, float]] = field(default_factory=list)
    rows: list[list[tuple[int, str]]] = field(default_factory=list)
    """Of each row its cells with their columns."""
    lines: list[Line] = field(default_factory=list)

    def take(self, segments: Sequence[_Segment]) -> bool:
        """Add a row; False if its cells do not fit the columns."""
        places = [self._column(left, right) for left, right, _ in segments]
        known = [place for place in places if place is not None and place >= 0]
        if None in places or len(set(known)) < len(known):
            return False
        cells = []
        for place, (left, right, text) in zip(places, segments, strict=True):
            index = place if place is not None and place >= 0 else len(self.columns)
            if index == len(self.columns):
                self.columns.append((left, right))
            first, last = self.columns[index]
            self.columns[index] = (min(first, left), max(last, right))
            cells.append((index, text))
        self.rows.append(cells)
        return True

    def _column(self, left: float, right: float) -> int | None:
        """The one column it is in, -1 for none, None for several."""
        over = [
            index
            for index, (first, last) in enumerate(self.columns)
            if left < last and right > first
        ]
        if len(over) > 1:
            return None
        return over[0] if over else -1


def find_aligned(page: PageLines, glyphs: Glyphs, *, near: Collection[int]) -> None:
    """Put Markdown in place of rows that are surely a table.

    Looked at are rows with a line that starts at a character in `near`, and those beside them.
    """
    run = _Run()
    found = [run]
    previous: Sequence[Line] = ()
    rows = list(_rows(page.lines))
    marked = [any(line.start in near for line in row) for row in rows]
    for index, row in enumerate(rows):
        segments = (
            [segment for line in row for segment in _segments(line, glyphs)]
            if any(marked[max(index - 1, 0) : index + 2]) and all(map(glyphs.knows, row))
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
        if _is_table(candidate):
            _put(page, candidate)


def _rows(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Lines of one height that stand side by side and follow each other."""
    row: list[Line] = []
    for line in lines:
        if row and not is_beside(row[-1], line):
            yield row
            row = []
        row.append(line)
    if row:
        yield row


def _follows(previous: Sequence[Line], row: Sequence[Line]) -> bool:
    """Whether a row is right below another."""
    if not previous:
        return False
    distance = previous[0].top - row[0].top
    return 0 < distance < (_APART + 1) * max(row[0].height, previous[0].height)


def _put(page: PageLines, run: _Run) -> None:
    order = sorted(range(len(run.columns)), key=lambda index: run.columns[index][0])
    rows = [
        [cell_text([(0, text) for place, text in row if place == index]) for index in order]
        for row in run.rows
    ]
    put_table(page, run.lines, table(rows))


def _segments(line: Line, glyphs: Glyphs) -> list[_Segment]:
    """The line cut at its gaps."""
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


def _is_table(run: _Run) -> bool:
    if len(run.rows) < _FEWEST_ROWS:
        return False
    cells = [(index, text.strip()) for row in run.rows for index, text in row]
    width = len(run.columns)
    if len(cells) < _FILLED * width * len(run.rows):
        return False
    if width == 2:
        values = [text for index, text in cells if index == _rightmost(run)]
        numeric = sum(any(character.isdigit() for character in text) for text in values)
        return numeric >= 0.8 * len(values) and max(map(len, values), default=0) <= 20
    prose = 0
    for column in range(width):
        texts = [text for index, text in cells if index == column]
        prose += sum(map(len, texts)) > _LONG * len(texts)
    return prose < 2


def _rightmost(run: _Run) -> int:
    return max(range(len(run.columns)), key=lambda index: run.columns[index][0])
