"""PDF: text per page by pdfium, with pypdf as second opinion where pdfium refuses or stumbles.

pdfium is not thread-safe: one document at a time in a process (the sandbox sees to that).
"""

import re
from typing import Any, Protocol

import pypdfium2
from pypdfium2 import PdfDocument, PdfiumError, PdfPage
from pypdfium2.version import PYPDFIUM_INFO

from ingest.pipeline.extract import pdf_second
from ingest.pipeline.extract.pdf_text import check_pages, metadata, tidy, title
from ingest.pipeline.extract.source import Extraction, Source

_VERSION = f"pypdfium2 {PYPDFIUM_INFO}"
_WORD = re.compile(r"[A-Za-z]+")
_TORN = 2.5  # mean letters of a word; below, letters stand apart as words of their own
_ENOUGH_WORDS = 8


class SecondOpinion(Protocol):
    """Another engine with the same document open."""

    def text(self, index: int) -> str | None:
        """Text of the page with this 0-based index, None if it cannot be read."""
        ...


def extract(source: Source) -> Extraction:
    """Text of each page in reading order, filled form fields included."""
    try:
        document = PdfDocument(source.stream)
    except PdfiumError as error:
        return pdf_second.extract(source, wants_password="password" in str(error))
    try:
        return _read(document, source)
    finally:
        document.close()


def _read(document: PdfDocument, source: Source) -> Extraction:
    has_form = bool(document.get_formtype())
    if has_form:
        document.init_forms()  # before anything asks for pages
    check_pages(len(document), source)
    second = pdf_second.Pages(source.stream)
    parts = [
        read_page(document, index, has_form=has_form, second=second)
        for index in range(len(document))
    ]
    info: dict[str, Any] = document.get_metadata_dict()
    return Extraction(
        parts=parts,
        extractor=_VERSION,
        paged=True,
        title=title(info.get("Title")),
        metadata=metadata(info),
    )


def read_page(
    document: PdfDocument, index: int, *, has_form: bool, second: SecondOpinion
) -> str | None:
    """Text of the page with this 0-based index, None if neither engine can read it."""
    try:
        text = tidy(_text(document, index, has_form))
    except (PdfiumError, AssertionError):  # the binding asserts what pdfium promises
        return second.text(index)
    if _is_torn(text):
        other = second.text(index) or ""
        return other if _is_better(other, text) else text
    return text


def _text(document: PdfDocument, index: int, has_form: bool) -> str:
    page = document[index]
    try:
        if has_form and pypdfium2.raw.FPDFPage_GetAnnotCount(page) > 0:
            page.flatten()  # makes the values of fields part of the page, seen after reopening it
            page.close()
            page = document[index]
        return _page_text(page)
    finally:
        page.close()


def _page_text(page: PdfPage) -> str:
    text_page = page.get_textpage()
    try:
        return str(text_page.get_text_range())
    finally:
        text_page.close()


def _is_torn(text: str) -> bool:
    """Whether letters stand apart, as if each were a word."""
    words = _WORD.findall(text)
    return len(words) >= _ENOUGH_WORDS and _letters(words) < _TORN * len(words)


def _is_better(other: str, text: str) -> bool:
    """The same letters, in fewer words."""
    others, words = _WORD.findall(other), _WORD.findall(text)
    return len(others) < len(words) and _letters(others) >= 0.9 * _letters(words)


def _letters(words: list[str]) -> int:
    return sum(map(len, words))
