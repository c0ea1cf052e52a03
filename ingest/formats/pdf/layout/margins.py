"""Moves what interrupts the text of a page to its end: stamps in the margin, footnotes."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from ingest.formats.pdf.layout.paragraphs import NOTE
from ingest.formats.pdf.layout.text_lines import Line, PageLines

_SMALLER = 0.92  # times the usual size; footnotes are set smaller
_SUPER = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_RAISED = re.compile("[⁰¹²³⁴-⁹]+|[*†‡§]+")
_FIGURES = frozenset("0123456789[")
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
            for line in notes:
                line.kind = "note"
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
        if line.kind == "running":
            continue
        if line.size < _SMALLER * usual and line.top < limit and line.kind == "text":
            if block or NOTE.match(line.text):
                block.append(line)
        elif block:  # text follows: it is in the next column
            if line.bottom > block[0].top:
                found += block
            block = []
    return found + block


def move_notes_to_sections(pages: Sequence[PageLines]) -> None:
    """Put each footnote before the heading that ends the section with its mark.

    Notes whose section goes on at the end of the page, or whose mark is not found, stay there: on
    a later page they would be cited with the wrong one.
    """
    for page in pages:
        notes = [line for line in page.lines if line.kind == "note"]
        headings = [index for index, line in enumerate(page.lines) if line.level]
        if not notes or not headings:
            continue
        marked: dict[str, int] = {}
        for index, line in enumerate(page.lines):
            if line.kind != "note":
                for match in _RAISED.finditer(line.text):
                    marked.setdefault(match.group(), index)
        before: dict[int, list[Line]] = {}
        end, last = len(page.lines), ""
        for line in notes:
            mark = _mark(line.text) if NOTE.match(line.text) else ""
            at = marked.get(mark)
            # A line of a note may begin with a figure; a note whose mark is lost follows another.
            is_next = line.text[0] not in _FIGURES or mark == _next(last)
            if at is not None or (mark and is_next):
                last = mark
                end = next((h for h in headings if at is not None and h > at), len(page.lines))
            before.setdefault(end, []).append(line)
        if set(before) != {len(page.lines)}:
            page.lines = list(_with_notes(page.lines, before))


def _mark(text: str) -> str:
    """The mark of a footnote as it stands in the text, raised."""
    return re.split(r"[^\W\d_]", text, maxsplit=1)[0].strip(" []\t").translate(_SUPER)


def _next(mark: str) -> str:
    """The mark of the note behind the one with this mark."""
    figures = unicodedata.normalize("NFKC", mark)
    return str(int(figures) + 1).translate(_SUPER) if figures.isdecimal() else ""


def _with_notes(lines: Sequence[Line], before: dict[int, list[Line]]) -> Iterator[Line]:
    """The lines; those of notes that belong before another line only there."""
    moved = {id(line) for index, notes in before.items() if index < len(lines) for line in notes}
    for index, line in enumerate(lines):
        if line.level:
            yield from before.get(index, ())
        if id(line) not in moved:
            yield line
