"""Where characters stand and what drew them: needed for right-to-left text only.

pdfium.py documents the rules: who owns memory, and what happens on failure.
"""

import ctypes
from typing import Any

from pypdfium2 import raw


def origin(text_page: int, character: int) -> tuple[float, float]:
    """Where the character stands on its baseline, before rotation; zeros if unknown."""
    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(_page(text_page), character, x, y)
    return x.value, y.value


def text_object(text_page: int, character: int) -> int:
    """The object that the character was drawn by; 0 if pdfium added it."""
    found = raw.FPDFText_GetTextObject(_page(text_page), character)
    return ctypes.cast(found, ctypes.c_void_p).value or 0


def _page(text_page: int) -> Any:
    return ctypes.cast(text_page, raw.FPDF_TEXTPAGE)
