"""One message as Markdown: its subject, a few header fields, one version of the body.

Of alternatives, the plain text is read, unless it is a stub beside a full HTML page. Forwarded
messages become separate files if attachments are kept, else sections in place; the messages of a
digest are always sections. Inline images (logos, signatures) are listed but not kept, unless
they are large enough to be pictures of text.
"""

import re
from dataclasses import dataclass
from email.message import Message
from functools import partial
from itertools import chain

from ingest.formats.common.attachments import Attachments
from ingest.formats.common.calendar import calendar_text
from ingest.formats.common.letter_order import is_visual, logical_text
from ingest.formats.common.markdown import plain, shift_headings
from ingest.formats.common.signed_data import name_inside, signed_content
from ingest.formats.html.fragment import says_more, whole_markdown
from ingest.formats.mail import headers, mime_parts, tnef, uuencoded
from ingest.formats.mail.plain_text import is_pgp_encrypted, plain_markdown
from ingest.model import Encoding
from ingest.optional_steps import attempt, improve

_DECORATION = 50_000  # bytes; logos and emoticons in bodies are smaller
_DEEPEST_HEADING = 6
_LONGEST_NAME = 100  # characters of a subject used as a file name
_DEEPEST_PACKING = 4  # levels of winmail.dat inside one another; each is held in memory
_TNEF = frozenset({tnef.MEDIA_TYPE, "application/vnd.ms-tnef"})
_SMIME = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_SIGNATURES = frozenset(
    {"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"}
)
_MARKUP = frozenset({"text/html", "text/enriched", "application/xhtml+xml"})
_READ = _MARKUP | {"text/plain", "text/markdown", "text/calendar", "text/rfc822-headers"}
_PAGE = re.compile(r"\s*(?:<!doctype html|<html[\s>])", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A message that has been read; its files were passed to the Attachments."""

    subject: str
    fields: tuple[tuple[str, str], ...]
    """Names and values of the header fields that are shown."""
    message_id: str = ""
    body: str
    """Markdown with headings below `level`."""
    level: int = 1
    """Level of the message's heading."""
    encoding: Encoding | None = None
    """That of the text with most replaced characters, or of the first; None without text."""
    is_encrypted: bool = False
    """Some part cannot be read without a key."""
    has_hidden_text: bool = False

    def markdown(self, *, heading: str = "") -> str:
        """The message under its subject, or under `heading` if it has none."""
        title = self.subject or heading
        blocks = (
            f"{'#' * self.level} {title}" if title else "",
            "\n".join(f"{name}: {value}" for name, value in self.fields),
            self.body,
        )
        return "\n\n".join(block for block in blocks if block)


def read_message(
    message: Message, attachments: Attachments, *, level: int = 1, packing: int = 0
) -> Mail:
    """Read a message and pass its files to `attachments`.

    `level`: that of its heading; `packing`: how many times it was packed into `winmail.dat`.
    """
    reader = _MessageReader(attachments, level, packing)
    blocks = reader.read(message)
    blocks = [*reader.packed_body(), *blocks]
    return Mail(
        subject=headers.header_or_raw(message, "Subject"),
        fields=headers.fields_or_raw(message),
        message_id=headers.header_or_raw(message, "Message-ID"),
        body="\n\n".join(block for block in blocks if block.strip()),
        level=min(level, _DEEPEST_HEADING),
        encoding=reader.encoding,
        is_encrypted=reader.is_encrypted,
        has_hidden_text=reader.has_hidden_text,
    )


class _MessageReader:
    """Walks the parts of one message."""

    def __init__(self, attachments: Attachments, level: int, packing: int) -> None:
        self._attachments = attachments
        self._level = level
        self._packing = packing
        self._packed_bodies: list[Message] = []
        self._has_body = False
        self._has_text = False
        self._skips_pages = False
        self.encoding: Encoding | None = None
        self.is_encrypted = False
        self.has_hidden_text = False

    def read(self, part: Message) -> list[str]:
        """Markdown of the part and of all parts inside it; files go to the Attachments."""
        kind = part.get_content_type()
        if not part.is_multipart():
            return self._single_part(part, kind)
        if kind == "multipart/encrypted":
            self.is_encrypted = True
            return []
        children = [child for child in part.get_payload() if isinstance(child, Message)]
        if kind == "multipart/alternative":
            return self._alternatives(children)
        if kind in headers.REPORTS:
            read = partial(headers.status_lines, children)
            return ["\n".join(improve("fields", read, otherwise=list))]
        if kind.startswith("message/"):
            return self._forwarded(part, mime_parts.unpacked(part, children[0])) if children else []
        as_section = self._as_section if kind == "multipart/digest" else self.read
        return list(chain.from_iterable(map(as_section, children)))

    def _single_part(self, part: Message, kind: str) -> list[str]:
        if kind in _SMIME:
            return self._smime(part)
        if kind in _SIGNATURES:
            return []
        if kind in _TNEF or headers.file_name(part).lower() == "winmail.dat":
            return self._packed(part, kind)
        if self._is_body(part, kind):
            self._has_body = True
            text = self._text(part, kind)
            self._has_text |= bool(text.strip())
            return [text]
        if not self._is_signature(part):
            attempt("attachments", lambda: self._attach(part, kind))
        return []

    def _is_signature(self, part: Message) -> bool:
        """Whether a part of another type is the signature of a file beside it."""
        is_named_so = headers.file_name(part).lower().endswith(".p7s")
        return is_named_so and signed_content(mime_parts.content(part)) is None

    def _is_body(self, part: Message, kind: str) -> bool:
        """Whether mail programs show it as text of the message, not as a file."""
        if part.get_content_disposition() == "attachment" or (
            kind not in _READ and not kind.startswith("multipart/")
        ):
            return False
        return not self._has_body or kind == "text/calendar" or not headers.file_name(part)

    def _text(self, part: Message, kind: str) -> str:
        text, encoding = mime_parts.text(part)
        if self.encoding is None or encoding.replaced > self.encoding.replaced:
            self.encoding = encoding
        if kind == "text/calendar":
            return improve(
                "calendar",
                lambda: plain_markdown(calendar_text(text)),
                otherwise=lambda: plain(text),
            )
        if kind == "text/markdown":
            return shift_headings(text, self._level)
        declared = str(part.get("Content-Type", ""))
        visual = is_visual(text, encoding, is_declared=bool(part.get_content_charset()))
        if kind in _MARKUP or _PAGE.match(text):
            if self._skips_pages:
                return ""
            markdown, hides = whole_markdown(text, is_visual=visual)
            self.has_hidden_text |= hides
            return shift_headings(markdown, self._level)
        if is_pgp_encrypted(text):
            self.is_encrypted = True
            return ""
        text = improve("attachments", lambda: self._without_files(text), otherwise=lambda: text)
        if visual:
            text = improve("right_to_left", partial(logical_text, text), otherwise=lambda: text)
        return improve(
            "markup", lambda: plain_markdown(text, declared=declared), otherwise=lambda: plain(text)
        )

    def _without_files(self, text: str) -> str:
        """The text without the files in it, which are handed on."""
        rest, files = uuencoded.split_files(text)
        for name, data in files:
            self._attachments.add(name, data)
        return rest

    def _alternatives(self, children: list[Message]) -> list[str]:
        """The most complete version of the text, and the files and invitations of all versions."""
        had_body = self._has_body
        plain: list[str] = []
        pages: list[Message] = []
        rest: list[str] = []
        for child in children:
            kind = _first_text(child).get_content_type()
            if kind in _MARKUP:
                pages.append(child)
            elif kind == "text/plain":
                plain += self.read(child)
            elif kind in _READ or not kind.startswith("text/"):  # skips rare text types
                rest += self.read(child)
        for page in pages:
            self._has_body = had_body  # a version of the body, not a file after it
            plain = self._text_or_page(plain, page)
        return [*plain, *rest]

    def _text_or_page(self, plain: list[str], page: Message) -> list[str]:
        """The page if the text is a stub, else the text; then only files of the page are read."""
        text = "".join(plain)
        if improve("markup", lambda: _says_more(page, text), otherwise=lambda: not text.strip()):
            return self.read(page)
        self._skips_pages = True
        self.read(page)
        self._skips_pages = False
        return plain

    def _as_section(self, part: Message) -> list[str]:
        """A nested message as a section of this one."""
        inner = part.get_payload(0) if part.is_multipart() else part
        if part.get_content_maintype() != "message" or not isinstance(inner, Message):
            return self.read(part)
        inner = mime_parts.unpacked(part, inner)
        mail = read_message(inner, self._attachments, level=self._level + 1, packing=self._packing)
        self.encoding = self.encoding or mail.encoding
        self.is_encrypted |= mail.is_encrypted
        self.has_hidden_text |= mail.has_hidden_text
        return [mail.markdown()]

    def _forwarded(self, part: Message, inner: Message) -> list[str]:
        if not self._attachments.are_kept:
            return self._as_section(part)
        try:
            data = mime_parts.as_bytes(inner)
        except (LookupError, TypeError, ValueError):  # not all that parses can be serialised
            return self._as_section(part)
        name = headers.file_name(part) or headers.header(inner, "Subject") or "message"
        name = f"{name.removesuffix('.eml')[:_LONGEST_NAME]}.eml"
        self._attachments.add(name, data, media_type="message/rfc822")
        return []

    def _smime(self, part: Message) -> list[str]:
        inside = signed_content(mime_parts.content(part))
        if inside is None:
            self.is_encrypted = True
        elif name := name_inside(headers.file_name(part)):
            self._attachments.add(name, inside)
        else:
            return self.read(mime_parts.parse_bytes(inside))
        return []

    def packed_body(self) -> list[str]:
        """The body that Outlook packed, if the message has no other; after all parts were read."""
        bodies = [] if self._has_text else self._packed_bodies[:1]
        return list(chain.from_iterable(map(self.read, bodies)))

    def _packed(self, part: Message, kind: str) -> list[str]:
        """The files that Outlook packed; its body is put aside."""
        data = mime_parts.content(part)
        name = headers.file_name(part) or tnef.NAME
        refuse = partial(self._attachments.refuse, name, size=len(data), media_type=kind)
        if self._packing >= _DEEPEST_PACKING:
            refuse(code="archive_unsafe", message="Outlook's winmail.dat is nested too deep.")
            return []
        try:
            mail = tnef.as_mail(data, self._attachments)
        except ValueError:
            refuse(code="corrupt", message="Outlook's winmail.dat is damaged.")
            return []
        del data  # the levels below need the memory
        blocks = []
        self._packing += 1
        for item in (part for part in mail.get_payload() if isinstance(part, Message)):
            if item.get_content_type() == "multipart/alternative":
                self._packed_bodies.append(item)
            else:
                blocks += self.read(item)
        self._packing -= 1
        return blocks

    def _attach(self, part: Message, kind: str) -> None:
        data = mime_parts.content(part)
        decorates = kind.startswith("image/") and part.get_content_disposition() != "attachment"
        keep = not decorates or len(data) > _DECORATION
        self._attachments.add(headers.file_name(part), data, media_type=kind, keep=keep)


def _says_more(page: Message, text: str) -> bool:
    return says_more(mime_parts.text(_first_text(page))[0] if text else "", than=text)


def _first_text(part: Message) -> Message:
    """The first text part inside a version; the version itself if it has none."""
    return next((child for child in part.walk() if child.get_content_type() in _READ), part)
