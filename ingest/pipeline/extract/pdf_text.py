"""What both PDF engines share: the page limit, text without typography, metadata."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from ingest.errors import Permanent
from ingest.pipeline.extract.source import Source

# pdfium marks a hyphen that only broke a word at the end of a line.
_LINE_END_HYPHEN = re.compile("[\u0002\ufffe](?:\r?\n)?")
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n){3,}")
# Letters that PDFs use for the look: ligatures, Arabic letter forms, Chinese radicals. Full NFKC
# would also turn `x²` into `x2`.
_FOR_THE_LOOK = re.compile("[\u2e80-\u2fdf\ufb00-\ufb4f\ufb50-\ufdfb\ufe70-\ufefc]+")
_MEANINGLESS = re.compile(r"(untitled.*|document ?\d*|.*\.(indd|exe|dvi|tmp))", re.IGNORECASE)
_FIELDS = {
    "Author": "author",
    "Subject": "subject",
    "Keywords": "keywords",
    "CreationDate": "created",
    "ModDate": "modified",
}


def check_pages(count: int, source: Source) -> None:
    """Permanent `too_many_pages` above the limit."""
    if count > source.max_pages:
        raise Permanent(
            f"The PDF has {count} pages; at most {source.max_pages} are read.",
            code="too_many_pages",
        )


def tidy(text: str) -> str:
    """Text of a page without what only served its look."""
    text = _LINE_END_HYPHEN.sub("", text).replace("\u00a0", " ")
    text = _FOR_THE_LOOK.sub(lambda run: unicodedata.normalize("NFKC", run.group()), text)
    return _BLANK_LINES.sub("\n\n", text).strip()


def title(stated: object) -> str | None:
    """The title of the document's properties, unless a program made it up."""
    text = str(stated or "").strip().removeprefix("Microsoft Word - ")
    return None if _MEANINGLESS.fullmatch(text) else text or None


def metadata(info: Mapping[str, Any]) -> dict[str, str]:
    """Author, subject, keywords and dates, as far as given."""
    return {ours: str(info[theirs]) for theirs, ours in _FIELDS.items() if info.get(theirs)}
