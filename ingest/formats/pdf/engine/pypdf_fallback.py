"""pypdf, the fallback engine for PDFs: slower, but opens files that pdfium refuses."""

from typing import BinaryIO

import pypdf
from pypdf import PasswordType, PdfReader

from ingest.errors import Permanent
from ingest.formats.common.input_file import Extraction, InputFile
from ingest.formats.pdf.layout.markdown import page_markdown
from ingest.formats.pdf.layout.text_lines import plain_lines
from ingest.formats.pdf.text import check_pages, metadata, title
from ingest.optional_steps import improve

_VERSION = f"pypdf {pypdf.__version__}"


class PypdfPages:
    """Text of single pages; the file is opened on first use."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._reader: PdfReader | None = None

    def text(self, index: int) -> str | None:
        """Text of the page with this 0-based index, None if it cannot be read."""
        try:
            if self._reader is None:
                self._reader = PdfReader(self._stream)
                _unlock(self._reader)
            return self._reader.pages[index].extract_text()
        except MemoryError:
            raise
        except Exception:  # broken objects make pypdf raise arbitrary exceptions
            return None


def extract(source: InputFile, *, wants_password: bool) -> Extraction:
    """Read the whole document. Raises Permanent `encrypted` if it needs a password."""
    try:
        source.stream.seek(0)
        reader = PdfReader(source.stream)
        unlocked = _unlock(reader)
    except MemoryError:
        raise
    except Exception:
        if wants_password:
            raise _encrypted() from None
        raise
    if not unlocked:
        raise _encrypted()
    count = len(reader.pages)
    check_pages(count, source)
    pages = PypdfPages(source.stream)
    info: dict[str, object] = improve(
        "metadata", lambda: dict(reader.metadata or {}), otherwise=dict
    )
    texts = [pages.text(index) for index in range(count)]
    return Extraction(
        parts=[None if text is None else _markdown(text) for text in texts],
        extractor=_VERSION,
        paged=True,
        title=improve("title", lambda: title(info.get("/Title")), otherwise=lambda: None),
        metadata=improve(
            "metadata",
            lambda: metadata({str(key).lstrip("/"): value for key, value in info.items()}),
            otherwise=dict,
        ),
    )


def _markdown(text: str) -> str:
    lines = plain_lines(text)
    return improve("markup", lambda: page_markdown(lines), otherwise=lambda: lines.plain_text)


def _unlock(reader: PdfReader) -> bool:
    """Open with the empty password: owner passwords only restrict printing and copying."""
    return not reader.is_encrypted or reader.decrypt("") != PasswordType.NOT_DECRYPTED


def _encrypted() -> Permanent:
    return Permanent(
        "The PDF is protected by a password; upload a copy without one.", code="encrypted"
    )
