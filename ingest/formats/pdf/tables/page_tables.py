"""Converts tables with ruled lines or clear columns to Markdown; in doubt, text stays text."""

from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.layout.text_lines import PageLines
from ingest.formats.pdf.tables.aligned import find_aligned
from ingest.formats.pdf.tables.cells import Glyphs
from ingest.formats.pdf.tables.ruled import replace_ruled
from ingest.formats.pdf.tables.ruling_lines import find_grids

_FEWEST_GAPS = 3
_SAMPLE = 12  # objects
_DRAWN = 0.2  # share of paths in the sample
_MOST_CHARACTERS = 40_000


def tables_to_markdown(page: int, text_page: int, lines: PageLines) -> None:
    """Replace the lines of each table by Markdown."""
    if not lines.has_places or not lines.lines:
        return
    has_gaps = len(lines.gaps) >= _FEWEST_GAPS
    grids = find_grids(page, lines.turn) if has_gaps or _has_rules(page) else []
    if not (has_gaps or grids) or _characters(lines) > _MOST_CHARACTERS:
        return
    glyphs = Glyphs(text_page, lines.turn)
    for grid in grids:
        replace_ruled(lines, grid, glyphs)
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
