"""Converts tables with ruled lines or clear columns to Markdown; in doubt, text stays text."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from ingest.formats.common.markdown import table
from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.layout.text_lines import Line, PageLines
from ingest.formats.pdf.tables.aligned import find_aligned
from ingest.formats.pdf.tables.cells import Glyphs, Word, cell_text, replace_by_table
from ingest.formats.pdf.tables.ruling_lines import Grid, find_grids

_FEWEST_GAPS = 3
_SAMPLE = 12  # objects
_DRAWN = 0.2  # share of paths in the sample
_SLACK = 1.0  # points by which a word may exceed its cell
_OUTSIDE = 4.0  # points by which text may exceed its table
_FILLED = 0.4  # minimum share of filled cells in a ruled table; forms and charts have fewer
_MOST_CHARACTERS = 40_000


def tables_to_markdown(page: int, text_page: int, lines: PageLines) -> None:
    """Replace the lines of each table by Markdown."""
    if not lines.has_places or not lines.lines:
        return
    turn = pdfium.rotation(page)
    has_gaps = len(lines.gaps) >= _FEWEST_GAPS
    grids = find_grids(page, turn) if has_gaps or _has_rules(page) else []
    if not (has_gaps or grids) or _characters(lines) > _MOST_CHARACTERS:
        return
    glyphs = Glyphs(text_page, turn)
    for grid in grids:
        _replace_ruled(lines, grid, glyphs)
    if has_gaps:
        find_aligned(lines, glyphs, near=lines.gaps)


def _characters(page: PageLines) -> int:
    return sum(line.end - line.start for line in page.lines)


def _has_rules(page: int) -> bool:
    """Whether a sample of the page's objects has many paths."""
    count = pdfium.count_objects(page)
    sample = range(0, count, max(count // _SAMPLE, 1))
    kinds = list(map(pdfium.object_type, pdfium.some_objects(page, sample)))
    return kinds.count(pdfium.PATH) > _DRAWN * len(sample)


def _replace_ruled(page: PageLines, grid: Grid, glyphs: Glyphs) -> None:
    inside = [line for line in page.lines if line.kind == "text" and _is_within(line, grid)]
    if not inside or any(
        not glyphs.has_positions(line) or _stands_out(line, grid) for line in inside
    ):
        return
    glyphs.load_words(inside)
    rows = _cells(inside, grid, glyphs)
    rows = [row for row in rows if any(row)]
    used = [column for column in range(len(grid.columns) - 1) if any(row[column] for row in rows)]
    filled = sum(bool(row[column]) for row in rows for column in used)
    whole = sum(sum(map(bool, row)) >= 2 for row in rows)
    if whole < 2 or len(used) < 2 or filled < _FILLED * len(rows) * len(used):
        return
    markdown = table([[row[column] for column in used] for row in rows])
    replace_by_table(page, inside, markdown)


def _is_within(line: Line, grid: Grid) -> bool:
    middle = (line.top + line.bottom) / 2
    return (
        grid.rows[-1] <= middle <= grid.rows[0]
        and line.right > grid.columns[0]
        and line.left < grid.columns[-1]
    )


def _stands_out(line: Line, grid: Grid) -> bool:
    return line.left < grid.columns[0] - _OUTSIDE or line.right > grid.columns[-1] + _OUTSIDE


def _cells(lines: Sequence[Line], grid: Grid, glyphs: Glyphs) -> list[list[str]]:
    """Text of each cell by row and column."""
    pieces: list[list[list[tuple[float, str]]]] = [
        [[] for _ in grid.columns[1:]] for _ in grid.rows[1:]
    ]
    inner = grid.rows[-2:0:-1]  # from the bottom up
    for line in lines:
        middle = (line.top + line.bottom) / 2
        row = len(inner) - bisect_right(inner, middle)
        for column, text in _by_column(line, grid, glyphs):
            pieces[row][column].append((middle, text))
    return [[cell_text(cell) for cell in row] for row in pieces]


def _by_column(line: Line, grid: Grid, glyphs: Glyphs) -> Iterator[tuple[int, str]]:
    """Split the line at the ruled lines that it crosses; yields column and text."""
    middle = (line.top + line.bottom) / 2
    inner = grid.columns[1:-1]
    start, current = 0, -1
    for first, _, left, right in _pieces(line, grid, glyphs):
        column = bisect_left(inner, (left + right) / 2)
        if current < 0:
            current = column
        elif column != current and _crosses(grid, current, column, middle):
            yield current, line.text[start:first]
            start, current = first, column
    if current >= 0:
        yield current, line.text[start:]


def _pieces(line: Line, grid: Grid, glyphs: Glyphs) -> Iterator[Word]:
    """The words of a line; a word across a column boundary is split into letters."""
    inner = grid.columns[1:-1]
    for word in glyphs.words(line):
        _, _, left, right = word
        if bisect_left(inner, left + _SLACK) < bisect_left(inner, right - _SLACK):
            yield from glyphs.letters(line, word)
        else:
            yield word


def _crosses(grid: Grid, column: int, other: int, y: float) -> bool:
    first, last = sorted((column, other))
    return any(grid.is_divided(boundary, y) for boundary in range(first + 1, last + 1))
