"""Turns plain text and rows of cells into Markdown; escapes what would be misread."""

import re
from collections.abc import Sequence

_MISREAD = re.compile(r"^(?=[ \t]*(?:#{1,6}(?:[ \t]|$)|\||```|~~~))", re.MULTILINE)

_MOST_FILLED = 200_000  # cells; beyond this, one long row would lengthen thousands of short ones
_FENCED_OR_HEADING = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}(?P=fence)|\Z)"
    r"|^(?P<marks>#{1,6})(?=[ \t]|$)",
    re.MULTILINE | re.DOTALL,
)
_DEEPEST = 6


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


def shift_headings(markdown: str, by: int) -> str:
    """The text with its `#` headings `by` levels deeper (higher if negative), within 1 to 6."""

    def shifted(match: re.Match[str]) -> str:
        marks = match.group("marks")
        if marks is None:
            return match.group()
        return "#" * min(_DEEPEST, max(1, len(marks) + by))

    return _FENCED_OR_HEADING.sub(shifted, markdown) if by else markdown


def highest_heading(markdown: str) -> int | None:
    """Level of the outermost heading, 1 to 6; None if there is none."""
    found = (match.group("marks") for match in _FENCED_OR_HEADING.finditer(markdown))
    return min((len(marks) for marks in found if marks), default=None)


def numbered_slide(markdown: str, number: int) -> str:
    """The text of a slide; without a title of its own it gets its number as one.

    The chunker begins a chunk at such a title (chunk.py).
    """
    if not markdown.strip() or highest_heading(markdown) is not None:
        return markdown
    return f"## Slide {number}\n\n{markdown}"
