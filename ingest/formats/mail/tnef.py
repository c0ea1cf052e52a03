"""Outlook's `winmail.dat` (TNEF, [MS-OXTNEF]) as an e-mail: its body and its attachments.

No library fits: tnefparse is LGPL and not maintained.
"""

import mimetypes
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.utils import formataddr
from functools import partial

from ingest.formats.encoding.decode import decode
from ingest.formats.mail.mapi_parts import BODY, bodies, charset_of, file_part
from ingest.optional_steps import attempt

SIGNATURE = b"\x78\x9f\x3e\x22"
_PROPERTIES, _CODE_PAGE, _NEW_ATTACHMENT, _ATTACHMENT = 0x9003, 0x9007, 0x9002, 0x9005
_SHORT, _STRING8, _STRING, _OBJECT, _BINARY = 0x0002, 0x001E, 0x001F, 0x000D, 0x0102
_LONG_FORMS = frozenset({_STRING8, _STRING, _OBJECT, _BINARY})
_SIZES = {_SHORT: 4, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 0xA: 4, 0xB: 4, 0x14: 8, 0x40: 8, 0x48: 16}
_SEVERAL = 0x1000
_FIRST_NAMED = 0x8000
_NAMES, _FILE, _MEDIA_TYPE = (0x3707, 0x3704, 0x3001), 0x3701, 0x370E
# Attributes that are older than properties, as properties.
_OLD = {0x8004: 0x0037, 0x800C: BODY}
_OLD_OF_FILES = {0x8010: (0x3001, _STRING8), 0x800F: (_FILE, _BINARY)}
_SUBJECTS, _SENDER, _ADDRESSES = (0x0037, 0x0E1D), 0x0C1A, (0x5D01, 0x0C1F)
_INTERFACE = 16  # bytes in front of an embedded message that say that it is one
_MOST_ATTACHMENTS = 1000
_DEEPEST = 20  # levels of nested messages


@dataclass(slots=True)
class _Properties:
    declared: str | None
    values: dict[int, tuple[int, bytes]] = field(default_factory=dict)
    """Type and value by number."""

    def text(self, number: int) -> str:
        kind, value = self.values.get(number, (0, b""))
        if kind == _STRING:
            return value.decode("utf-16-le", "replace").rstrip("\0")
        value = value.rstrip(b"\0")
        return decode(value, declared=self.declared)[0] if kind == _STRING8 and value else ""

    def binary(self, number: int) -> bytes:
        kind, value = self.values.get(number, (0, b""))
        return value if kind == _BINARY else b""

    def first(self, numbers: tuple[int, ...]) -> str:
        """The first text of these numbers that is not blank."""
        return next(filter(None, (" ".join(self.text(number).split()) for number in numbers)), "")


def as_mail(data: bytes, *, depth: int = 0) -> Message:
    """The message with its header, all versions of its body, and its attachments.

    What is cut off is left out. Raises ValueError for other data.
    """
    if not data.startswith(SIGNATURE):
        raise ValueError("this is no TNEF")
    message, attachments = _read(data)
    mail = MIMEMultipart("mixed")
    mail["Subject"] = message.first(_SUBJECTS)
    if sender := message.first((_SENDER, *_ADDRESSES)):
        address = message.first(_ADDRESSES)
        mail["From"] = formataddr((sender, address)) if "@" in address else sender
    for body in bodies(message):
        mail.attach(body)
    for about in attachments:
        attempt("attachments", partial(_attach, mail, about, depth))
    return mail


def _read(data: bytes) -> tuple[_Properties, list[_Properties]]:
    """The properties of the message, and of its attachments."""
    message = _Properties(None)
    attachments: list[_Properties] = []
    for number, value in _attributes(data):
        about = attachments[-1] if attachments else _Properties(None)
        if number == _CODE_PAGE and len(value) >= 4:
            message.declared = charset_of(int.from_bytes(value[:4], "little"))
        elif number in _OLD:
            message.values.setdefault(_OLD[number], (_STRING8, value))
        elif number == _PROPERTIES:
            message.values.update(_read_properties(value))
        elif number == _NEW_ATTACHMENT and len(attachments) < _MOST_ATTACHMENTS:
            attachments.append(_Properties(message.declared))
        elif number in _OLD_OF_FILES:
            property_number, kind = _OLD_OF_FILES[number]
            about.values.setdefault(property_number, (kind, value))
        elif number == _ATTACHMENT:
            about.values.update(_read_properties(value))
    return message, attachments


def _attach(mail: Message, about: _Properties, depth: int) -> None:
    kind, value = about.values.get(_FILE, (0, b""))
    inner = value[_INTERFACE:]
    if kind == _OBJECT and inner.startswith(SIGNATURE) and depth < _DEEPEST:
        mail.attach(MIMEMessage(as_mail(inner, depth=depth + 1)))
        return
    name = about.first(_NAMES)
    stated = about.text(_MEDIA_TYPE).strip() or mimetypes.guess_type(name)[0]
    part = file_part(value, stated or "application/octet-stream")
    part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", name))
    mail.attach(part)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and value of each attribute."""
    at = len(SIGNATURE) + 2
    while at + 9 <= len(data):
        number, _, size = struct.unpack_from("<HHI", data, at + 1)
        at += 9
        yield number, data[at : at + size]
        at += size + 2  # a checksum


def _read_properties(data: bytes) -> dict[int, tuple[int, bytes]]:
    """The first value of each property; those after damage are left out."""
    found: dict[int, tuple[int, bytes]] = {}
    at = 4
    for _ in range(int.from_bytes(data[:4], "little")):
        if at + 4 > len(data):
            break
        kind, number = struct.unpack_from("<HH", data, at)
        at += 4
        if number >= _FIRST_NAMED:
            at = _after_name(data, at)
        has_several, kind = bool(kind & _SEVERAL), kind & ~_SEVERAL
        is_long = kind in _LONG_FORMS
        if not is_long and kind not in _SIZES:
            break
        count = 1
        if is_long or has_several:
            count, at = int.from_bytes(data[at : at + 4], "little"), at + 4
        for index in range(count):
            if at >= len(data):
                break
            size = _SIZES.get(kind, 0)
            if is_long:
                size, at = int.from_bytes(data[at : at + 4], "little"), at + 4
            if index == 0:
                found.setdefault(number, (kind, data[at : at + size]))
            at += size + -size % 4
    return found


def _after_name(data: bytes, at: int) -> int:
    """The place after the name of a property: a set, and a number or a text."""
    is_text, size = int.from_bytes(data[at + 16 : at + 20], "little"), 0
    if is_text:
        size = int.from_bytes(data[at + 20 : at + 24], "little")
    return at + 24 + size + -size % 4
