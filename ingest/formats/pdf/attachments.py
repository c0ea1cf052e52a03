"""Files attached to a PDF document or to its annotations."""

import ctypes
from typing import Any

from pypdfium2 import PdfDocument, raw

from ingest.formats.common.attachments import Attachments
from ingest.formats.pdf.notes import string

_MOST = 1000
_LARGEST = 256 * 1024 * 1024  # bytes


def add_attachments(document: PdfDocument, attachments: Attachments) -> None:
    """Add the files attached to the document itself."""
    for index in range(min(raw.FPDFDoc_GetAttachmentCount(document), _MOST)):
        add_file(raw.FPDFDoc_GetAttachment(document, index), attachments)


def add_file(attachment: Any, attachments: Attachments) -> None:
    """Add one file, given by its pypdfium2 handle; refuse it if it lacks data or is too large."""
    if not attachment:
        return
    name = string(lambda *rest: raw.FPDFAttachment_GetName(attachment, *rest)).strip()
    media_type = string(lambda *rest: raw.FPDFAttachment_GetSubtype(attachment, *rest))
    size = ctypes.c_ulong()
    is_there = raw.FPDFAttachment_GetFile(attachment, None, 0, size)
    if not is_there:
        attachments.refuse(
            name, size=0, media_type=media_type, code="corrupt", message="The file is damaged."
        )
    elif size.value > _LARGEST:
        attachments.refuse(
            name,
            size=size.value,
            media_type=media_type,
            code="too_large",
            message="The file is too large.",
        )
    else:
        data = ctypes.create_string_buffer(size.value)
        raw.FPDFAttachment_GetFile(attachment, data, size.value, size)
        attachments.add(name, data.raw[: size.value], media_type=media_type)
