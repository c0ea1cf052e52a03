"""Vertical Chinese and Japanese by pdfminer, where pdfium drops it or splits it into characters."""

import re
from typing import BinaryIO

from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.layout.text_lines import PageLines

_MOST_OBJECTS = 20_000  # per page; pdfminer reads about 7,000 characters a second
_MOST_IN_DOCUMENT = 120_000
_FEWEST_OBJECTS = 50
_CJK = "\u3000-\u30ff\u3400-\u9fff\uff00-\uffef"
_SPACE_INSIDE = re.compile(f"(?<=[{_CJK}]) +(?=[{_CJK}])")
_SINGLE = 0.6  # share of lines with one character


class VerticalPages:
    """Text of single pages, with a budget of objects per document."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = _MOST_IN_DOCUMENT

    def text(self, index: int, page: int) -> str | None:
        """Text of the page with this 0-based index and handle, None if it exceeds the budget.

        Broken objects make pdfminer raise arbitrary exceptions.
        """
        # Imported here because it is slow to import and few files need it.
        from pdfminer.high_level import extract_text
        from pdfminer.layout import LAParams

        objects: int = pdfium.count_objects(page)
        if objects > min(_MOST_OBJECTS, self._left):
            return None
        self._left -= objects
        self._stream.seek(0)
        # `boxes_flow=None` sorts boxes by position: columns from right to left.
        text = extract_text(
            self._stream,  # type: ignore[arg-type]  # any binary stream will do
            page_numbers=[index],
            laparams=LAParams(detect_vertical=True, boxes_flow=None),
        )
        return _SPACE_INSIDE.sub("", text).strip()


def looks_vertical(page: int, lines: PageLines, text: str) -> bool:
    """Whether pdfium missed much of the text, or returned it one character per line."""
    objects: int = pdfium.count_objects(page)
    if objects < _FEWEST_OBJECTS:
        return False
    if len(text) < objects // 4:
        texts = map(pdfium.object_type, pdfium.page_objects(page, _MOST_OBJECTS))
        found: int = sum(kind == pdfium.TEXT for kind in texts)
        return len(text) < found // 2
    single = sum(len(line.text) == 1 and line.text > "\u3000" for line in lines.lines)
    return single > _SINGLE * len(lines.lines)
