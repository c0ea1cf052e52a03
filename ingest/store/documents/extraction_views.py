"""How a file became text, as the API returns it."""

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from ingest.store.view import View


class Coverage(View):
    """`pages` is the sum of `withText`, `empty`, `unread` and `failed`."""

    # Stored in the same form.
    model_config = ConfigDict(alias_generator=to_camel, validate_by_alias=True)

    pages: int
    with_text: int
    by_ocr: int
    """Pages of `withText` whose text was recognised in an image."""
    empty: int
    """Pages with nothing to read."""
    unread: int
    """Pages with images only, not recognised."""
    failed: int
    lost: list[int]
    """Numbers of failed and unread pages, the first 100."""


class Encoding(View):
    """How bytes were decoded; null for formats that define their encoding."""

    name: str
    confidence: float
    """1: declared by a byte order mark, or certain."""
    replaced: int = 0
    """Characters that could not be decoded and became U+FFFD."""
