"""pdfium's functions for annotations, attached files, form data, the catalog and its last error.

A few calls per page, through pypdfium2's declared functions. pdfium.py documents the rules of both
modules: who owns memory, and what happens on failure.
"""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pypdfium2 import PdfDocument, raw

from ingest.formats.pdf.engine import pdfium

WIDGET: int = raw.FPDF_ANNOT_WIDGET
FILE: int = raw.FPDF_ANNOT_FILEATTACHMENT
LINK: int = raw.FPDF_ANNOT_LINK
COMMENTS = frozenset(
    {
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
        raw.FPDF_ANNOT_POLYLINE,
        raw.FPDF_ANNOT_INK,
    }
)
"""Kinds of annotations whose contents are comments."""
_PASSWORD = 1 << 13
_EMPTY = 2  # bytes of a string without characters
_TICKS = {raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON}
_HIDDEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_MOST_PACKETS = 64
_LONGEST_ADDRESS = 4000  # bytes
_MOST_AREAS = 8  # of a link, mostly one for each line


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file attached to the document or to an annotation."""

    name: str
    media_type: str
    size: int
    """0 if the file is damaged."""
    data: bytes | None
    """None if the file is damaged or too large."""


def annotations(page: int, most: int) -> Iterator[tuple[int, int, int]]:
    """Index, kind and handle of the first annotations; a handle is valid until the next one."""
    for index in range(min(pdfium.count_annotations(page), most)):
        annotation = pdfium.annotation(page, index)
        if annotation:
            try:
                yield index, pdfium.annotation_kind(annotation), annotation
            finally:
                pdfium.close_annotation(annotation)


def contents(annotation: int) -> str:
    """The text of an annotation; empty if the annotation is hidden."""
    handle = ctypes.cast(annotation, raw.FPDF_ANNOTATION)
    if raw.FPDFAnnot_GetFlags(handle) & _HIDDEN:
        return ""
    return _string(lambda *rest: raw.FPDFAnnot_GetStringValue(handle, b"Contents", *rest))


def link(document: int, annotation: int) -> tuple[str, list[pdfium.Box]] | None:
    """Address and areas of a link to the web; None for other links.

    `document`: its handle. Areas are in page coordinates before rotation.
    """
    handle = ctypes.cast(annotation, raw.FPDF_ANNOTATION)
    target = raw.FPDFAnnot_GetLink(handle)
    action = raw.FPDFLink_GetAction(target) if target else None
    if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
        return None
    owner = ctypes.cast(document, raw.FPDF_DOCUMENT)
    length = raw.FPDFAction_GetURIPath(owner, action, None, 0)
    if not 1 < length <= _LONGEST_ADDRESS or raw.FPDFAnnot_GetFlags(handle) & _HIDDEN:
        return None
    buffer = ctypes.create_string_buffer(length)
    raw.FPDFAction_GetURIPath(owner, action, buffer, length)
    return buffer.value.decode("utf-8", "replace"), list(_areas(handle))


def _areas(annotation: Any) -> Iterator[pdfium.Box]:
    quads = min(raw.FPDFAnnot_CountAttachmentPoints(annotation), _MOST_AREAS)
    quad = raw.FS_QUADPOINTSF()
    for index in range(quads):
        if raw.FPDFAnnot_GetAttachmentPoints(annotation, index, quad):
            xs, ys = (quad.x1, quad.x2, quad.x3, quad.x4), (quad.y1, quad.y2, quad.y3, quad.y4)
            yield min(xs), max(ys), max(xs), min(ys)
    area = raw.FS_RECTF()
    if quads <= 0 and raw.FPDFAnnot_GetRect(annotation, area):
        yield area.left, area.top, area.right, area.bottom


def ticked(form: Any, annotation: int) -> tuple[str, str] | None:
    """Label and value of a ticked check box or radio button, else None.

    `form`: pypdfium2's handle of the form environment, which must know the page.
    """
    handle = ctypes.cast(annotation, raw.FPDF_ANNOTATION)
    if raw.FPDFAnnot_GetFormFieldType(form, handle) not in _TICKS:
        return None
    if not raw.FPDFAnnot_IsChecked(form, handle):
        return None
    value = _string(lambda *rest: raw.FPDFAnnot_GetFormFieldExportValue(form, handle, *rest))
    return _label(form, handle), value


def entered(form: Any, annotation: int) -> tuple[str, str] | None:
    """Label and value of a text field that readers see, else None; `form` as for ticked()."""
    handle = ctypes.cast(annotation, raw.FPDF_ANNOTATION)
    if raw.FPDFAnnot_GetFormFieldType(form, handle) != raw.FPDF_FORMFIELD_TEXTFIELD:
        return None
    if raw.FPDFAnnot_GetFlags(handle) & _HIDDEN:
        return None
    if raw.FPDFAnnot_GetFormFieldFlags(form, handle) & _PASSWORD:
        return None
    value = _string(lambda *rest: raw.FPDFAnnot_GetFormFieldValue(form, handle, *rest))
    return (_label(form, handle), value) if value.strip() else None


def _label(form: Any, handle: Any) -> str:
    return _string(
        lambda *rest: raw.FPDFAnnot_GetFormFieldAlternateName(form, handle, *rest)
    ) or _string(lambda *rest: raw.FPDFAnnot_GetFormFieldName(form, handle, *rest))


def is_unseen_signature(form: Any, annotation: int) -> bool:
    """Whether a field is a signature that shows nothing, as most do; `form` may be None."""
    if form is None:
        return False
    handle = ctypes.cast(annotation, raw.FPDF_ANNOTATION)
    normal = raw.FPDF_ANNOT_APPEARANCEMODE_NORMAL
    return bool(
        raw.FPDFAnnot_GetFormFieldType(form, handle) == raw.FPDF_FORMFIELD_SIGNATURE
        and raw.FPDFAnnot_GetAP(handle, normal, None, 0) <= _EMPTY
    )


@contextmanager
def known_to(form: Any, page: int) -> Iterator[None]:
    """While this lasts, the form environment knows the page, and its fields have appearances."""
    handle = ctypes.cast(page, raw.FPDF_PAGE)
    raw.FORM_OnAfterLoadPage(handle, form)
    try:
        yield
    finally:
        raw.FORM_OnBeforeClosePage(handle, form)


def flatten(page: int) -> None:
    """Draw the annotations of a page into it; visible once it is loaded again.

    If pdfium cannot do that, the page stays as it is.
    """
    raw.FPDFPage_Flatten(ctypes.cast(page, raw.FPDF_PAGE), raw.FLAT_NORMALDISPLAY)


def document_files(document: PdfDocument, *, most: int, largest: int) -> Iterator[AttachedFile]:
    """The first files attached to the document; those above `largest` bytes without their data."""
    for index in range(min(raw.FPDFDoc_GetAttachmentCount(document), most)):
        if attachment := raw.FPDFDoc_GetAttachment(document, index):
            yield _read_file(attachment, largest)


def annotation_file(page: int, index: int, *, largest: int) -> AttachedFile | None:
    """The file of the annotation with this index, None if it has none."""
    with _annotation(page, index) as annotation:
        attachment = raw.FPDFAnnot_GetFileAttachment(annotation)
        return _read_file(attachment, largest) if attachment else None


def xfa_packet(document: PdfDocument, wanted: bytes, *, largest: int) -> bytes | None:
    """The XFA packet of this name; empty if it is missing, None if this is no full XFA form."""
    if raw.FPDF_GetFormType(document) != raw.FORMTYPE_XFA_FULL:
        return None
    for index in range(min(max(raw.FPDF_GetXFAPacketCount(document), 0), _MOST_PACKETS)):
        name = ctypes.create_string_buffer(64)
        raw.FPDF_GetXFAPacketName(document, index, name, len(name))
        size = ctypes.c_ulong()
        raw.FPDF_GetXFAPacketContent(document, index, None, 0, size)
        if name.value == wanted and 0 < size.value <= largest:
            content = ctypes.create_string_buffer(size.value)
            raw.FPDF_GetXFAPacketContent(document, index, content, size.value, size)
            return content.raw[: size.value]
    return b""


def language(document: PdfDocument) -> str:
    """The language that the catalog states, else an empty string."""
    return _string(lambda *rest: raw.FPDFCatalog_GetLanguage(document, *rest)).strip()


def forget_error() -> None:
    """Replace the last error by that of a broken file.

    pdfium keeps the error of an earlier document where some documents fail to open, those without
    pages among them, so that these would seem to want a password.
    """
    raw.FPDF_LoadMemDocument(b"x", 1, None)


@contextmanager
def _annotation(page: int, index: int) -> Iterator[Any]:
    annotation = raw.FPDFPage_GetAnnot(ctypes.cast(page, raw.FPDF_PAGE), index)
    try:
        yield annotation
    finally:
        raw.FPDFPage_CloseAnnot(annotation)


def _read_file(attachment: Any, largest: int) -> AttachedFile:
    name = _string(lambda *rest: raw.FPDFAttachment_GetName(attachment, *rest)).strip()
    media_type = _string(lambda *rest: raw.FPDFAttachment_GetSubtype(attachment, *rest))
    size = ctypes.c_ulong()
    if not raw.FPDFAttachment_GetFile(attachment, None, 0, size):
        return AttachedFile(name, media_type, 0, None)
    if size.value > largest:
        return AttachedFile(name, media_type, size.value, None)
    buffer = ctypes.create_string_buffer(size.value)
    raw.FPDFAttachment_GetFile(attachment, buffer, size.value, size)
    data = buffer.raw[: size.value]
    return AttachedFile(name, media_type, len(data), data)


def _string(get: Callable[..., int]) -> str:
    """Read a string by two calls: the first returns its length in bytes, the second fills it in."""
    length = get(None, 0)
    if length <= _EMPTY:
        return ""
    buffer = (ctypes.c_ushort * (length // 2))()
    get(buffer, length)
    return bytes(buffer)[: length - 2].decode("utf-16-le", "replace").rstrip("\0")
