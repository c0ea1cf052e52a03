"""E-mails as they travel (RFC 822 and MIME)."""

import platform
from typing import BinaryIO

from ingest.errors import Permanent
from ingest.formats.common.attachments import Attachments
from ingest.formats.common.source import Extraction, Source
from ingest.formats.mail import mime_parts
from ingest.formats.mail.message import Mail, read_message

VERSION = f"email {platform.python_version()}"
"""Of what reads messages, alone or in a mailbox."""

_MIB = 1024 * 1024
_LARGEST = 192  # MiB; in memory a message takes seven times its size


def extract(source: Source) -> Extraction:
    """Subject, sender, receivers, date and the body; attachments are listed and handed on.

    Permanent: `no_text` (S/MIME or PGP), `too_large`, `archive_unsafe` (nesting).
    """
    check_size(source.stream)
    attachments = Attachments(source.members)
    mail = read_message(mime_parts.parse(source.stream), attachments)
    return extraction_of(mail, attachments, extractor=VERSION)


def check_size(stream: BinaryIO) -> None:
    """Permanent `too_large` for what could not be held in memory in all its forms."""
    if stream.seek(0, 2) > _LARGEST * _MIB:
        raise Permanent(
            f"The message is larger than {_LARGEST} MiB; upload its attachments by themselves.",
            code="too_large",
        )
    stream.seek(0)


def extraction_of(mail: Mail, attachments: Attachments, *, extractor: str) -> Extraction:
    """The document of a single message. Permanent `no_text` if nothing of it can be read."""
    if mail.is_encrypted and not mail.body:
        # Not `encrypted`: there is no password that its owner could take off.
        raise Permanent(
            "The message is encrypted (S/MIME or PGP): there is no text that could be read.",
            code="no_text",
        )
    stated = {name.lower(): value for name, value in mail.fields}
    return Extraction(
        parts=[mail.markdown()],
        extractor=extractor,
        title=mail.subject,
        encoding=mail.encoding,
        metadata={
            **stated,
            **({"messageId": mail.message_id} if mail.message_id else {}),
            **attachments.metadata(),
        },
        warnings=(*warnings_of(mail), *attachments.warnings()),
    )


def warnings_of(mail: Mail) -> tuple[str, ...]:
    """Stable codes of what was odd about a message."""
    found = {"encrypted_parts": mail.is_encrypted, "hidden_text": mail.has_hidden_text}
    return tuple(code for code, present in found.items() if present)
