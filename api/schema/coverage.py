"""How much of a file became text, as answers contain it."""

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from api.schema.json_model import View


class Coverage(View):
    """`pages` is the sum of `withText`, `empty`, `unread` and `failed`."""

    # Stored in the same form.
    model_config = ConfigDict(alias_generator=to_camel, validate_by_alias=True)

    pages: int
    with_text: int
    by_ocr: int
    """Of the pages with text: recognised in an image."""
    empty: int
    """Pages with nothing to read."""
    unread: int
    """Pages with images only, not recognised."""
    failed: int
    lost: list[int]
    """Numbers of failed and unread pages, the first 100."""
