"""Fills the cells between ruled lines, also where only columns are ruled, and merged cells."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ingest.formats.pdf.layout.text_lines import Line, PageLines, Table
from ingest.formats.pdf.tables.cells import Glyphs, Word, replace_by_table
from ingest.formats.pdf.tables.rows import (
    Piece,
    baselines,
    first_baselines,
    grouped,
    is_number,
    numeric_columns,
    texts,
)
from ingest.formats.pdf.tables.ruling_lines import Grid

_SLACK = 1.0  # points by which a word may exceed its cell
_OUTSIDE = 4.0  # points by which text may exceed its table
_TIGHT = 0.1  # line heights between letters of a word
_FEW_CUT, _CUT = 1, 0.05  # words through which rules run, and their share
_INNER_GAP = 1.5  # line heights between words; above this, they are not in one cell
_FILLED = 0.4  # minimum share of filled cells in a ruled table; forms and charts have fewer
_MERGED = 0.4  # share of cells that belong to another; diagrams have more
_LONGEST_REPEATED = 60  # characters of a merged cell: a label, not a text
_FEW_BANDS = 3  # between ruled lines; a table with more is ruled by rows
_FEWEST_ROWS = 3  # in a band without numbers

Cell = tuple[int, int]
"""Row and column in the grid."""

PlacedWord = tuple[Word, int, int]
"""A word with the columns of its edges, the second lower if it is narrow and on a rule."""

PlacedWords = Mapping[int, Sequence[PlacedWord]]
"""The words of each line, by its id."""


def replace_ruled(page: PageLines, grid: Grid, glyphs: Glyphs) -> None:
    """Replace the lines inside the grid by a table, if they fill it like one."""
    inside = [line for line in page.lines if line.kind == "text" and _is_within(line, grid)]
    if not inside or any(
        not glyphs.has_positions(line) or _stands_out(line, grid) for line in inside
    ):
        return
    glyphs.load_words(inside)
    placed = {id(line): list(_placed(line, grid, glyphs)) for line in inside}
    if _cuts_words(inside, placed, grid, glyphs) or _has_undivided(inside, placed, grid):
        return
    merged = _merged_cells(grid)
    inside = _below_titles(inside, grid, merged)
    pieces = _pieces_by_band(inside, placed, grid, glyphs)
    used = sorted({piece.column for band in pieces.values() for piece in band})
    bands = sorted(pieces)
    rows: list[list[str]] = []
    whole_bands: dict[int, int] = {}
    is_unsure = False  # whether what is taken for one row may be several
    for band in bands:
        lines = baselines(pieces[band])
        starts = first_baselines(lines, grid.columns[1:]) if len(lines) > 1 else []
        is_split = len(starts) > 1 and _are_rows(lines, starts, len(bands))
        if not is_split:
            whole_bands[band] = len(rows)
            is_unsure = is_unsure or len(starts) > 1
        found = grouped(lines, starts) if is_split else [pieces[band]]
        rows += [texts(row, len(grid.columns) - 1) for row in found]
    if grid.is_open and is_unsure and len(rows) < _FEWEST_ROWS:
        return
    filled = sum(bool(row[column]) for row in rows for column in used)
    hidden = sum(row in bands and column in used for row, column in merged)
    if hidden > _MERGED * len(rows) * len(used):
        return
    whole = sum(sum(map(bool, row)) >= 2 for row in rows)
    if whole < 2 or len(used) < 2 or filled < _FILLED * (len(rows) * len(used) - hidden):
        return
    _repeat_merged(rows, whole_bands, merged)
    columns = [(grid.columns[column], grid.columns[column + 1]) for column in used]
    replace_by_table(
        page, inside, Table([[row[column] for column in used] for row in rows], columns)
    )


def _placed(line: Line, grid: Grid, glyphs: Glyphs) -> Iterator[PlacedWord]:
    inner = grid.columns[1:-1]
    for word in glyphs.words(line):
        _, _, left, right = word
        yield word, bisect_left(inner, left + _SLACK), bisect_left(inner, right - _SLACK)


def _cuts_words(inside: Sequence[Line], placed: PlacedWords, grid: Grid, glyphs: Glyphs) -> bool:
    """Whether rules run through words, as those of squared paper do.

    Cells without a space between them are one word, too, but their letters stand apart.
    """
    inner = grid.columns[1:-1]
    cut = 0
    for line in inside:
        middle = (line.top + line.bottom) / 2
        for word, first, last in placed[id(line)]:
            if first < last and _crosses(grid, first, last, middle):
                gaps = _gaps(glyphs.letters(line, word), inner)
                cut += min(gaps, default=1.0) < _TIGHT * line.height
    count = sum(map(len, placed.values()))
    return cut > (0 if grid.is_open else max(_FEW_CUT, _CUT * count))


def _has_undivided(inside: Sequence[Line], placed: PlacedWords, grid: Grid) -> bool:
    """Whether rows in one band have columns without rules: only the header is divided by them."""
    bands = [_band(line, grid) for line in inside]
    sizes = Counter(bands)
    needed = {band: max(_FEWEST_ROWS, size / 2) for band, size in sizes.items()}
    rows, left = Counter[int](), sizes.copy()
    for line, band in zip(inside, bands, strict=True):
        if rows[band] + left[band] >= needed[band]:
            left[band] -= 1
            rows[band] += _is_undivided(line, placed[id(line)], grid)
    return any(count >= needed[band] for band, count in rows.items())


def _is_undivided(line: Line, words: Sequence[PlacedWord], grid: Grid) -> bool:
    """Whether a line has a gap as between two cells, and no rule in it."""
    least = _INNER_GAP * line.height
    for ((_, _, _, end), column, _), ((first, last, start, _), other, _) in pairwise(words):
        if (
            start - end > least
            and (column != other or is_number(line.text[first:last]))
            and not _crosses(grid, column, other, (line.top + line.bottom) / 2)
        ):
            return True
    return False


def _gaps(letters: Sequence[Word], boundaries: Sequence[float]) -> Iterator[float]:
    """The gaps between letters of different columns."""
    for (_, _, left, right), (_, _, next_left, next_right) in pairwise(letters):
        column = bisect_left(boundaries, (left + right) / 2)
        if column != bisect_left(boundaries, (next_left + next_right) / 2):
            yield next_left - right


def _is_within(line: Line, grid: Grid) -> bool:
    middle = (line.top + line.bottom) / 2
    return (
        grid.rows[-1] <= middle <= grid.rows[0]
        and line.right > grid.columns[0]
        and line.left < grid.columns[-1]
    )


def _stands_out(line: Line, grid: Grid) -> bool:
    return line.left < grid.columns[0] - _OUTSIDE or line.right > grid.columns[-1] + _OUTSIDE


def _band(line: Line, grid: Grid) -> int:
    inner = grid.rows[-2:0:-1]  # from the bottom up
    return len(inner) - bisect_right(inner, (line.top + line.bottom) / 2)


def _below_titles(lines: list[Line], grid: Grid, merged: dict[Cell, Cell]) -> list[Line]:
    """The lines without those in a first row that is one cell: the title stays text."""
    for band in range(len(grid.rows) - 2):
        if any(
            merged.get((band, column)) != (band, 0) for column in range(1, len(grid.columns) - 1)
        ):
            break
        lines = [line for line in lines if _band(line, grid) != band]
    return lines


def _pieces_by_band(
    lines: Sequence[Line], placed: PlacedWords, grid: Grid, glyphs: Glyphs
) -> dict[int, list[Piece]]:
    found: dict[int, list[Piece]] = {}
    for line in lines:
        band = found.setdefault(_band(line, grid), [])
        band += _by_column(line, placed[id(line)], grid, glyphs)
    return {band: pieces for band, pieces in found.items() if pieces}


def _are_rows(lines: Sequence[Sequence[Piece]], starts: Sequence[int], bands: int) -> bool:
    """Whether several rows are between two ruled lines: where only the columns are ruled."""
    if numeric_columns([lines[index] for index in starts]):
        return True
    return bands <= _FEW_BANDS and len(starts) >= _FEWEST_ROWS and not _is_prose(lines, starts)


def _is_prose(lines: Sequence[Sequence[Piece]], starts: Sequence[int]) -> bool:
    """Whether a cell goes on where a row would begin."""
    return any(piece.text.strip()[:1].islower() for index in starts[1:] for piece in lines[index])


def _merged_cells(grid: Grid) -> dict[Cell, Cell]:
    """Cells without a ruled line to the left or above, with the first cell that they belong to."""
    found: dict[Cell, Cell] = {}
    xs = [(left + right) / 2 for left, right in zip(grid.columns, grid.columns[1:], strict=False)]
    for row, (top, bottom) in enumerate(zip(grid.rows, grid.rows[1:], strict=False)):
        for column, x in enumerate(xs):
            if column and not grid.is_divided(column, (top + bottom) / 2):
                found[row, column] = found.get((row, column - 1), (row, column - 1))
            elif row and not grid.is_ruled(row, x):
                found[row, column] = found.get((row - 1, column), (row - 1, column))
    return found


def _repeat_merged(
    rows: Sequence[list[str]], at: Mapping[int, int], merged: dict[Cell, Cell]
) -> None:
    """Write the text of each merged cell into all cells that it covers, but not across a table.

    `at`: the row of each band that is one row.
    """
    covered: dict[Cell, list[Cell]] = {}
    for cell, first in merged.items():
        covered.setdefault(first, [first]).append(cell)
    for cells in covered.values():
        here = [(at[row], column) for row, column in cells if row in at]
        contents = {rows[row][column] for row, column in here} - {""}
        widths = {column for _, column in here}
        if len(contents) != 1 or len(widths) == len(rows[0]):
            continue
        (text,) = contents
        if len(text) <= _LONGEST_REPEATED:
            for row, column in here:
                rows[row][column] = text


def _by_column(
    line: Line, words: Sequence[PlacedWord], grid: Grid, glyphs: Glyphs
) -> Iterator[Piece]:
    """The line, split at the ruled lines that it crosses."""
    height = line.height
    middle = (line.top + line.bottom) / 2
    start, current, edge, end = 0, -1, line.left, line.left
    for first, left, right, column in _columns(line, words, grid, glyphs):
        if current < 0:
            current = column
        elif column != current and _crosses(grid, current, column, middle):
            yield Piece(current, edge, end, middle, height, line.text[start:first])
            start, current, edge = first, column, left
        end = right
    if current >= 0:
        yield Piece(current, edge, line.right, middle, height, line.text[start:])


def _columns(
    line: Line, words: Sequence[PlacedWord], grid: Grid, glyphs: Glyphs
) -> Iterator[tuple[int, float, float, int]]:
    """Start, left, right and column of each word; one across a boundary is split into letters."""
    inner = grid.columns[1:-1]
    for word, column, last in words:
        start, _, left, right = word
        if column == last:
            yield start, left, right, column
            continue
        for first, _, x0, x1 in glyphs.letters(line, word) if column < last else [word]:
            yield first, x0, x1, bisect_left(inner, (x0 + x1) / 2)


def _crosses(grid: Grid, column: int, other: int, y: float) -> bool:
    first, last = (column, other) if column < other else (other, column)
    for boundary in range(first + 1, last + 1):  # noqa: SIM110  # mostly one: any() takes twice
        if grid.is_divided(boundary, y):
            return True
    return False
