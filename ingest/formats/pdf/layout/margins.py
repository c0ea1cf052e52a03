"""Moves what interrupts the text of a page to its end: stamps in the margin, footnotes."""

import re
from collections import Counter
from collections.abc import Sequence

from ingest.formats.pdf.layout.text_lines import Line, PageLines

_SMALLER = 0.92  # times the usual size; footnotes are set smaller
_MARK = re.compile(r"(?:\d{1,3}|[*†‡§¹²³⁴-⁹]{1,3}|\[\d{1,3}\])\s*[^\W\d_\s]")
_LOWEST = 0.45  # share of the page's height, from below, in which footnotes stand


def move_margins_last(pages: Sequence[PageLines]) -> None:
    """Keep the order of the other lines."""
    for page in pages:
        if not page.has_places or len(page.lines) < 2:
            continue
        turned = [line for line in page.lines if line.top - line.bottom > line.right - line.left]
        turned = [line for line in turned if line.is_turned and line.kind == "text"]
        if 2 * len(turned) >= len(page.lines):  # the page itself is turned
            turned = []
        notes = _footnotes(page)
        if turned or notes:
            moved = {id(line) for line in (*turned, *notes)}
            rest = [line for line in page.lines if id(line) not in moved]
            page.lines = [*rest, *notes, *turned]


def _footnotes(page: PageLines) -> list[Line]:
    """Small lines at the end of a column that begin with a mark, if text follows them."""
    sizes = Counter[float]()
    for line in page.lines:
        sizes[line.size] += len(line.text)
    usual = sizes.most_common(1)[0][0]
    if min(sizes) >= _SMALLER * usual:
        return []
    limit = page.box[3] + _LOWEST * (page.box[1] - page.box[3])
    found: list[Line] = []
    block: list[Line] = []
    for line in page.lines:
        if line.size < _SMALLER * usual and line.top < limit and line.kind == "text":
            if block or _MARK.match(line.text):
                block.append(line)
        elif block:  # text follows: it is in the next column
            if line.bottom > block[0].top:
                found += block
            block = []
    return found
