"""Tells which lines are bold, by the names of fonts and, where they differ, by their weights."""

import re
from functools import cache
from itertools import pairwise

from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.layout.heading_candidates import DEEP, candidates, continues
from ingest.formats.pdf.layout.text_lines import Line, PageLines

_BOLD = re.compile(rb"bold|black|heavy|demi|-bd|-blk|semibd|cmb|ssbx|sfbx|ecbx|-medi(?!um)")
_ITALIC = re.compile(rb"italic|oblique|slant|cmti|sfti|ecti|cmsl")


def find_bold(text_page: int, lines: PageLines) -> None:
    """Set `bold` and `goes_on` of lines that may be headings in the size of the body.

    Italics count as bold behind a number of several parts.
    """
    found = candidates(lines.lines)
    if not found:
        return

    @cache
    def weights_differ() -> bool:
        # Ghostscript states the weight of bold for plain fonts, too.
        longest = max(lines.lines, key=lambda line: len(line.text) if line.kind == "text" else 0)
        return not pdfium.is_heavy(text_page, longest.start)

    def is_bold(character: int) -> bool:
        return _BOLD.search(pdfium.font_name(text_page, character)) is not None or (
            pdfium.is_heavy(text_page, character) and weights_differ()
        )

    for line in found:
        line.bold = is_bold(line.start) and (not line.stands_alone or is_bold(line.end - 1))
        if not line.bold and DEEP.match(line.text):
            line.bold = _is_italic(text_page, line)
    for line, following in pairwise(lines.lines):
        if line.bold and (line.stands_alone or line.goes_on) and continues(following, line):
            following.goes_on = is_bold(following.start) and is_bold(following.end - 1)
            following.bold = following.bold or following.goes_on


def _is_italic(text_page: int, line: Line) -> bool:
    ends = line.start, line.end - 1
    return all(_ITALIC.search(pdfium.font_name(text_page, end)) for end in ends)
