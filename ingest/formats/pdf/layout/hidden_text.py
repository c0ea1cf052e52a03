"""Drops hidden text that is as long as a sentence, as it may be a prompt injection.

Hidden means: the invisible render mode, full transparency, white on an unpainted page, a tiny font,
a position off the page. OCR programs put invisible text over a scan, so it is kept where it is most
of a page.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.layout.rotation import rotated
from ingest.formats.pdf.layout.text_lines import Line, PageLines

_NO_LETTERS = re.compile(r"[\W\d_]+")
_MODES = (3, 7)  # invisible, and clipping only
_SENTENCE = 30  # letters; page numbers are shorter, instructions are not
_TINY = 1.5  # points
_WHITE = 248  # of 255
_MOST_OBJECTS = 3000


def drop_hidden(page: int, text_page: int, lines: PageLines) -> str | None:
    """Remove hidden lines; returns a warning if they held a sentence.

    `hidden_text`, or `off_page_text` for text outside the page box, such as printers' notes.
    """
    invisible: list[Line] = []
    if lines.has_places and lines.lines:
        invisible = list(_invisible_lines(page, text_page, lines))
    if invisible and _letters(line.text for line in invisible) >= _SENTENCE:
        if 2 * len(invisible) < len(lines.lines):
            gone = {id(line) for line in invisible}
            lines.lines = [line for line in lines.lines if id(line) not in gone]
            return "hidden_text"
        return None if _has_image(page) else "hidden_text"
    beside = lines.off_page
    return "off_page_text" if beside and _letters(beside) >= _SENTENCE else None


def _letters(texts: Iterable[str]) -> int:
    return len(_NO_LETTERS.sub("", "".join(texts)))


def _invisible_lines(page: int, text_page: int, shown: PageLines) -> Iterator[Line]:
    """Lines that are invisible, transparent, tiny or white on white."""
    lines = shown.lines
    styles = pdfium.char_styles(text_page, [line.start for line in lines])
    different = set(styles)
    unseen = {style for style in different if style[0] in _MODES or style[4] == 0}
    white = {style for style in different - unseen if min(style[1:4]) >= _WHITE}
    if unseen:
        yield from (line for line, style in zip(lines, styles, strict=True) if style in unseen)
    yield from (line for line in lines if 0 < line.size < _TINY)
    if white:
        written = [line for line, style in zip(lines, styles, strict=True) if style in white]
        yield from _unpainted(page, shown.turn, written)


def _unpainted(page: int, turn: int, white: Sequence[Line]) -> Iterator[Line]:
    """White lines with only the white page behind them."""
    painted = list(_painted(page))
    if not painted:
        yield from white
        return
    columns = pdfium.all_bounds(painted).T
    left, top, right, bottom = rotated((*columns,), turn)
    for line in white:
        x, y = line.left + 0.3 * line.size, (line.top + line.bottom) / 2  # in the first letter
        if not ((left <= x) & (x <= right) & (bottom <= y) & (y <= top)).any():
            yield line


def _painted(page: int) -> Iterator[int]:
    """Objects that may be dark: images, shadings, form XObjects, areas filled in a colour."""
    for handle in pdfium.page_objects(page, _MOST_OBJECTS):
        kind = pdfium.object_type(handle)
        if kind == pdfium.PATH:
            if not pdfium.draws(handle)[0]:
                continue
            red, green, blue, opacity = pdfium.object_colour(handle)
            if opacity == 0 or min(red, green, blue) >= _WHITE:
                continue
        elif kind == pdfium.TEXT:
            continue
        yield handle


def _has_image(page: int) -> bool:
    return any(
        pdfium.object_type(handle) in (pdfium.IMAGE, pdfium.FORM)
        for handle in pdfium.page_objects(page, _MOST_OBJECTS)
    )
