"""Annotations of a page: ticked form boxes, comments, attached files."""

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from pypdfium2 import raw

from ingest.best_effort import improve
from ingest.formats.pdf import pdfium

_MOST = 2000  # annotations per page
_LONGEST = 20_000  # characters per comment
_COMMENTS = {
    raw.FPDF_ANNOT_TEXT,
    raw.FPDF_ANNOT_FREETEXT,
    raw.FPDF_ANNOT_HIGHLIGHT,
    raw.FPDF_ANNOT_UNDERLINE,
    raw.FPDF_ANNOT_SQUIGGLY,
    raw.FPDF_ANNOT_STRIKEOUT,
    raw.FPDF_ANNOT_STAMP,
    raw.FPDF_ANNOT_CARET,
    raw.FPDF_ANNOT_LINE,
    raw.FPDF_ANNOT_SQUARE,
    raw.FPDF_ANNOT_CIRCLE,
    raw.FPDF_ANNOT_POLYGON,
    raw.FPDF_ANNOT_INK,
}
_TICKS = {raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON}
_NO_WORDS = {"on", "yes", "1", "true", "off", ""}


@dataclass(slots=True)
class PageAnnotations:
    """Content of the annotations of a page."""

    has_fields: bool = False
    ticked: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    """Indices of annotations with a file."""

    def markdown(self) -> Iterator[str]:
        """A line for each tick; a comment keeps its line breaks."""
        for label in self.ticked:
            yield f"- [x] {label}"
        for comment in self.comments:
            yield "> " + "\n> ".join(comment.splitlines())


def read_notes(page: int) -> PageAnnotations:
    """Fields, comments and files of a page, given by its handle. Links are ignored."""
    notes = PageAnnotations()
    for index, kind, annotation in _annotations(page):
        if kind == raw.FPDF_ANNOT_WIDGET:
            notes.has_fields = True
        elif kind == raw.FPDF_ANNOT_FILEATTACHMENT:
            notes.files.append(index)
        elif kind in _COMMENTS:
            handle = ctypes.cast(annotation, raw.FPDF_ANNOTATION)
            contents = improve("notes", partial(_contents, handle), otherwise=str)
            if contents:
                notes.comments.append(contents)
    return notes


def read_ticks(form: raw.FPDF_FORMHANDLE, page: int) -> list[str]:
    """Labels of ticked boxes and radio buttons; the form must know the page."""
    labels = [
        _ticked(form, ctypes.cast(annotation, raw.FPDF_ANNOTATION))
        for _, kind, annotation in _annotations(page)
        if kind == raw.FPDF_ANNOT_WIDGET
    ]
    return [label for label in labels if label]


def _annotations(page: int) -> Iterator[tuple[int, int, int]]:
    """Index, kind and handle of each; a handle is valid until the next iteration."""
    for index in range(min(pdfium.count_annotations(page), _MOST)):
        annotation = pdfium.annotation(page, index)
        if annotation:
            try:
                yield index, pdfium.annotation_kind(annotation), annotation
            finally:
                pdfium.close_annotation(annotation)


def _contents(annotation: raw.FPDF_ANNOTATION) -> str:
    if _is_hidden(annotation):
        return ""
    text = string(lambda *rest: raw.FPDFAnnot_GetStringValue(annotation, b"Contents", *rest))
    return text.strip()[:_LONGEST]


def _is_hidden(annotation: raw.FPDF_ANNOTATION) -> bool:
    flags = raw.FPDFAnnot_GetFlags(annotation)
    return bool(flags & (raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW))


def _ticked(form: raw.FPDF_FORMHANDLE, annotation: raw.FPDF_ANNOTATION) -> str | None:
    """Label and value of a check box or radio button; None if it is not ticked."""
    if raw.FPDFAnnot_GetFormFieldType(form, annotation) not in _TICKS:
        return None
    if not raw.FPDFAnnot_IsChecked(form, annotation):
        return None
    label = string(
        lambda *rest: raw.FPDFAnnot_GetFormFieldAlternateName(form, annotation, *rest)
    ) or string(lambda *rest: raw.FPDFAnnot_GetFormFieldName(form, annotation, *rest))
    value = string(lambda *rest: raw.FPDFAnnot_GetFormFieldExportValue(form, annotation, *rest))
    said = "" if value.lower() in _NO_WORDS or value == label else value
    return ": ".join(part for part in (label.strip(), said.strip()) if part) or None


def string(get: Callable[..., int]) -> str:
    """Read a string by two calls: the first returns its length in bytes, the second fills it in."""
    length = get(None, 0)
    if length <= 2:
        return ""
    buffer = (ctypes.c_ushort * (length // 2))()
    get(buffer, length)
    return bytes(buffer)[: length - 2].decode("utf-16-le", "replace").rstrip("\0")
