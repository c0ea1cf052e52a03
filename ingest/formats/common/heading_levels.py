"""Shifts the headings of Markdown that becomes part of a larger text."""

import re

_FENCED_OR_HEADING = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}(?P=fence)|\Z)"
    r"|^(?P<marks>#{1,6})(?=[ \t]|$)",
    re.MULTILINE | re.DOTALL,
)
_DEEPEST = 6


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
