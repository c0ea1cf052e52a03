"""Input and output of an extractor; registry.py turns the output into a Document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, Self

from ingest.model import Encoding, WebPage
from ingest.page_words import Recognised, Word

if TYPE_CHECKING:
    from PIL.Image import Image


class Recogniser(Protocol):
    """Reads the text in pictures (OCR)."""

    @property
    def name(self) -> str:
        """Engine, version and languages: `tesseract 5.3.0 deu+eng`."""
        ...

    def read(self, image: "Image") -> str:
        """The text of `recognise`."""
        return self.recognise(image).text

    def recognise(self, image: "Image") -> Recognised:
        """Read the text of the picture, and where its words stand.

        Raises Permanent `parser_timeout` if one picture takes too long.
        """
        ...


class MemberSink(Protocol):
    """Receives the files inside a file; each becomes a separate document."""

    def add(self, path: str, data: bytes | BinaryIO) -> str | None:
        """Store a file under its path inside the container, `/`-separated.

        Returns the final path: unsafe parts are removed, a duplicate name gets a number. None if
        the file was not kept. Raises Permanent `archive_unsafe` or `too_large` beyond the total
        limits.
        """
        ...

    def refuse(self, path: str, *, code: str, message: str) -> None:
        """Record a file that cannot be read (`encrypted`, `corrupt` …)."""
        ...

    @property
    def is_empty(self) -> bool:
        """Whether no file was stored or recorded."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """A file to read. Its bytes are untrusted and may be hostile."""

    stream: BinaryIO
    """Seekable, at its start."""
    media_type: str
    declared: str | None = None
    """Content type stated by the sender, with its parameters."""
    max_pages: int = 5000
    name: str | None = None
    """The user's file name: a hint, for example at the programming language."""
    url: str | None = None
    """URL of a web page, after redirects."""
    ocr: Recogniser | None = None
    """None: pictures cannot be read."""
    members: MemberSink | None = None
    """None: attachments are listed in `metadata` but not kept."""

    @property
    def has_handed_on(self) -> bool:
        """Whether `members` has received files: a document without text is no failure then."""
        return self.members is not None and not self.members.is_empty


def present(**found: object) -> tuple[str, ...]:
    """The names of the arguments that are true: codes of warnings."""
    return tuple(name for name, value in found.items() if value)


def filled(**values: Any) -> dict[str, Any]:
    """The arguments that are not empty: entries of the metadata."""
    return {name: value for name, value in values.items() if value}


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
    words: Mapping[int, Sequence[Word]] = field(default_factory=dict)
    """Where the words of these parts stand, by 0-based index."""
    unread: frozenset[int] = frozenset()
    """0-based indices of parts that hold pictures only and could not be recognised."""
    title: str | None = None
    encoding: Encoding | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    removed: Mapping[str, int] = field(default_factory=dict)
    """Characters that the extractor removed, by the kinds of storable_text.clean."""
    warnings: tuple[str, ...] = ()
    web: WebPage | None = None

    def with_attachments(self, listed: Sequence[Mapping[str, object]]) -> Self:
        """The same with a list of embedded files in its metadata, unless that is empty."""
        return replace(self, metadata=self.metadata | filled(attachments=listed))
