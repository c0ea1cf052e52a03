"""The error for a file without readable text."""

from ingest.errors import Permanent
from ingest.formats import catalog
from ingest.model import Coverage

SWITCH_ON = (
    "Text recognition (OCR) is off: it needs tesseract or the extra `ocr` (pip install"
    " 'rag-ingest[ocr]') on the machine that processes files, and INGEST_OCR must not be `off`."
)
"""How to enable OCR; correct for every reason why it is off."""


def no_text(media_type: str, coverage: Coverage, *, has_ocr: bool) -> Permanent:
    """Permanent `no_text`; its message says what to do."""
    is_picture = media_type.startswith("image/")
    if not has_ocr:
        what = "is a picture" if is_picture else "contains no text, only pictures or blank pages"
        return Permanent(f"The file {what}. {SWITCH_ON}", code="no_text")
    if coverage.unread:
        return Permanent(
            f"No text was recognised: on {coverage.unread} of {coverage.pages} pages recognition"
            " failed or took longer than INGEST_OCR_PAGE_TIMEOUT.",
            code="no_text",
        )
    if is_picture:
        return Permanent("No text was found in the picture.", code="no_text")
    what = catalog.label(media_type)
    return Permanent(f"This is {what} without text; OCR found none either.", code="no_text")
