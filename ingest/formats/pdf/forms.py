"""Entries of the PDF catalog: data of XFA forms, the language."""

import ctypes
from collections.abc import Iterator, Sequence

from lxml import etree
from pypdfium2 import PdfDocument, raw

from ingest.formats.pdf.lines import PageLines
from ingest.formats.pdf.notes import string

_MOST_PACKETS = 64
_LARGEST = 16 * 1024 * 1024  # bytes of form data
_MOST_VALUES = 5000
_DATASETS = b"datasets"


def add_xfa(document: PdfDocument, pages: Sequence[PageLines | None]) -> bool:
    """Append the values of a full XFA form, which pages do not show, to the last page.

    Returns whether the document has such a form.
    """
    if raw.FPDF_GetFormType(document) != raw.FORMTYPE_XFA_FULL:
        return False
    values = list(_values(_packet(document, _DATASETS)))
    last = next((page for page in reversed(pages) if page is not None), None)
    if last is not None:
        last.notes += values
    return True


def _packet(document: PdfDocument, wanted: bytes) -> bytes:
    for index in range(min(max(raw.FPDF_GetXFAPacketCount(document), 0), _MOST_PACKETS)):
        name = ctypes.create_string_buffer(64)
        raw.FPDF_GetXFAPacketName(document, index, name, len(name))
        if name.value != wanted:
            continue
        size = ctypes.c_ulong()
        raw.FPDF_GetXFAPacketContent(document, index, None, 0, size)
        if 0 < size.value <= _LARGEST:
            content = ctypes.create_string_buffer(size.value)
            raw.FPDF_GetXFAPacketContent(document, index, content, size.value, size)
            return content.raw[: size.value]
    return b""


def _values(xml: bytes) -> Iterator[str]:
    """`- name: value` of each field with a value."""
    if not xml.strip():
        return
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    root = etree.fromstring(xml, parser)
    if root is None:
        return
    found = 0
    for element in root.iter(etree.Element):
        text = " ".join((element.text or "").split())
        if text and len(element) == 0:
            yield f"- {etree.QName(element).localname}: {text}"
            found += 1
            if found >= _MOST_VALUES:
                return


def language(document: PdfDocument) -> dict[str, str]:
    """The language that the document states."""
    stated = string(lambda *rest: raw.FPDFCatalog_GetLanguage(document, *rest)).strip()
    return {"language": stated} if stated else {}
