"""What a parser process is told at its start, requests to it, and its answers."""

from dataclasses import dataclass
from typing import Final

from ingest.errors import Permanent, Transient
from ingest.model import (
    Chunk,
    ChunkSettings,
    Document,
    JailStatus,
    Member,
    MissingModule,
    OcrSettings,
    Page,
    SandboxMode,
    Sitemap,
    SkippedStep,
)
from ingest.page_words import Box

MOST_ATTACHMENTS: Final = 1000
"""Files embedded in one file that are kept; the limits of archives are in the request."""
ATTACHMENT_BYTES: Final = 1024 * 1024 * 1024
"""Bytes of them together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOptions:
    """How a parser process starts."""

    memory: int
    """Limit of its address space in bytes."""
    parent: int
    """The process id of its parent, with which it dies."""
    channel: int
    """The descriptor of a Unix socket that carries the descriptors of files to read."""
    mode: SandboxMode
    scratch: str
    """The only folder that it may write."""
    readable: tuple[str, ...]
    executable: tuple[str, ...]
    after_check: bool
    formats: tuple[str, ...]
    """Modules with formats of the operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseRequest:
    """Extract and chunk a file."""

    name: str
    """The user's file name; a hint for type detection, never opened."""
    declared: str | None
    """The content type stated by the sender."""
    max_pages: int
    chunk: ChunkSettings
    url: str | None = None
    """The URL of the file after redirects, to resolve a page's links."""
    uri: str = ""
    """Of a page of a site, as `chunk.furniture` names it."""
    members: str | None = None
    """A folder for embedded files, empty or not there yet, on the file system of the temporary
    folder. The parser process writes them to its own scratch folder; the parent moves them here, if
    there are any. None: they are only listed."""
    ocr: OcrSettings | None = None
    """How to read text in pictures, which takes seconds per page; None: no OCR."""
    max_inflated: int = 1024**3
    """Bytes that a compressed file may hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """Text and chunks of a file, and the time they took."""

    document: Document
    chunks: list[Chunk]
    extract_seconds: float
    chunk_seconds: float
    members: tuple[Member, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackRequest:
    """Unpack an archive."""

    name: str
    folder: str
    """For the files, as `ParseRequest.members`; their names contain no path."""
    max_members: int
    max_bytes: int
    """Unpacked bytes of all members together."""
    max_member_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    """The members of an archive."""

    members: tuple[Member, ...]
    skipped: dict[str, int]
    """Counts of skipped entries, which are not user files, by kind: `link`, `device`, `system` …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RechunkRequest:
    """Chunk a text that was extracted before; the request's file holds it in UTF-8."""

    pages: tuple[Page, ...]
    chunk: ChunkSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Rechunked:
    """The chunks of a text."""

    chunks: list[Chunk]
    language: str | None
    """As in model.Document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapRequest:
    """Read the addresses in a sitemap or feed."""

    base: str
    """Its own URL, after redirects."""
    limit: int
    """Most pages, and most sitemaps, to return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapRead:
    """The entries of a sitemap or feed."""

    sitemap: Sitemap


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderRequest:
    """Draw a page of a file."""

    media_type: str
    """As detected when it was read."""
    page: int
    """1-based."""
    width: int
    """Pixels; a page whose height or area would be too large is drawn smaller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A picture of a page."""

    png: bytes
    width: int
    height: int


LARGEST_SIDE: Final = 8192
"""Pixels of the picture of a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocateRequest:
    """Find where ranges of the extracted text stand on a page."""

    media_type: str
    page: int
    """1-based."""
    text: str
    """The text that was extracted from the page."""
    ranges: tuple[tuple[int, int], ...]
    """Start and end in `text`."""
    words: bytes | None = None
    """Of a page read by OCR (page_words.py); None: the text layer is used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """The size of a page, and where each range stands on it."""

    width: float
    """Points of a PDF, pixels of a picture, like `height`."""
    height: float
    places: tuple[tuple[Box, ...], ...]
    """About one box per line; none for a range that was not found."""
    has_words: bool
    """Whether the page has words with known places."""


MOST_BOXES: Final = 500
"""Of one place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """Check whether everything that parsers need is installed; reads no file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The modules that are not installed."""

    missing: tuple[MissingModule, ...]
    jail: JailStatus
    unreadable: tuple[str, ...] = ()
    """Libraries and modules that parsers load, but that the jail hides from them."""


Request = (
    ParseRequest
    | UnpackRequest
    | RechunkRequest
    | SitemapRequest
    | RenderRequest
    | LocateRequest
    | CheckRequest
)
Answer = Parsed | Unpacked | Rechunked | SitemapRead | Rendered | Located | Checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to one request."""

    result: Answer | Permanent | Transient
    skipped: tuple[SkippedStep, ...] = ()
    """Steps that failed, whether or not the file was read."""
    resident: int
    """Bytes of memory that the child uses afterwards."""
