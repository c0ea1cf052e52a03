"""What an extractor gets and what it gives back; registry.py turns the latter into a Document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from ingest.model import Encoding, WebPage

if TYPE_CHECKING:
    from PIL.Image import Image


class Recogniser(Protocol):
    """Reads the text in pictures (OCR)."""

    @property
    def name(self) -> str:
        """Engine, version and languages: `tesseract 5.3.0 deu+eng`."""
        ...

    def read(self, image: "Image") -> str:
        """Text of the picture in reading order, empty if it has none.

        Permanent `parser_timeout` if one picture takes too long.
        """
        ...


class MemberSink(Protocol):
    """Takes files that are inside of the file: each becomes a document of its own."""

    def add(self, path: str, data: bytes | BinaryIO) -> str | None:
        """Keep a file under its path inside of the container, `/`-separated.

        Returns the path it got: unsafe parts are gone, a name that was there already has a number.
        None if it was not kept. Permanent `archive_unsafe` or `too_large` when it is all too much.
        """
        ...

    def refuse(self, path: str, *, code: str, message: str) -> None:
        """Record a file that is there but cannot be had (`encrypted`, `corrupt` …)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file to read. Its bytes are hostile until an extractor proved otherwise."""

    stream: BinaryIO
    """Seekable, at its start."""
    media_type: str
    declared: str | None = None
    """Content type stated by the sender, with its parameters."""
    max_pages: int = 5000
    name: str | None = None
    """As the user named it: a hint, for example at a programming language."""
    url: str | None = None
    """Where a web page was found, after redirects."""
    ocr: Recogniser | None = None
    """None: pictures cannot be read."""
    members: MemberSink | None = None
    """None: attachments are named in `metadata`, not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Text as the format's library gives it; the registry cleans, checks and assembles it."""

    parts: Sequence[str | None]
    """Markdown: the whole text as one part, or one part per page; None is an unreadable page."""
    extractor: str
    """Name and version of the library that read it."""
    paged: bool = False
    by_ocr: frozenset[int] = frozenset()
    """0-based indices of parts whose text was recognised in a picture."""
    unread: frozenset[int] = frozenset()
    """0-based indices of parts that hold pictures only and could not be recognised."""
    title: str | None = None
    encoding: Encoding | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    removed: Mapping[str, int] = field(default_factory=dict)
    """Characters left out before the text was read, by the kinds of hygiene.clean."""
    warnings: tuple[str, ...] = ()
    web: WebPage | None = None
