"""How e-books are recognised: suffix, media type and the package's `mimetype` part."""

from ingest.formats import media_types as types
from ingest.formats.declaration import Format

FORMATS: tuple[Format, ...] = (
    Format(
        media_type=types.EPUB,
        label="an e-book",
        suffixes=".epub",
        reader="ingest.formats.epub.book",
        zip_mimetypes=("application/epub+zip",),
    ),
)
