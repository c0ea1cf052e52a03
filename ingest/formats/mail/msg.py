"""Outlook items (.msg): messages, appointments and contacts, converted to e-mails and read."""

import mimetypes
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from email.message import Message
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.utils import format_datetime
from functools import partial
from importlib.metadata import version
from itertools import islice

from ingest.formats.common.attachments import Attachments
from ingest.formats.common.input_file import Extraction, InputFile
from ingest.formats.mail import mime_parts, msg_fields
from ingest.formats.mail.mapi_parts import BODY, bodies, file_part, set_header, text_part
from ingest.formats.mail.message import read_message
from ingest.formats.mail.message_file import check_size, extraction_of
from ingest.formats.mail.msg_properties import Item, open_message
from ingest.model import Encoding
from ingest.optional_steps import attempt, improve

_VERSION = f"olefile {version('olefile')}, mail 3"
_SUBJECT, _MESSAGE_ID = 0x0037, 0x1035
_NAMES, _CONTENT_ID, _MEDIA_TYPE, _IS_HIDDEN = (0x3707, 0x3704, 0x3001), 0x3712, 0x370E, 0x7FFE
_DATA = 0x3701
_SEALED, _SIGNED = "ipm.note.smime", "ipm.note.smime.multipartsigned"
_DEEPEST = 20  # levels of nested messages
_MOST_ATTACHMENTS = 1000  # the more there are, the slower the lookup of a stream
_UNKNOWN = "application/octet-stream"


def extract(source: InputFile) -> Extraction:
    """Subject, people, times and the body; attachments are listed and passed on.

    Raises Permanent as for e-mails.
    """
    check_size(source.stream)
    item = open_message(source.stream)
    attachments = Attachments(source.members)
    mail = read_message(as_mail(item), attachments)
    encoding = improve("metadata", lambda: body_encoding(item), otherwise=lambda: None)
    mail = replace(mail, encoding=encoding)
    return extraction_of(mail, attachments, extractor=_VERSION)


def as_mail(item: Item, *, depth: int = 0) -> Message:
    """The item with its header, all versions of its body, attachments and embedded items."""
    mail = MIMEMultipart("mixed")
    headers, details = improve(
        "fields", lambda: msg_fields.fields(item), otherwise=lambda: ([], [])
    )
    for name, value in [("Subject", item.text(_SUBJECT)), *headers]:
        set_header(mail, name, _date(value) if name == "Date" else value)
    mail["Message-ID"] = " ".join(item.text(_MESSAGE_ID).split())
    if details:
        mail.attach(text_part("\n".join(f"{name}: {value}" for name, value in details), "plain"))
    for part in bodies(item):
        mail.attach(part)
    attempt("attachments", lambda: _attach_all(item, mail, depth=depth))
    return mail


def _attach_all(item: Item, mail: Message, *, depth: int) -> None:
    for attachment in islice(item.children("__attach"), _MOST_ATTACHMENTS):
        read = partial(_attached, attachment, kind=item.message_class, depth=depth)
        attempt("attachments", partial(_attach, mail, read))


def _attach(mail: Message, read: Callable[[], Message]) -> None:
    mail.attach(read())


def body_encoding(item: Item) -> Encoding | None:
    """How the item's plain text was decoded; None if it is Unicode."""
    return item.text_and_encoding(BODY)[1]


def _date(value: str) -> str:
    try:
        return format_datetime(datetime.fromisoformat(value))
    except ValueError:
        return value


def _attached(attachment: Item, *, kind: str, depth: int) -> Message:
    embedded = attachment.embedded(_DATA)
    name = next(filter(None, map(attachment.text, _NAMES)), "")
    if embedded is not None and depth < _DEEPEST:
        part: Message = MIMEMessage(as_mail(embedded, depth=depth + 1))
    elif kind == _SIGNED:
        return mime_parts.parse_bytes(attachment.binary(_DATA))
    else:
        stated = attachment.text(_MEDIA_TYPE).strip() or mimetypes.guess_type(name)[0] or _UNKNOWN
        part = file_part(
            attachment.binary(_DATA), "application/pkcs7-mime" if kind == _SEALED else stated
        )
    is_shown = attachment.text(_CONTENT_ID) or attachment.integer(_IS_HIDDEN)
    part.add_header(
        "Content-Disposition",
        "inline" if is_shown else "attachment",
        filename=("utf-8", "", " ".join(name.split())),
    )
    return part
