"""Outlook items (.msg): messages, appointments and contacts, converted to e-mails and read."""

from dataclasses import replace
from importlib.metadata import version

from ingest.best_effort import improve
from ingest.formats.common.attachments import Attachments
from ingest.formats.common.source import Extraction, Source
from ingest.formats.mail.message import read_message
from ingest.formats.mail.message_file import check_size, extraction_of
from ingest.formats.mail.msg_as_mail import as_mail, body_encoding
from ingest.formats.mail.msg_properties import open_message

_VERSION = f"olefile {version('olefile')}"


def extract(source: Source) -> Extraction:
    """Subject, people, times and the body; attachments are listed and passed on.

    Permanent as for e-mails.
    """
    check_size(source.stream)
    item = open_message(source.stream)
    attachments = Attachments(source.members)
    mail = read_message(as_mail(item), attachments)
    encoding = improve("metadata", lambda: body_encoding(item), otherwise=lambda: None)
    mail = replace(mail, encoding=encoding)
    return extraction_of(mail, attachments, extractor=_VERSION)
