"""Outlook items (.msg): messages, appointments and contacts, read as the e-mails they stand for."""

from dataclasses import replace
from importlib.metadata import version

from ingest.improve import improve
from ingest.pipeline.extract.mail import check_size, extraction_of
from ingest.pipeline.extract.mail_attachments import Attachments
from ingest.pipeline.extract.mail_message import read_message
from ingest.pipeline.extract.msg_as_mail import as_mail, body_encoding
from ingest.pipeline.extract.msg_properties import open_message
from ingest.pipeline.extract.source import Extraction, Source

_VERSION = f"olefile {version('olefile')}"


def extract(source: Source) -> Extraction:
    """Subject, people, times and the body; attachments are listed and handed on.

    Permanent as for e-mails.
    """
    check_size(source.stream)
    item = open_message(source.stream)
    attachments = Attachments(source.members)
    mail = read_message(as_mail(item), attachments)
    encoding = improve("metadata", lambda: body_encoding(item), otherwise=lambda: None)
    mail = replace(mail, encoding=encoding)
    return extraction_of(mail, attachments, extractor=_VERSION)
