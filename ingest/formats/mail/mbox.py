"""Mailboxes (mbox): one document with a section per message."""

from collections import Counter
from typing import Any

from ingest.errors import Permanent, Transient
from ingest.formats.common.attachments import Attachments
from ingest.formats.common.input_file import Extraction, InputFile
from ingest.formats.mail import headers, mime_parts
from ingest.formats.mail.mbox_split import messages
from ingest.formats.mail.message import Mail, read_message
from ingest.formats.mail.message_file import VERSION, warnings_of

_MIB = 1024 * 1024
_LARGEST = 64 * _MIB  # bytes of one message
_MOST_TEXT = 64  # MiB; the sandbox returns text and chunks in one frame of at most 512
_LONGEST_FOLDER = 60


def extract(source: InputFile) -> Extraction:
    """Extract all messages in order; attachments go to folders named by number and subject.

    A message that cannot be read is counted in `metadata`, the rest are read. Raises Permanent:
    `encrypted` (all messages), `too_large` (more than 64 MiB of text), `corrupt` (no message can be
    read).
    """
    mailbox = _Mailbox(Attachments(source.members))
    for data, is_whole in messages(source.stream, largest=_LARGEST):
        mailbox.add(data, is_whole=is_whole)
    return mailbox.extraction()


class _Mailbox:
    def __init__(self, attachments: Attachments) -> None:
        self._attachments = attachments
        self._sections: list[str] = []
        self._size = 0
        self._first: Mail | None = None
        self._counts: Counter[str] = Counter()
        self._warnings: Counter[str] = Counter()

    def add(self, data: bytes, *, is_whole: bool) -> None:
        """Read one message and count its failure or warnings."""
        self._counts["messages"] += 1
        number = self._counts["messages"]
        try:
            mail = self._read(data, number)
        except (MemoryError, Transient):
            raise
        except Exception:  # a broken or hostile message may raise anything
            self._counts["failed"] += 1
            return
        if not is_whole:
            self._warnings["messages_cut_off"] += 1
        self._warnings.update(warnings_of(mail))
        if mail.is_encrypted and not mail.body:
            self._counts["encrypted"] += 1
        self._first = self._first or mail
        self._keep(mail.markdown(heading=f"Message {number}"))

    def extraction(self) -> Extraction:
        """Build the document of all messages."""
        total, failed = self._counts["messages"], self._counts["failed"]
        if total and total == failed:
            raise Permanent("No message of the mailbox could be read.", code="corrupt")
        if total and total == self._counts["encrypted"]:
            raise Permanent("All messages of the mailbox are encrypted.", code="encrypted")
        metadata: dict[str, Any] = {"messages": total, **self._attachments.metadata()}
        if failed:
            metadata["messagesFailed"] = failed
            self._warnings["messages_failed"] = failed
        return Extraction(
            parts=["\n\n".join(self._sections)],
            extractor=VERSION,
            encoding=self._first.encoding if self._first else None,
            metadata=metadata,
            warnings=(*self._warnings, *self._attachments.warnings()),
        )

    def _read(self, data: bytes, number: int) -> Mail:
        message = mime_parts.parse_bytes(data)
        subject = headers.header(message, "Subject").replace("/", "_")
        self._attachments.folder = f"{number:04} {subject}"[:_LONGEST_FOLDER].strip()
        return read_message(message, self._attachments)

    def _keep(self, section: str) -> None:
        self._size += len(section.encode("utf-8", "replace"))
        if self._size > _MOST_TEXT * _MIB:
            raise Permanent(
                f"The mailbox has more than {_MOST_TEXT} MiB of text: split it by year or folder.",
                code="too_large",
            )
        self._sections.append(section)
