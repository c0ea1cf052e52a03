"""How much of a file became text, as answers say it."""

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from api.schema.json_model import View


class Coverage(View):
    """`pages` is the sum of `withText`, `empty`, `unread` and `failed`."""

    # Stored as it is shown; what earlier versions did not count is 0.
    model_config = ConfigDict(alias_generator=to_camel, validate_by_alias=True, extra="ignore")

    pages: int = 0
    with_text: int = 0
    by_ocr: int = 0
    """Of those with text: recognised in a picture."""
    empty: int = 0
    """Nothing is on them to read."""
    unread: int = 0
    """Pictures only, and not recognised."""
    failed: int = 0
    lost: list[int] = Field(default_factory=list)
    """Numbers of failed and unread pages, the first 100."""
