"""What an extractor gets and what it gives back; registry.py turns the latter into a Document."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from ingest.model import Encoding, WebPage


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file to read. Its bytes are hostile until an extractor proved otherwise."""

    stream: BinaryIO
    """Seekable, at its start."""
    media_type: str
    declared: str | None = None
    """Content type stated by the sender, with its parameters."""
    max_pages: int = 5000
    url: str | None = None
    """Where a web page was found, after redirects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Text as the format's library gives it; the registry cleans, checks and assembles it."""

    parts: Sequence[str | None]
    """Markdown: the whole text as one part, or one part per page; None is an unreadable page."""
    extractor: str
    """Name and version of the library that read it."""
    paged: bool = False
    title: str | None = None
    encoding: Encoding | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    web: WebPage | None = None
