"""Splits the text that pdfium returns for a page into lines, and counts as pdfium does."""

from collections.abc import Iterator, Sequence

import numpy as np

HYPHEN = "\ufffe"
"""pdfium's mark for a hyphen at the end of a line; pdfium drops the line break after it."""


def line_spans(text: str) -> list[tuple[str, int, int]]:
    """Stripped text, start and end of each line that is not blank.

    Stripping matters: pdfium adds spaces at line ends that have neither size nor position.
    """
    spans: list[tuple[str, int, int]] = []
    start = 0
    has_broken = HYPHEN in text
    for row in text.split("\r\n"):
        if has_broken and HYPHEN in row:
            spans += _broken_spans(row, start)
        elif inner := row.strip():
            first = start if row[0] == inner[0] else start + row.index(inner[0])
            spans.append((inner, first, first + len(inner)))
        start += len(row) + 2
    return spans


def _broken_spans(row: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Split lines that pdfium joined because of a hyphenated word."""
    *broken, last = row.split(HYPHEN)
    for piece in broken:
        inner = piece.lstrip()
        if inner:
            yield inner + HYPHEN, start + len(piece) - len(inner), start + len(piece) + 1
        start += len(piece) + 1
    if inner := last.strip():
        first = start + last.index(inner[0])
        yield inner, first, first + len(inner)


def utf16_indices(text: str, indices: Sequence[int]) -> list[int]:
    """Python string indices as UTF-16 indices, which pdfium uses."""
    if text.isascii() or len(text.encode("utf-16-le", "surrogatepass")) == 2 * len(text):
        return list(indices)
    wide = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32) > 0xFFFF
    before = np.concatenate([[0], np.cumsum(wide)])
    return [index + int(before[index]) for index in indices]
