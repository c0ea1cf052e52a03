"""Data of XFA forms, which pages do not show."""

from collections.abc import Iterator, Sequence

from lxml import etree
from pypdfium2 import PdfDocument

from ingest.formats.pdf.engine.pdfium_annotations import xfa_packet
from ingest.formats.pdf.layout.text_lines import PageLines

_LARGEST = 16 * 1024 * 1024  # bytes of form data
_MOST_VALUES = 5000


def add_xfa(document: PdfDocument, pages: Sequence[PageLines | None]) -> bool:
    """Append the values of a full XFA form to the last page; returns whether there is one."""
    data = xfa_packet(document, b"datasets", largest=_LARGEST)
    if data is None:
        return False
    last = next((page for page in reversed(pages) if page is not None), None)
    if last is not None:
        last.notes += list(_values(data))
    return True


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
