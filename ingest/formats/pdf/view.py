"""Shows a page of a PDF: its picture, and where each letter of its text layer stands."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, Final

from PIL import Image
from pypdfium2 import PdfDocument, PdfiumError, PdfPage

from ingest.errors import Permanent
from ingest.formats.common.page_view import Letters, fitting, no_such_page
from ingest.formats.pdf import pictures
from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.engine.pdfium import Box
from ingest.formats.pdf.layout.rotation import rotated
from ingest.formats.pdf.layout.spans import utf16_indices

_IN_MEMORY: Final = 64 * 1024 * 1024  # bytes; larger files are read from disk, which is slower
_MOST_LETTERS: Final = 100_000
_NOWHERE: Final = (0.0, 0.0, 0.0, 0.0)
_SIDELONG: Final = 3  # a line runs up or down if it is so many times as high as wide


@contextmanager
def open_page(source: BinaryIO, number: int) -> Iterator["_Page"]:
    """Open the page with this 1-based number. Raises Permanent `corrupt` and `too_large`."""
    head = source.read(_IN_MEMORY + 1)
    source.seek(0)
    try:
        document = PdfDocument(head if len(head) <= _IN_MEMORY else source)
    except PdfiumError as error:
        raise Permanent("pdfium cannot open this PDF.", code="corrupt") from error
    try:
        if not 1 <= number <= len(document):
            raise no_such_page(number)
        if document.get_formtype():
            document.init_forms()
        page = _loaded(document, number - 1)
        try:
            yield _Page(page)
        finally:
            page.close()
    finally:
        document.close()


def _loaded(document: PdfDocument, index: int) -> PdfPage:
    """The page; the values of a form become part of it, as when its text was extracted."""
    try:
        page = document[index]
        if document.formenv is not None:
            try:
                page.flatten()
            except PdfiumError:  # flattening failed and left the page unchanged
                return page
            page.close()
            page = document[index]
    except PdfiumError as error:
        raise Permanent("This page is damaged.", code="corrupt") from error
    return page


class _Page:
    def __init__(self, page: PdfPage) -> None:
        self._page = page
        self._handle = pdfium.address(page.raw)

    @property
    def size(self) -> tuple[float, float]:
        width, height = self._page.get_size()
        if width <= 0 or height <= 0:
            raise Permanent("This page has no size.", code="corrupt")
        return width, height

    def draw(self, width: int) -> Image.Image:
        if pictures.is_too_large(self._handle):
            raise Permanent("The pictures on this page are too large.", code="too_large")
        pixels, _ = fitting(self.size, width)
        bitmap = self._page.render(scale=pixels / self.size[0], rev_byteorder=True)
        try:
            image: Image.Image = bitmap.to_pil().copy()
            return image
        finally:
            bitmap.close()

    def letters(self) -> Letters | None:
        text_page = pdfium.load_text(self._handle)
        if not text_page:
            return None
        try:
            text, count = pdfium.text(text_page)
            text = text[:_MOST_LETTERS]
            characters: Sequence[int] = range(len(text))
            if count != len(text):  # text and character indices differ: look each one up
                characters = pdfium.chars_at_text(text_page, utf16_indices(text, characters))
            boxes = pdfium.char_boxes(text_page, characters)
        finally:
            pdfium.close_text(text_page)
        turn = pdfium.rotation(self._handle)
        shown = rotated(pdfium.page_box(self._handle), turn)
        return _lines_in_order(Letters(text, [_share(rotated(box, turn), shown) for box in boxes]))


def _lines_in_order(letters: Letters) -> Letters:
    """With the lines of text that runs up or down the page as they are read: pdfium may have the
    last one first."""
    lines: list[tuple[float, str, Sequence[Box]]] = []
    place, sidelong = 0, 0
    for line in letters.text.splitlines(keepends=True):
        boxes = letters.boxes[place : place + len(line)]
        place += len(line)
        seen = [box for box in boxes if box != _NOWHERE]
        way = seen[-1][1] - seen[0][1] if seen else 0.0
        sidelong += len(line) if abs(way) > _SIDELONG * _width(seen) else 0
        # Text that runs down has its first line on the right.
        lines.append(((-1 if way > 0 else 1) * seen[0][0] if seen else 0.0, line, boxes))
    if 2 * sidelong < len(letters.text):
        return letters
    lines.sort(key=lambda line: line[0])
    return Letters(
        "".join(text for _, text, _ in lines), [box for _, _, boxes in lines for box in boxes]
    )


def _width(boxes: Sequence[Box]) -> float:
    return max((box[2] for box in boxes), default=0) - min((box[0] for box in boxes), default=0)


def _share(box: Box, page: Box) -> Box:
    """A box in shares of the page, from its upper left corner; empty if it is not on the page."""
    left, top, right, bottom = page
    width, height = right - left, top - bottom
    if box[0] >= box[2] or box[3] >= box[1] or width <= 0 or height <= 0:
        return _NOWHERE
    x0, x1 = ((side - left) / width for side in (box[0], box[2]))
    y0, y1 = ((top - side) / height for side in (box[1], box[3]))
    if x1 <= 0 or x0 >= 1 or y1 <= 0 or y0 >= 1:
        return _NOWHERE
    return max(x0, 0.0), max(y0, 0.0), min(x1, 1.0), min(y1, 1.0)
