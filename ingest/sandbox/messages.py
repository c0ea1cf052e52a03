"""What a parser process can be asked for, and what it answers."""

from dataclasses import dataclass

from ingest.errors import Permanent, Transient
from ingest.model import (
    Chunk,
    ChunkSettings,
    Document,
    Member,
    MissingModule,
    OcrSettings,
    Page,
    SkippedStep,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseRequest:
    """What to do with a file."""

    name: str
    """As the user named it; a hint for type detection, never opened."""
    declared: str | None
    """Content type stated by the sender."""
    max_pages: int
    chunk: ChunkSettings
    url: str | None = None
    """Where the file was fetched, after redirects; a page's links are relative to it."""
    members: str | None = None
    """An empty folder for the files inside of the file; None: they are only named."""
    ocr: OcrSettings | None = None
    """How text in pictures is recognised, which takes seconds a page; None: it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A file as text and chunks, with the time that took."""

    document: Document
    chunks: list[Chunk]
    extract_seconds: float
    chunk_seconds: float
    members: tuple[Member, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackRequest:
    """An archive to take apart."""

    name: str
    folder: str
    """Empty; the files go there, under names that are no paths."""
    max_members: int
    max_bytes: int
    """Of all members together, inflated."""
    max_member_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    """What was in an archive."""

    members: tuple[Member, ...]
    skipped: dict[str, int]
    """Entries that are no files of anybody, counted by kind: `link`, `device`, `system` …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RechunkRequest:
    """A text that was extracted before, to be cut anew; the file holds it in UTF-8."""

    pages: tuple[Page, ...]
    chunk: ChunkSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Rechunked:
    """The chunks of a text."""

    chunks: list[Chunk]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """Whether everything that parsers need is installed; reads no file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What is not installed."""

    missing: tuple[MissingModule, ...]


Request = ParseRequest | UnpackRequest | RechunkRequest | CheckRequest
Answer = Parsed | Unpacked | Rechunked | Checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to one request."""

    result: Answer | Permanent | Transient
    skipped: tuple[SkippedStep, ...] = ()
    """Steps that failed, whatever became of the file."""
    resident: int
    """Bytes of memory the child holds on to afterwards."""
