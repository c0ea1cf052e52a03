"""Values shared between modules. All are frozen and independent of storage."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ingest.page_words import PageWords

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# In quotes, so that commands without vectors start without importing numpy.
Vectors: TypeAlias = "NDArray[np.float32]"
"""Float32 matrix of shape (texts, dimension); row i belongs to text i."""

SourceStatus = Literal[
    "pending", "processing", "completed", "partial", "failed", "cancelled", "review_needed"
]
JobStatus = Literal["pending", "processing", "completed", "failed", "cancelled", "review_needed"]
Role = Literal["viewer", "editor", "admin"]
Stage = Literal["extract", "chunk", "embed", "store"]
Step = Literal[
    "attachments", "calendar", "chunk_structure", "columns", "comments", "contents", "dialect",
    "engine", "fields", "forms", "front_matter", "furniture", "graphics", "header_row",
    "headers_footers", "headings", "hidden_text", "hyphens", "keywords", "layout", "links",
    "main_content", "markup", "metadata", "notes", "numbering", "ocr", "placeholder", "outputs",
    "raised", "reading_order", "right_to_left", "styles", "tables", "tidying", "title", "vertical",
]  # fmt: skip
"""Steps of extraction that only improve its result (optional_steps.py); a metric label."""
ReviewReason = Literal["low_coverage", "mass_deletion", "flagged_content"]
ChunkBy = Literal["heading", "page", "row", "size"]
"""What ends a chunk before it is full: a major heading, a page, each table row or list item, or
nothing but its size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How bytes became text: the encoding ledger of one document."""

    name: str
    """IANA-like codec name, lower case: `utf-8`, `gb18030`, `cp1252` …"""
    confidence: float
    """0 to 1; 1 when declared by a byte order mark or proved by strict UTF-8."""
    replaced: int = 0
    """Characters that could not be decoded and became U+FFFD."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a paged document, as a range of characters of `Document.text`."""

    number: int
    """1-based."""
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of the file became text. For formats without pages, all counts are 0 or 1.

    `pages` is the sum of `with_text`, `empty`, `unread` and `failed`.
    """

    pages: int
    with_text: int
    empty: int
    """Pages with nothing on them to read."""
    failed: int = 0
    """Pages that the parser could not read."""
    unread: int = 0
    """Pages that consist of pictures and need OCR."""
    by_ocr: int = 0
    """Pages among `with_text` whose text came from OCR."""
    lost: tuple[int, ...] = ()
    """1-based numbers of failed and unread pages, the first 100."""


LONGEST_URL = 2048
"""Characters; longer URLs are refused everywhere."""
MOST_LINKS = 5000
"""Links kept per page."""
LONGEST_METADATA = 1024 * 1024
"""Bytes of a document's metadata, as JSON; more is left out."""


Placeholder = Literal["login_page", "soft_404", "consent_wall", "needs_javascript"]
"""What a site serves where it has, or shows, no content (web/placeholders.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """What an HTML page tells a crawler."""

    links: tuple[str, ...] = ()
    """Absolute http(s) URLs in order, each once, ready to be requested (web/urls.py);
    without those marked `nofollow`."""
    canonical: str | None = None
    """The canonical URL that the page declares, absolute; None if it declares none or several."""
    index: bool = True
    """Whether the page may be indexed (robots meta)."""
    follow: bool = True
    """Whether its links may be followed (robots meta)."""
    is_cut: bool = False
    """Whether it has more links than are kept."""
    refresh: str | None = None
    """Where the page sends its readers on, like a redirect: an absolute http(s) URL."""
    placeholder: Placeholder | None = None
    may_be_missing: bool = False
    """It reads like a "page not found", but not surely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemap:
    """The entries of a sitemap: URLs in order, without duplicates, ready to be requested."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    is_cut: bool = False
    """Whether entries are missing: unreadable, or above a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedStep:
    """An optional step that failed; the file was read without it."""

    step: Step
    cause: str
    """Type and place of the first error; no text of the document."""
    times: int
    """How often it failed: for instance once per page or paragraph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingModule:
    """An optional module that is not installed, and the formats that need it."""

    module: str
    formats: tuple[str, ...]
    """File name endings without the dot: `html`, `docx` …"""


SandboxMode = Literal["auto", "strict", "off"]
"""`auto`: whatever the kernel can do; `strict`: all layers, or nothing is parsed; `off`: none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JailStatus:
    """The layers that confine parser processes."""

    landlock: int | None
    """The kernel's ABI version of Landlock; None: not applied."""
    seccomp: bool
    landlock_problem: str | None = None
    """Why Landlock is not applied, as the system says it."""

    @property
    def is_complete(self) -> bool:
        return self.landlock is not None and self.seccomp


NOT_JAILED: Final = JailStatus(landlock=None, seccomp=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Result of extraction: clean Markdown with its structure."""

    text: str
    """Storable: no NUL, no lone surrogates, NFC (storable_text.py)."""
    media_type: str
    """Detected from the bytes, not the name: `application/pdf`, `text/markdown` …"""
    extractor: str
    """Name and version of the parser, such as `pdfium 5.15.2`."""
    title: str | None = None
    encoding: Encoding | None = None
    """None for binary formats."""
    pages: tuple[Page, ...] = ()
    """In order, not overlapping; empty for formats without pages."""
    coverage: Coverage = field(default_factory=lambda: Coverage(pages=1, with_text=1, empty=0))
    metadata: dict[str, Any] = field(default_factory=dict)
    """Author, language, dates …: JSON values only, storable like `text`."""
    language: str | None = None
    """ISO 639-1 code of the detected language; None: unsure."""
    warnings: tuple[str, ...] = ()
    """Stable codes of anomalies that are not errors, such as `type_mismatch`."""
    skipped: tuple[SkippedStep, ...] = ()
    """Steps that failed; each is also a warning, such as `headings_skipped`."""
    web: WebPage | None = None
    """Only for HTML fetched from a URL."""
    page_words: tuple[PageWords, ...] = ()
    """Where the words of pages read by OCR stand."""
    left_out: tuple[tuple[int, str], ...] = ()
    """Furniture of the site that is not in `text`: where it was, and the part, in order."""


def section_paths(
    headings: Sequence[str], following: Iterable[tuple[int, int, str]] | None
) -> list[list[str]]:
    """Paths of headings of all sections in a chunk, from its `headings` and `sections`."""
    paths = [list(headings)]
    for _, kept, heading in following or ():
        paths.append([*paths[-1][:kept], *([heading] if heading else [])])
    return paths


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a document: the unit of embedding and search."""

    ordinal: int
    """0-based, dense, in reading order."""
    text: str
    """`document.text[start:end]`, preceded by the `repeated_header` if there is one."""
    token_count: int
    """Counted by the tokenizer of the embedding model."""
    start: int
    end: int
    headings: tuple[str, ...] = ()
    """The path of headings above the chunk's start, outermost first."""
    page: int | None = None
    """1-based number of the page on which the chunk starts."""
    page_end: int | None = None
    """1-based number of the page on which the chunk ends."""
    repeated_header: tuple[int, int] | None = None
    """Range of the document's text that is repeated in front: the header of a table that was split
    between rows."""
    section: tuple[int, int]
    """Range of the innermost section around the chunk, heading included; else the whole text."""
    words: bytes = b""  # terms for the keyword index: analysis/chunk_terms.py
    grams: bytes = b""
    sections: tuple[tuple[int, int, str], ...] = ()
    """Sections that begin after the chunk's start: where, in the document's text; how many headings
    of the path before stay; their own, or empty. Whole paths would multiply the text's size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file inside an archive or a message."""

    path: str
    """Path inside the container: `/`-separated, safe and unique."""
    file: str
    """Its name in the output folder; empty if it could not be extracted."""
    code: str | None = None
    message: str | None = None
    """Why it could not be extracted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSettings:
    """How a document is chunked; lengths in tokens of the embedding model."""

    tokenizer: str
    """`minilm`, `cl100k_base` or `wordllama`: see tokens/tokenizers.py."""
    size: int
    overlap: int
    by: ChunkBy = "heading"
    leave_out_furniture: bool = True
    """Whether pages of a site are chunked without what repeats on all of them."""
    furniture: tuple[tuple[str, str], ...] = ()
    """What that is, if so: keys of blocks, each with the uri of the page that keeps it, or empty
    (web/furniture.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OcrSettings:
    """Settings for OCR."""

    engine: str
    """Name of an engine in providers/ocr."""
    languages: tuple[str, ...] = ()
    """Language names as the engine writes them; empty: all that it has."""
    page_timeout: float = 120.0
    """Seconds per picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """Identity of a vector space. Vectors of two models never mix (pipeline invariant 5)."""

    provider: str
    """`local`, `quantized`, `multilingual`, `static`, `openai`, `onnx`, or a name that an extension
    chose."""
    name: str
    dimension: int
    max_tokens: int
    """Longest text that the model accepts, in tokens of `tokenizer`."""
    tokenizer: str
    context_tokens: int = 0
    """Tokens that the model accepts in addition, for the line that says what a chunk is about."""
