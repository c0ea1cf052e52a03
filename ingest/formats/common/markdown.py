"""Turns plain text and rows of cells into Markdown; escapes what would be misread."""

import re
from collections.abc import Sequence

_MISREAD = re.compile(r"^(?=[ \t]*(?:#{1,6}(?:[ \t]|$)|\||```|~~~))", re.MULTILINE)

_MOST_FILLED = 200_000  # cells; beyond this, one long row would lengthen thousands of short ones


def plain(text: str) -> str:
    """Escape lines that would be read as headings, table rows or fences."""
    return _MISREAD.sub(r"\\", text)


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table whose first row is the header; short rows are filled. Empty if no cell has text."""
    if not any(cell.strip() for row in rows for cell in row):
        return ""
    width = max(len(row) for row in rows)
    filled = width if width * len(rows) <= _MOST_FILLED else 0
    lines = [_row(row, filled) for row in rows]
    lines.insert(1, "|" + "---|" * width)
    return "\n".join(lines)


def _row(cells: Sequence[str], width: int) -> str:
    texts = [" ".join(cell.split()).replace("|", r"\|") for cell in cells]
    texts += [""] * (width - len(texts))
    return "| " + " | ".join(texts) + " |"
