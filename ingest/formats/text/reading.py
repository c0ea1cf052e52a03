"""The result type of readers of text formats, and their shared helpers."""

import re
from dataclasses import dataclass, field
from typing import Any

_BACKTICKS = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)
_LONGEST_TITLE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text as Markdown, with its title and metadata."""

    text: str
    title: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def lines_of(text: str) -> list[str]:
    """Lines without their endings: LF, CRLF or CR."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def fenced(code: str, language: str = "") -> str:
    """Code in a fence that nothing inside can close."""
    longest = max((len(run) for run in _BACKTICKS.findall(code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code.strip(chr(10))}\n{fence}"


def headed(body: str, title: str | None) -> str:
    """The body with its title as a heading, unless it starts with the title already."""
    if title is None or not body.strip():
        return body
    first = body.lstrip().split("\n", 1)[0].lstrip("# ").strip()
    if first and (first in title or title in first):
        return body
    return f"# {' '.join(title[:_LONGEST_TITLE].split())}\n\n{body.lstrip()}"
