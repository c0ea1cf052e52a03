"""Reads one page: opens it, picks the engine that can read it, closes it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pypdfium2 import PdfDocument

from ingest.formats.common.attachments import Attachments
from ingest.formats.common.input_file import Recogniser
from ingest.formats.common.letter_order import RIGHT_TO_LEFT
from ingest.formats.pdf import pictures
from ingest.formats.pdf.annotations import (
    PageAnnotations,
    find_lost,
    is_damaged,
    read_annotations,
    read_fields,
)
from ingest.formats.pdf.attachments import add_annotation_file
from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.engine.pdfium_annotations import flatten, known_to
from ingest.formats.pdf.garbled import is_garbled
from ingest.formats.pdf.headings.bold import find_bold
from ingest.formats.pdf.layout.hidden_text import drop_hidden
from ingest.formats.pdf.layout.links import Link, find_linked
from ingest.formats.pdf.layout.listings import find_fixed_width
from ingest.formats.pdf.layout.parallel import split_parallel
from ingest.formats.pdf.layout.raised import join_broken, mark_raised
from ingest.formats.pdf.layout.reading_order import sort_lines
from ingest.formats.pdf.layout.roll_back import run_or_roll_back
from ingest.formats.pdf.layout.rotation import turn_if_upside_down
from ingest.formats.pdf.layout.text_lines import (
    PageLines,
    plain_lines,
    read_lines,
)
from ingest.formats.pdf.layout.vertical import VerticalPages, is_dropped, turned_if_vertical
from ingest.formats.pdf.right_to_left.lines import is_mostly_right_to_left, restore_logical_order
from ingest.formats.pdf.tables.page_tables import tables_right_to_left, tables_to_markdown
from ingest.formats.pdf.torn import better_text, drop_shadows, is_spaced_apart, respaced
from ingest.optional_steps import attempt, improve
from ingest.page_words import Recognised, Word
from ingest.storable_text import clean

_FEW_SIGNS = 20  # characters


class FallbackEngine(Protocol):
    """A fallback engine that reads the same document."""

    def text(self, index: int) -> str | None:
        """Text of the page with this 0-based index, None if the engine cannot read it."""
        ...


@dataclass(slots=True)
class Findings:
    """What the pages add to the result of the whole document."""

    attachments: Attachments
    by_ocr: dict[int, Sequence[Word]] = field(default_factory=dict)
    """Indices of pages that were read by OCR, with their words."""
    unread: set[int] = field(default_factory=set)
    warnings: set[str] = field(default_factory=set)


class PageReader:
    """Reads the pages of one document."""

    def __init__(
        self,
        document: PdfDocument,
        *,
        fallback: FallbackEngine,
        vertical: VerticalPages,
        ocr: Recogniser | None,
        findings: Findings,
    ) -> None:
        self._document = document
        self._handle = pdfium.address(document.raw)
        self._form = None if document.formenv is None else document.formenv.raw
        self._fallback = fallback
        self._vertical = vertical
        self._ocr = ocr
        self._findings = findings

    def read(self, index: int) -> PageLines | None:
        """Read the page with this 0-based index, None if no engine can read it."""
        return improve(
            "engine",
            lambda: self._read(index),
            otherwise=lambda: self._read_with(self._fallback, index),
        )

    def _read(self, index: int) -> PageLines | None:
        page = pdfium.load_page(self._handle, index)
        if not page:
            return self._read_with(self._fallback, index)
        notes = PageAnnotations()
        try:
            if pdfium.count_annotations(page):
                notes = self._annotations(page)
                if notes.needs_flattening:
                    page = self._with_fields(page, index, notes)
            lines = self._read_text(page, index, notes.links)
        finally:
            if page:
                pdfium.close_page(page)
        if lines is not None:
            lines.notes += improve("notes", lambda: list(notes.markdown()), otherwise=list[str])
        return lines

    def _annotations(self, page: int) -> PageAnnotations:
        notes = improve(
            "notes",
            lambda: read_annotations(self._handle, self._form, page),
            otherwise=lambda: PageAnnotations(needs_flattening=True),
        )
        attempt("attachments", lambda: self._keep_files(page, notes))
        return notes

    def _keep_files(self, page: int, notes: PageAnnotations) -> None:
        for index in notes.files:
            add_annotation_file(page, index, self._findings.attachments)

    def _with_fields(self, page: int, index: int, notes: PageAnnotations) -> int:
        """The page with its fields, or as it was if flattening destroys its text; closes the other.

        A page that was loaded before keeps its text.
        """
        attempt("forms", lambda: self._flatten(page, notes))
        flat = pdfium.load_page(self._handle, index)
        if not flat:
            return page
        before, after = _raw_text(page), _raw_text(flat)
        is_lost = is_damaged(before, after)
        pdfium.close_page(flat if is_lost else page)
        attempt("forms", lambda: find_lost(notes, before if is_lost else after))
        return page if is_lost else flat

    def _flatten(self, page: int, notes: PageAnnotations) -> None:
        """Collect fields and draw them into the page; visible once it is loaded again."""
        if self._form is None:  # a page taken out of a form
            flatten(page)
            return
        with known_to(self._form, page):
            attempt("forms", lambda: read_fields(self._form, page, notes))
            flatten(page)

    def _read_text(self, page: int, index: int, links: Sequence[Link]) -> PageLines | None:
        text_page = _upright_text(page) if page else 0
        if not text_page:
            return self._read_with(self._fallback, index)
        try:
            text, count = pdfium.text(text_page)
            if improve("ocr", lambda: is_garbled(text_page, text, count), otherwise=bool):
                return self._read_garbled(index, text)
            if improve("ocr", lambda: self._is_picture(page, text), otherwise=bool):
                return self._read_picture(index, plain_lines(text))
            better = improve(
                "engine",
                lambda: better_text(text, lambda: self._fallback.text(index)),
                otherwise=lambda: text,
            )
            if better is not text:
                return plain_lines(better)
            if is_spaced_apart(text):
                joined = improve(
                    "layout", lambda: respaced(text_page, text, count), otherwise=lambda: text
                )
                if joined is not text:
                    return plain_lines(joined)
            lines = self._read_lines(page, text_page, index, text, count)
            if lines.has_places:
                if links:
                    attempt("links", lambda: find_linked(text_page, lines, links))
                self._arrange(page, text_page, text, lines)
            return lines
        finally:
            pdfium.close_text(text_page)

    def _is_picture(self, page: int, text: str) -> bool:
        has_ocr = self._ocr is not None
        return len(text) < pictures.FEW_LETTERS and pictures.is_picture(page, text, has_ocr=has_ocr)

    def _read_lines(
        self, page: int, text_page: int, index: int, text: str, count: int
    ) -> PageLines:
        lines = improve(
            "layout",
            lambda: read_lines(page, text_page, text, count),
            otherwise=lambda: plain_lines(text),
        )
        columns = improve("vertical", lambda: self._columns(page, index, text), otherwise=str)
        if len(columns) > len(text):
            return plain_lines(columns)
        lines = improve("vertical", lambda: turned_if_vertical(lines), otherwise=lambda: lines)
        attempt("raised", lambda: mark_raised(page, text_page, text, count, lines))
        return lines

    def _columns(self, page: int, index: int, text: str) -> str:
        """Vertical text that pdfium drops, empty if the page seems to have none."""
        return (self._vertical.text(index, page) or "") if is_dropped(page, text) else ""

    def _arrange(self, page: int, text_page: int, text: str, lines: PageLines) -> None:
        one = [lines]
        run_or_roll_back("hidden_text", one, lambda: self._drop_hidden(page, text_page, lines))
        any_from_right = not text.isascii() and RIGHT_TO_LEFT.search(text) is not None
        if any_from_right:
            run_or_roll_back("right_to_left", one, lambda: self._restore_order(text_page, lines))
        run_or_roll_back("reading_order", one, lambda: split_parallel(lines, text_page))
        run_or_roll_back("reading_order", one, lambda: sort_lines(lines))
        from_right = any_from_right and is_mostly_right_to_left(text)
        find = tables_right_to_left if from_right else tables_to_markdown
        run_or_roll_back("tables", one, lambda: find(page, text_page, lines))
        run_or_roll_back("raised", one, lambda: join_broken(lines))
        attempt("layout", lambda: drop_shadows(text_page, lines))
        attempt("layout", lambda: find_fixed_width(text_page, lines))
        attempt("headings", lambda: find_bold(text_page, lines))

    def _restore_order(self, text_page: int, lines: PageLines) -> None:
        if not restore_logical_order(text_page, lines):
            self._findings.warnings.add("reading_direction_unsure")

    def _drop_hidden(self, page: int, text_page: int, lines: PageLines) -> None:
        warning = drop_hidden(page, text_page, lines)
        if warning is not None:
            self._findings.warnings.add(warning)

    def _read_with(self, engine: FallbackEngine, index: int) -> PageLines | None:
        text = engine.text(index)
        return None if text is None else plain_lines(text)

    def _read_picture(self, index: int, layer: PageLines) -> PageLines:
        """The recognised text, and lines of the text layer that it lacks."""
        if self._ocr is not None:
            found = self._recognise(index, self._ocr)
            if found is not None:
                if found.text.strip():
                    self._findings.by_ocr[index] = found.words
                    missing = [line for line in layer.lines if line.text not in found.text]
                    return PageLines([*plain_lines(found.text).lines, *missing])
                return layer
        self._findings.unread.add(index)
        return layer

    def _recognise(self, index: int, ocr: Recogniser) -> Recognised | None:
        """What OCR reads on the rendered page; None if OCR failed."""
        return improve(
            "ocr", lambda: pictures.recognise(self._document, index, ocr), otherwise=lambda: None
        )

    def _read_garbled(self, index: int, text: str) -> PageLines:
        """The recognised text; without it nothing, because noise would be found by searches.

        A word or two are too few to be sure that they are noise.
        """
        if self._ocr is not None:
            found = self._recognise(index, self._ocr)
            if found is not None and found.text.strip():
                self._findings.by_ocr[index] = found.words
                return plain_lines(found.text)
        self._findings.warnings.add("garbled_text")
        if clean(text)[0].strip() and len("".join(text.split())) < _FEW_SIGNS:
            return plain_lines(text)
        self._findings.unread.add(index)
        return PageLines([])


def _upright_text(page: int) -> int:
    """The text of the page, which is turned if it is upside down."""
    text_page: int = pdfium.load_text(page)
    if text_page and improve(
        "layout",
        lambda: turn_if_upside_down(page, text_page, pdfium.count_chars(text_page)),
        otherwise=bool,
    ):
        pdfium.close_text(text_page)
        text_page = pdfium.load_text(page)
    return text_page


def _raw_text(page: int) -> str:
    text_page = pdfium.load_text(page)
    try:
        return pdfium.text(text_page)[0] if text_page else ""
    finally:
        pdfium.close_text(text_page)
