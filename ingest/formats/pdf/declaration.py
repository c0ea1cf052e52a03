"""How PDFs are recognised: suffix and media types."""

from ingest.formats import media_types as types
from ingest.formats.declaration import Format

FORMATS: tuple[Format, ...] = (
    Format(
        media_type=types.PDF,
        label="a PDF",
        suffixes=".pdf",
        reader="ingest.formats.pdf.document",
        viewer="ingest.formats.pdf.view",
        aliases=("application/x-pdf",),
    ),
)
