"""Reads DOC, PPT, RTF and MSG with xberg; no smaller library reads them as well.

xberg gets bytes, never addresses, and runs without OCR, cache and quality heuristics. It escapes
every character that could be markup; here only escapes that prevent false structure stay, so that
a search finds words as written.
"""

import asyncio
import re
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import xberg

from ingest.optional_steps import improve

VERSION = f"xberg {version('xberg')}"
RULE = "-----"
"""A line between two slides; such a line in the text itself is escaped."""

_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LINE_START = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?:\d+(?=\\[.)]))?")
_PICTURE = re.compile(r"!\[([^\]\n]*)\]\(image_\d+\.\w+\)")
_NAMELESS = {"", "image"}
_FOOTNOTE = re.compile(r"^(\[\^[^\]\n]+\]:)\s*\n\s+", re.MULTILINE)
_PROPERTIES = {
    "authors": "author",
    "subject": "subject",
    "keywords": "keywords",
    "created_at": "created",
    "modified_at": "modified",
    "language": "language",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class XbergText:
    """One document as read by xberg."""

    text: str
    """Markdown."""
    title: str | None = None
    properties: dict[str, str] = field(default_factory=dict)
    """`author`, `subject`, `keywords`, `created`, `modified`, `language`, if stated."""


def read(data: bytes, media_type: str) -> XbergText:
    """Read text and properties of a file; empty if it has none.

    Damaged files raise arbitrary exceptions and Rust panics; registry.py maps them to codes.
    """
    result = asyncio.run(
        xberg.extract(
            xberg.ExtractInput(kind="bytes", bytes=data, mime_type=media_type),
            xberg.ExtractionConfig(
                use_cache=False,
                disable_ocr=True,
                enable_quality_processing=False,
                output_format="markdown",
                max_archive_depth=0,
            ),
        )
    )
    if not result.results:
        raise ValueError("nothing was read")
    document = result.results[0]
    return XbergText(
        text=improve("tidying", lambda: tidy(document.content), otherwise=lambda: document.content),
        title=document.metadata.title,
        properties=improve(
            "metadata", lambda: _properties(document.metadata), otherwise=dict[str, str]
        ),
    )


def _properties(metadata: Any) -> dict[str, str]:
    found = {}
    for theirs, ours in _PROPERTIES.items():
        value = getattr(metadata, theirs, None)
        if isinstance(value, list):
            value = ", ".join(str(item) for item in value)
        if value:
            found[ours] = str(value)
    return found


def tidy(markdown: str) -> str:
    """Remove needless escapes and pictures from xberg's Markdown; put footnotes on one line."""
    markdown = _PICTURE.sub(_alternative_text, markdown)
    markdown = _FOOTNOTE.sub(r"\1 ", markdown)
    return "\n".join(map(_unescape, markdown.strip("\n").split("\n")))


def _alternative_text(picture: re.Match[str]) -> str:
    name = picture.group(1)
    return "" if name in _NAMELESS else name


def _unescape(line: str) -> str:
    """Keep only escapes that prevent a false heading, table row or list item."""
    if line.startswith("|"):
        return _ESCAPE.sub(lambda escape: escape[0] if escape[1] == "|" else escape[1], line)
    start = _LINE_START.match(line)
    kept = start.end() if start else 0
    return _ESCAPE.sub(lambda escape: escape[escape.start() != kept], line)
