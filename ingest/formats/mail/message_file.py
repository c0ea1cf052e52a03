"""E-mail files (RFC 822 and MIME)."""

import platform
from typing import BinaryIO

from ingest.errors import Permanent
from ingest.formats.common.attachments import Attachments
from ingest.formats.common.input_file import Extraction, InputFile, filled, present
from ingest.formats.mail import mime_parts
from ingest.formats.mail.message import Mail, read_message

VERSION = f"email {platform.python_version()}, mail 3"
"""Extractor version, for messages and for mailboxes."""

_MIB = 1024 * 1024
_LARGEST = 192  # MiB; in memory a message takes seven times its size


def extract(source: InputFile) -> Extraction:
    """Subject, sender, recipients, date and the body; attachments are listed and passed on.

    Raises Permanent: `no_text` (S/MIME or PGP), `too_large`, `archive_unsafe` (nesting).
    """
    check_size(source.stream)
    attachments = Attachments(source.members)
    mail = read_message(mime_parts.parse(source.stream), attachments)
    return extraction_of(mail, attachments, extractor=VERSION)


def check_size(stream: BinaryIO) -> None:
    """Raises Permanent `too_large` for a message that would take too much memory."""
    if stream.seek(0, 2) > _LARGEST * _MIB:
        raise Permanent(
            f"The message is larger than {_LARGEST} MiB; upload its attachments separately.",
            code="too_large",
        )
    stream.seek(0)


def extraction_of(mail: Mail, attachments: Attachments, *, extractor: str) -> Extraction:
    """Build the document of one message. Raises Permanent `no_text` if all of it is encrypted."""
    if mail.is_encrypted and not mail.body and not attachments.metadata():
        # Not the code `encrypted`: the message has no password that its owner could remove.
        raise Permanent(
            "The message is encrypted (S/MIME or PGP), so its text cannot be read.", code="no_text"
        )
    stated = {name.lower(): value for name, value in mail.fields}
    return Extraction(
        parts=[mail.markdown()],
        extractor=extractor,
        title=mail.subject,
        encoding=mail.encoding,
        metadata={**stated, **filled(messageId=mail.message_id), **attachments.metadata()},
        warnings=(*warnings_of(mail), *attachments.warnings()),
    )


def warnings_of(mail: Mail) -> tuple[str, ...]:
    """Warning codes of a message."""
    return present(encrypted_parts=mail.is_encrypted, hidden_text=mail.has_hidden_text)
