"""PDF: text per page by pdfium, and by other engines where pdfium fails.

pdfium is not thread-safe: a process reads one document at a time (the sandbox ensures this). Each
page gets a cheap first pass; tables, columns and hidden text are examined only if needed.
"""

from collections.abc import Iterator
from typing import Any

from pypdfium2 import PdfDocument, PdfiumError
from pypdfium2.version import PYPDFIUM_INFO

from ingest.formats.common.attachments import Attachments
from ingest.formats.common.input_file import Extraction, InputFile
from ingest.formats.encoding.decode import HEAD
from ingest.formats.pdf import forms
from ingest.formats.pdf.attachments import add_document_files
from ingest.formats.pdf.engine import pypdf_fallback
from ingest.formats.pdf.engine.pdfium_annotations import forget_error, language
from ingest.formats.pdf.engine.pypdf_fallback import PypdfPages
from ingest.formats.pdf.headings.mark import mark_headings
from ingest.formats.pdf.headings.outline import Bookmark
from ingest.formats.pdf.layout.hyphens import join_hyphenated
from ingest.formats.pdf.layout.listings import fence_listings
from ingest.formats.pdf.layout.margins import move_margins_last, move_notes_to_sections
from ingest.formats.pdf.layout.markdown import page_markdown
from ingest.formats.pdf.layout.roll_back import run_or_roll_back
from ingest.formats.pdf.layout.text_lines import PageLines
from ingest.formats.pdf.layout.vertical import VerticalPages
from ingest.formats.pdf.page import Findings, PageReader
from ingest.formats.pdf.running_heads.headers_and_footers import (
    drop_headers_and_footers,
    drop_stamps,
)
from ingest.formats.pdf.running_heads.known_heads import drop_known
from ingest.formats.pdf.tables.continued import carry_headers
from ingest.formats.pdf.text import check_pages, metadata, title
from ingest.optional_steps import attempt, improve

_VERSION = f"pypdfium2 {PYPDFIUM_INFO}, pdf 2"
_IN_MEMORY = 64 * 1024 * 1024  # bytes; larger files are read from disk, which is slower
_JUNK = 1000  # bytes before the header; pdfium skips as many
_MOST_BOOKMARKS = 3000
_DEEPEST_BOOKMARK = 6


def extract(source: InputFile) -> Extraction:
    """Markdown of each page in reading order.

    Form values stay in place; ticked boxes and comments follow the text of their page. Pages that
    are pictures go through OCR if the source has `ocr`, else they are listed as `unread`. Warnings:
    `hidden_text`, `off_page_text`, `garbled_text`, `xfa_form`,
    `reading_direction_unsure`, `attachments_not_kept`.
    """
    try:
        document = _open(source)
    except PdfiumError as error:
        return pypdf_fallback.extract(source, wants_password="password" in str(error))
    try:
        return _read(document, source)
    finally:
        document.close()


def _open(source: InputFile) -> PdfDocument:
    head = source.stream.read(_IN_MEMORY + 1)
    source.stream.seek(0)
    start = head.find(b"%PDF-", 0, HEAD)
    if start > _JUNK:
        head = head[start:]
    forget_error()
    return PdfDocument(head if len(head) <= _IN_MEMORY else source.stream)


def _read(document: PdfDocument, source: InputFile) -> Extraction:
    count = len(document)
    check_pages(count, source)
    # Must run before the first page is loaded.
    attempt("forms", lambda: _init_forms(document))
    findings = Findings(Attachments(source.members))
    reader = PageReader(
        document,
        fallback=PypdfPages(source.stream),
        vertical=VerticalPages(source.stream),
        ocr=source.ocr,
        findings=findings,
    )
    pages = [reader.read(index) for index in range(count)]
    whole = [PageLines([]) if page is None else page for page in pages]
    _finish(document, whole, findings.unread)
    if improve("forms", lambda: forms.add_xfa(document, pages), otherwise=bool):
        findings.warnings.add("xfa_form")
    attempt("attachments", lambda: add_document_files(document, findings.attachments))
    info = improve("metadata", lambda: _info(document), otherwise=dict[str, Any])
    return Extraction(
        parts=[None if page is None else _markdown(page) for page in pages],
        extractor=_VERSION,
        paged=True,
        by_ocr=frozenset(findings.by_ocr),
        words=findings.by_ocr,
        unread=frozenset(findings.unread),
        title=improve("title", lambda: title(info.get("Title")), otherwise=lambda: None),
        metadata={
            **improve("metadata", lambda: metadata(info), otherwise=dict[str, str]),
            **improve("metadata", lambda: _language(document), otherwise=dict[str, str]),
            **findings.attachments.metadata(),
        },
        warnings=(*sorted(findings.warnings), *findings.attachments.warnings()),
    )


def _language(document: PdfDocument) -> dict[str, str]:
    stated = language(document)
    return {"language": stated} if stated else {}


def _init_forms(document: PdfDocument) -> None:
    if document.get_formtype():
        document.init_forms()


def _markdown(page: PageLines) -> str:
    return improve("markup", lambda: page_markdown(page), otherwise=lambda: page.plain_text)


def _info(document: PdfDocument) -> dict[str, Any]:
    try:
        return dict(document.get_metadata_dict())
    except UnicodeDecodeError:  # a title cut inside a character must not fail the document
        return {}


def _finish(document: PdfDocument, pages: list[PageLines], unread: set[int]) -> None:
    """Steps that compare all pages: headers and footers, hyphens, headings."""
    run_or_roll_back("furniture", pages, lambda: drop_stamps(pages, unread))
    run_or_roll_back("furniture", pages, lambda: drop_headers_and_footers(pages))
    run_or_roll_back("furniture", pages, lambda: move_margins_last(pages))
    run_or_roll_back("tables", pages, lambda: carry_headers(pages))
    run_or_roll_back("layout", pages, lambda: fence_listings(pages))
    run_or_roll_back("hyphens", pages, lambda: join_hyphenated(pages))
    outline = improve(
        "headings", lambda: list(_outline(document, len(pages))), otherwise=list[Bookmark]
    )
    run_or_roll_back("headings", pages, lambda: mark_headings(pages, outline))
    run_or_roll_back("furniture", pages, lambda: drop_known(pages))
    run_or_roll_back("furniture", pages, lambda: move_notes_to_sections(pages))


def _outline(document: PdfDocument, pages: int) -> Iterator[Bookmark]:
    """The bookmarks that point to an existing page."""
    for number, bookmark in enumerate(document.get_toc(max_depth=_DEEPEST_BOOKMARK)):
        if number >= _MOST_BOOKMARKS:
            return
        target = bookmark.get_dest()
        index = None if target is None else target.get_index()
        if index is not None and 0 <= index < pages:
            yield index, bookmark.level + 1, bookmark.get_title()
