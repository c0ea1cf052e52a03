"""Converts tables with ruled lines or clear columns to Markdown; in doubt, text stays text."""

from collections.abc import Sequence
from itertools import pairwise

from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.layout.text_lines import Line, PageLines
from ingest.formats.pdf.tables.aligned import find_aligned
from ingest.formats.pdf.tables.blocks import blocks_beside
from ingest.formats.pdf.tables.cells import Glyphs
from ingest.formats.pdf.tables.ruled import replace_ruled
from ingest.formats.pdf.tables.ruling_lines import find_grids, may_be_in_forms

_FEWEST_GAPS = 3
_SAMPLE = 12  # objects
_DRAWN = 0.2  # share of paths in the sample
_MOST_CHARACTERS = 40_000


def tables_to_markdown(page: int, text_page: int, lines: PageLines) -> None:
    """Replace the lines of each table by Markdown."""
    if lines.has_places and lines.lines:
        _replace_tables(page, text_page, lines, mirrored=False)


def tables_right_to_left(page: int, text_page: int, lines: PageLines) -> None:
    """The same where columns are read from the right: on the page as a mirror shows it."""
    if not lines.has_places or not lines.lines:
        return
    before = lines.lines
    _mirror(before)
    try:
        lines.gaps |= _side_by_side(before)
        _replace_tables(page, text_page, lines, mirrored=True)
    finally:
        known = set(map(id, before))
        _mirror([*before, *(line for line in lines.lines if id(line) not in known)])


def _mirror(lines: Sequence[Line]) -> None:
    for line in lines:
        line.left, line.right = -line.right, -line.left


def _side_by_side(lines: Sequence[Line]) -> set[int]:
    return {
        start
        for line, following in pairwise(lines)
        if following.left >= line.right and abs(following.bottom - line.bottom) < 0.5 * line.height
        for start in (line.start, following.start)
    }


def _replace_tables(page: int, text_page: int, lines: PageLines, *, mirrored: bool) -> None:
    if lines.jumps:
        lines.gaps |= blocks_beside(lines.lines)
    has_gaps = len(lines.gaps) >= _FEWEST_GAPS
    if not has_gaps and not _has_rules(page):
        return
    grids = find_grids(page, lines.turn, mirrored=mirrored)
    if not (has_gaps or grids) or _characters(lines) > _MOST_CHARACTERS:
        return
    glyphs = Glyphs(text_page, lines.turn, mirrored=mirrored)
    for grid in grids:
        replace_ruled(lines, grid, glyphs)
    if has_gaps:
        find_aligned(lines, glyphs, near=lines.gaps)


def _characters(page: PageLines) -> int:
    return sum(line.end - line.start for line in page.lines)


def _has_rules(page: int) -> bool:
    """Whether a sample of the page's objects has many paths, or forms that may have them."""
    count = pdfium.count_objects(page)
    sample = range(0, count, max(count // _SAMPLE, 1))
    kinds = list(map(pdfium.object_type, pdfium.some_objects(page, sample)))
    return kinds.count(pdfium.PATH) > _DRAWN * len(sample) or may_be_in_forms(count, kinds)
