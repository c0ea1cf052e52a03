"""E-mails as they travel (RFC 822 and MIME)."""

import platform

from ingest.errors import Permanent
from ingest.pipeline.extract import mail_headers, mail_parts
from ingest.pipeline.extract.mail_attachments import Attachments
from ingest.pipeline.extract.mail_message import Mail, read_message
from ingest.pipeline.extract.source import Extraction, Source

VERSION = f"email {platform.python_version()}"
"""Of what reads messages, alone or in a mailbox."""

_MIB = 1024 * 1024
_LARGEST = 192  # MiB; in memory a message takes seven times its size


def extract(source: Source) -> Extraction:
    """Subject, sender, receivers, date and the body; attachments are listed and handed on.

    Permanent: `encrypted` (S/MIME or PGP), `too_large`, `archive_unsafe` (nesting).
    """
    source.stream.seek(0, 2)
    if source.stream.tell() > _LARGEST * _MIB:
        raise Permanent(
            f"The message is larger than {_LARGEST} MiB; upload its attachments by themselves.",
            code="too_large",
        )
    message = mail_parts.parse(source.stream)
    attachments = Attachments(source.members)
    mail = read_message(message, attachments)
    if mail.is_encrypted and not mail.body:
        raise Permanent("The body of the message is encrypted.", code="encrypted")
    metadata = {name.lower(): value for name, value in mail.fields}
    metadata["messageId"] = mail_headers.header(message, "Message-ID")
    return Extraction(
        parts=[mail.markdown()],
        extractor=VERSION,
        title=mail.subject,
        encoding=mail.encoding,
        metadata={
            **{key: value for key, value in metadata.items() if value},
            **attachments.metadata(),
        },
        warnings=(*warnings_of(mail), *attachments.warnings()),
    )


def warnings_of(mail: Mail) -> tuple[str, ...]:
    """Stable codes of what was odd about a message."""
    found = {"encrypted_parts": mail.is_encrypted, "hidden_text": mail.has_hidden_text}
    return tuple(code for code, present in found.items() if present)
