"""Where characters stand and what drew them: needed for right-to-left text only.

pdfium.py documents the rules: who owns memory, and what happens on failure.
"""

import ctypes
from collections.abc import Iterable, Iterator

from pypdfium2 import raw

Drawn = tuple[float, float, int]
"""Of a character: where it stands on its baseline, before rotation, in points (zeros if unknown),
and the object that drew it (0 if pdfium added it)."""


def drawn(text_page: int, characters: Iterable[int]) -> Iterator[Drawn]:
    """Place and object of each character."""
    page = ctypes.cast(text_page, raw.FPDF_TEXTPAGE)
    for character in characters:
        x, y = ctypes.c_double(), ctypes.c_double()
        raw.FPDFText_GetCharOrigin(page, character, x, y)
        found = raw.FPDFText_GetTextObject(page, character)
        yield x.value, y.value, ctypes.addressof(found.contents) if found else 0
