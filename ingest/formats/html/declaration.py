"""How web pages are recognised: suffixes and media types."""

from ingest.formats import media_types as types
from ingest.formats.declaration import Format

FORMATS: tuple[Format, ...] = (
    Format(
        media_type=types.HTML,
        label="a web page",
        suffixes=".html .htm .xhtml .xht .shtml",
        reader="ingest.formats.html.page",
        aliases=("application/xhtml+xml",),
        is_text=True,
        related=frozenset({types.XML}),
    ),
)
