"""Values that cross module borders. All frozen; none knows where it is stored."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# In quotes, so that commands which handle no vectors start without numpy.
Vectors: TypeAlias = "NDArray[np.float32]"
"""Float32 matrix of shape (texts, dimension); row i belongs to text i."""

SourceStatus = Literal[
    "pending", "processing", "completed", "partial", "failed", "cancelled", "review_needed"
]
JobStatus = Literal["pending", "processing", "completed", "failed", "cancelled", "review_needed"]
Role = Literal["viewer", "editor", "admin"]
Stage = Literal["extract", "chunk", "embed", "store"]
Step = Literal[
    "attachments",
    "calendar",
    "chunk_structure",
    "columns",
    "comments",
    "contents",
    "dialect",
    "engine",
    "fields",
    "forms",
    "front_matter",
    "furniture",
    "graphics",
    "header_row",
    "headers_footers",
    "headings",
    "hidden_text",
    "hyphens",
    "layout",
    "links",
    "main_content",
    "markup",
    "metadata",
    "notes",
    "numbering",
    "ocr",
    "outputs",
    "reading_order",
    "right_to_left",
    "styles",
    "tables",
    "tidying",
    "title",
    "vertical",
]
"""Steps of extraction that only improve its result (ingest/best_effort.py); a label of a metric."""
ReviewReason = Literal["low_coverage", "mass_deletion", "flagged_content"]
ChunkBy = Literal["heading", "page", "row", "size"]
"""What ends a chunk although it has room: a heading of some weight, the page, every table row or
list item, nothing."""


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
    """Pages that are only pictures, and were not recognised: they need OCR."""
    by_ocr: int = 0
    """Pages among `with_text` whose text was recognised in a picture."""
    lost: tuple[int, ...] = ()
    """1-based numbers of failed and unread pages, the first 100."""


LONGEST_URL = 2048
"""Characters; longer addresses are refused everywhere."""
MOST_LINKS = 5000
"""Links that are kept of one page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """What an HTML page says to a crawler."""

    links: tuple[str, ...] = ()
    """Absolute http(s) URLs in order, each once, ready to be requested (web/urls.py);
    without those marked `nofollow`."""
    canonical: str | None = None
    """The page's own word on its address, absolute; None if it has none or several."""
    index: bool = True
    """Whether the page may become searchable (robots meta)."""
    follow: bool = True
    """Whether its links may be followed (robots meta)."""
    is_cut: bool = False
    """Whether it has more links than are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedStep:
    """A step that failed on a file, which was read without it."""

    step: Step
    cause: str
    """Type and place of the first error; no text of the document."""
    times: int
    """How often it failed: once a page, paragraph …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingModule:
    """A module that is not installed, and what cannot be read without it."""

    module: str
    formats: tuple[str, ...]
    """File name endings without the dot: `html`, `docx` …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What extraction makes of a file: clean Markdown with its structure."""

    text: str
    """Storable: no NUL, no lone surrogates, NFC (storable_text.py)."""
    media_type: str
    """What the bytes are, whatever the name says: `application/pdf`, `text/markdown` …"""
    extractor: str
    """Name and version of what read it, such as `pdfium 5.15.2`."""
    title: str | None = None
    encoding: Encoding | None = None
    """None for binary formats."""
    pages: tuple[Page, ...] = ()
    """In order, not overlapping; empty for formats without pages."""
    coverage: Coverage = field(default_factory=lambda: Coverage(pages=1, with_text=1, empty=0))
    metadata: dict[str, Any] = field(default_factory=dict)
    """Author, language, dates …: JSON values only, storable like `text`."""
    warnings: tuple[str, ...] = ()
    """Stable codes of what was odd but no error, such as `type_mismatch`."""
    skipped: tuple[SkippedStep, ...] = ()
    """Steps that failed; each is also a warning, such as `headings_skipped`."""
    web: WebPage | None = None
    """Only of HTML that was fetched from an address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a document: what is embedded and found."""

    ordinal: int
    """0-based, dense, in reading order."""
    text: str
    """`document.text[start:end]`, with the `lead` before it if there is one."""
    token_count: int
    """By the tokenizer of the model that embeds it."""
    start: int
    end: int
    headings: tuple[str, ...] = ()
    """The path of headings above the chunk's start, outermost first."""
    page: int | None = None
    """1-based number of the page on which the chunk starts."""
    page_end: int | None = None
    """The last page that it reaches: `page` again for a chunk within one page."""
    lead: tuple[int, int] | None = None
    """Range of the document's text that is repeated in front: the header of a table that was cut
    between its rows."""
    section: tuple[int, int] | None = None
    """Range of the document's text to read around the chunk: the innermost section that holds all
    of it, heading included; the whole text if no section does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file inside of an archive or a message."""

    path: str
    """Inside of the container, `/`-separated, safe and unlike any other."""
    file: str
    """Its name in the folder where it was put; empty for one that could not be had."""
    code: str | None = None
    message: str | None = None
    """Why it could not be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSettings:
    """How a document is cut; lengths in tokens of the embedding model."""

    tokenizer: str
    """`minilm`, `cl100k_base` or `wordllama`: see tokens/tokenizers.py."""
    size: int
    overlap: int
    by: ChunkBy = "heading"


@dataclass(frozen=True, slots=True, kw_only=True)
class OcrSettings:
    """How text in pictures is recognised."""

    engine: str
    """Name of a module's engine in providers/ocr."""
    languages: tuple[str, ...] = ()
    """In the engine's own words; empty: all that it has."""
    page_timeout: float = 120.0
    """Seconds for one picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """Identity of a vector space. Vectors of two models never mix (pipeline invariant 5)."""

    provider: Literal["local", "static", "openai"]
    name: str
    dimension: int
    max_tokens: int
    """Longest text the model reads, in tokens of `tokenizer`."""
    tokenizer: str
