"""Files attached to a PDF document or to its annotations."""

from functools import partial

from pypdfium2 import PdfDocument

from ingest.formats.common.attachments import Attachments
from ingest.formats.pdf.engine.pdfium_annotations import (
    AttachedFile,
    annotation_file,
    document_files,
)

_MOST = 1000
_LARGEST = 256 * 1024 * 1024  # bytes


def add_document_files(document: PdfDocument, attachments: Attachments) -> None:
    """Add the files attached to the document itself."""
    for file in document_files(document, most=_MOST, largest=_LARGEST):
        _add(file, attachments)


def add_annotation_file(page: int, index: int, attachments: Attachments) -> None:
    """Add the file of one annotation of a page."""
    file = annotation_file(page, index, largest=_LARGEST)
    if file is not None:
        _add(file, attachments)


def _add(file: AttachedFile, attachments: Attachments) -> None:
    """Add one file; refuse it if it lacks data or is too large."""
    if file.data is not None:
        attachments.add(file.name, file.data, media_type=file.media_type)
        return
    refuse = partial(attachments.refuse, file.name, size=file.size, media_type=file.media_type)
    if file.size:
        refuse(code="too_large", message="The file is too large.")
    else:
        refuse(code="corrupt", message="The file is damaged.")
