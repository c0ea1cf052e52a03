"""How a file became text, as the API returns it."""

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from ingest.store.view import View


class Coverage(View):
    """`pages` is the sum of `withText`, `empty`, `unread` and `failed`."""

    # Stored in the same form; counts that were never stored are 0.
    model_config = ConfigDict(alias_generator=to_camel, validate_by_alias=True, extra="ignore")

    pages: int = 0
    with_text: int = 0
    by_ocr: int = 0
    """Pages of `withText` whose text was recognised in an image."""
    empty: int = 0
    """Pages with nothing to read."""
    unread: int = 0
    """Pages with images only, not recognised."""
    failed: int = 0
    lost: list[int] = Field(default_factory=list)
    """Numbers of failed and unread pages, the first 100."""


class Encoding(View):
    """How bytes were decoded; null for formats that define their encoding."""

    name: str
    confidence: float
    """1: declared by a byte order mark, or certain."""
    replaced: int = 0
    """Characters that could not be decoded and became U+FFFD."""
