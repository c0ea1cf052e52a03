"""Tells pages that are pictures from blank pages, and runs OCR on them."""

import math
import re
from dataclasses import dataclass

from pypdfium2 import PdfDocument

from ingest.errors import Permanent
from ingest.formats.common.ink import has_writing
from ingest.formats.common.input_file import Recogniser
from ingest.formats.pdf.engine import pdfium
from ingest.optional_steps import improve
from ingest.page_words import Recognised

FEW_LETTERS = 100
"""Characters; a page with as many or more is not checked for being a picture."""

_A_FEW = 20  # letters and digits; page numbers, stamps and noise have fewer
_FULL_PAGE = 0.5  # share of the page's area
_DRAWN = 60  # paths; a page with as many may have letters drawn as curves
_MOST_OBJECTS = 5000
_DEEPEST = 6  # nested form XObjects
_DOTS_PER_INCH = 200
_POINTS_PER_INCH = 72
_MOST_PIXELS = 25_000_000  # of a rendered page
_MOST_SOURCE_PIXELS = 300_000_000  # of all images on a page; pdfium decodes them in full
_LETTER = re.compile(r"[^\W_]")


class EngineFailed(Exception):
    """OCR crashed on one page; the other pages may still succeed."""


@dataclass(slots=True)
class _ObjectCounts:
    """Size and number of the objects on a page."""

    area: float = 0.0
    images: int = 0
    paths: int = 0
    texts: int = 0
    pixels: int = 0
    objects: int = 0


def is_picture(page: int, text: str, *, has_ocr: bool) -> bool:
    """Whether the page needs OCR: it has few letters, but images or many paths.

    With OCR, also one whose text is nothing but spaces: its fonts may map all letters to them.
    """
    letters = len(_LETTER.findall(text))
    if letters >= _A_FEW:
        return False
    left, top, right, bottom = pdfium.page_box(page)
    seen = _count_objects(page)
    if letters:
        return seen.area >= _FULL_PAGE * (right - left) * (top - bottom) > 0
    return seen.images > 0 or seen.paths >= _DRAWN or (has_ocr and seen.texts > 0)


def is_too_large(page: int) -> bool:
    """Whether the images on a page have more pixels than it may take memory to decode."""
    return _count_objects(page).pixels > _MOST_SOURCE_PIXELS


def _count_objects(page: int) -> _ObjectCounts:
    seen = _ObjectCounts()
    for handle in pdfium.page_objects(page, _MOST_OBJECTS):
        before = seen.images
        _count(handle, seen, 0)
        if seen.images > before:  # a form XObject with images counts with its whole area
            left, top, right, bottom = pdfium.all_bounds([handle])[0].tolist()
            seen.area += max(right - left, 0.0) * max(top - bottom, 0.0)
    return seen


def _count(handle: int, seen: _ObjectCounts, depth: int) -> None:
    seen.objects += 1
    kind = pdfium.object_type(handle)
    if kind == pdfium.IMAGE:
        seen.images += 1
        seen.pixels += pdfium.pixels(handle)
    elif kind == pdfium.PATH:
        seen.paths += 1
    elif kind == pdfium.TEXT:
        seen.texts += 1
    elif kind == pdfium.FORM and depth < _DEEPEST:
        for inner in pdfium.form_objects(handle, _MOST_OBJECTS):
            if seen.objects >= _MOST_OBJECTS:
                return
            _count(inner, seen, depth + 1)


def recognise(document: PdfDocument, index: int, ocr: Recogniser) -> Recognised | None:
    """Read the page with this 0-based index by OCR.

    None if OCR took too long or could not read the writing, or the page has no size or too many
    pixels. Raises EngineFailed if OCR crashed, and Permanent if it took too much memory.
    """
    page = document[index]
    try:
        width, height = page.get_size()
        if width <= 0 or height <= 0 or is_too_large(pdfium.address(page.raw)):
            return None
        scale = min(_DOTS_PER_INCH / _POINTS_PER_INCH, math.sqrt(_MOST_PIXELS / (width * height)))
        bitmap = page.render(scale=scale, grayscale=True)
        try:
            picture = bitmap.to_pil()
            found = ocr.recognise(picture)
            is_lost = not found.text.strip() and improve(
                "ocr", lambda: has_writing(picture), otherwise=bool
            )
            return None if is_lost else found
        finally:
            bitmap.close()
    except Permanent as error:
        if error.code == "parser_crashed":
            raise EngineFailed from error
        if error.code != "parser_timeout":
            raise
        return None
    finally:
        page.close()
