"""Outlook's `winmail.dat` (TNEF, [MS-OXTNEF]) as an e-mail: its body and its attachments."""

import mimetypes
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from functools import partial

from ingest.formats.common.attachments import Attachments
from ingest.formats.encoding.decode import decode
from ingest.formats.mail.mapi_parts import BODY, bodies, charset_of, file_part, set_header
from ingest.optional_steps import attempt

NAME, MEDIA_TYPE = "winmail.dat", "application/ms-tnef"
SIGNATURE = b"\x78\x9f\x3e\x22"
_PROPERTIES, _CODE_PAGE, _NEW_ATTACHMENT, _PROPERTIES_OF_FILE = 0x9003, 0x9007, 0x9002, 0x9005
_SHORT, _LONG, _STRING8, _STRING, _OBJECT, _BINARY = 0x02, 0x03, 0x1E, 0x1F, 0x0D, 0x0102
_LONG_FORMS = frozenset({_STRING8, _STRING, _OBJECT, _BINARY})
_SIZES = {_SHORT: 4, _LONG: 4, 4: 4, 5: 8, 6: 8, 7: 8, 0xA: 4, 0xB: 4, 0x14: 8, 0x40: 8, 0x48: 16}
_SEVERAL = 0x1000
_FIRST_NAMED = 0x8000
_NAMES, _FILE, _MEDIA_TYPE, _CONTENT_ID = (0x3707, 0x3704, 0x3001), 0x3701, 0x370E, 0x3712
# Attributes that are older than properties, as properties.
_OLD = {
    0x8004: (0x0037, _STRING8), 0x800C: (BODY, _STRING8),
    0x8010: (0x3001, _STRING8), 0x800F: (_FILE, _BINARY),
}  # fmt: skip
_SUBJECTS, _SENDER, _ADDRESSES = (0x0037, 0x0E1D), 0x0C1A, (0x5D01, 0x0C1F)
_INTERFACE = 16  # bytes in front of an embedded object that say what it is
# Some senders compute the checksums of these wrongly; their structure shows whether they are whole.
_UNCHECKED = frozenset({_PROPERTIES, _PROPERTIES_OF_FILE})
_OF_FILE = 2  # level of the attributes of attachments
_MOST_ATTACHMENTS = 1000


@dataclass(slots=True)
class _Properties:
    declared: str | None = None
    values: dict[int, tuple[int, memoryview]] = field(default_factory=dict)
    """Type and value by number."""
    is_damaged: bool = False
    """Something is cut off or does not match its checksum, and was left out."""

    def text(self, number: int) -> str:
        kind, value = self._value(number)
        if kind == _STRING:
            return value.decode("utf-16-le", "replace").rstrip("\0")
        value = value.rstrip(b"\0")
        return decode(value, declared=self.declared)[0] if kind == _STRING8 and value else ""

    def binary(self, number: int) -> bytes:
        kind, value = self._value(number)
        return value if kind == _BINARY else b""

    def integer(self, number: int) -> int:
        kind, value = self._value(number)
        return int.from_bytes(value, "little") if kind == _LONG else 0

    def first(self, numbers: tuple[int, ...]) -> str:
        """The first text of these numbers that is not blank."""
        return next(filter(None, (" ".join(self.text(number).split()) for number in numbers)), "")

    def _value(self, number: int) -> tuple[int, bytes]:
        kind, value = self.values.get(number, (0, b""))
        return kind, bytes(value)


def as_mail(data: bytes, attachments: Attachments) -> Message:
    """The message with its header, all versions of its body, and its attachments.

    What cannot be read is refused to `attachments`. Raises ValueError if that is everything.
    """
    message, files, left_out = _read(memoryview(data))
    mail = _headed(message)
    for body in bodies(message):
        mail.attach(body)
    for about in files:
        attempt("attachments", partial(_attach, mail, about, attachments))
    refuse = partial(attachments.refuse, NAME, size=len(data), media_type=MEDIA_TYPE)
    if message.is_damaged:
        refuse(code="corrupt", message="winmail.dat is damaged; a part of it cannot be read.")
    if left_out:
        refuse(
            code="archive_unsafe",
            message=f"winmail.dat has more than {_MOST_ATTACHMENTS} attachments.",
        )
    return mail


def _headed(message: _Properties) -> Message:
    mail = MIMEMultipart("mixed")
    sender, address = message.first((_SENDER, *_ADDRESSES)), message.first(_ADDRESSES)
    if "@" in address and address not in sender:
        sender = f"{sender} <{address}>"
    for name, value in (("Subject", message.first(_SUBJECTS)), ("From", sender)):
        attempt("fields", partial(set_header, mail, name, value))
    return mail


def _read(data: memoryview) -> tuple[_Properties, list[_Properties], int]:
    """Properties of the message and of its attachments, and how many of those were left out."""
    message = about = _Properties()
    files: list[_Properties] = []
    count = 0
    is_empty = True
    for level, number, value in _attributes(data):
        if number == _NEW_ATTACHMENT:
            about = _Properties(message.declared)
            count += 1
            files += [about] if count <= _MOST_ATTACHMENTS else []
        item = about if level == _OF_FILE else message
        is_empty &= value is None
        if value is None:
            item.is_damaged = True
        elif number == _CODE_PAGE:
            item.declared = charset_of(int.from_bytes(value[:4], "little"))
        elif number in _UNCHECKED:
            _read_properties(value, item)
        elif number in _OLD:
            property_number, kind = _OLD[number]
            item.values.setdefault(property_number, (kind, value))
    if is_empty or data[: len(SIGNATURE)] != SIGNATURE:
        raise ValueError("this is no TNEF")
    return message, files, count - len(files)


def _attach(mail: Message, about: _Properties, attachments: Attachments) -> None:
    name = about.first(_NAMES)
    kind, value = about.values.get(_FILE, (0, None))
    try:
        if value is None:
            raise ValueError("no content")
        if kind == _OBJECT:
            value = value[_INTERFACE:]
        if kind == _OBJECT and value[: len(SIGNATURE)] == SIGNATURE:
            inner = _headed(_read(value)[0])
            inner.attach(file_part(bytes(value), MEDIA_TYPE))
            mail.attach(MIMEMessage(inner))
            return
    except ValueError:
        message = "The attachment is damaged, or winmail.dat does not contain it."
        attachments.refuse(name, size=len(value or b""), code="corrupt", message=message)
        return
    stated = about.text(_MEDIA_TYPE).strip() or mimetypes.guess_type(name)[0]
    part = file_part(bytes(value), stated or "application/octet-stream")
    shown = "inline" if about.text(_CONTENT_ID) else "attachment"
    part.add_header("Content-Disposition", shown, filename=("utf-8", "", name))
    mail.attach(part)


def _attributes(data: memoryview) -> Iterator[tuple[int, int, memoryview | None]]:
    """Level, number and value of each attribute; None for a value that is damaged."""
    at = len(SIGNATURE) + 2
    while at + 9 <= len(data):
        level, number, _, size = struct.unpack_from("<BHHI", data, at)
        at += 9
        value, checksum = data[at : at + size], data[at + size : at + size + 2]
        if number in _UNCHECKED:
            is_whole = len(value) == size
        else:
            is_whole = checksum == struct.pack("<H", sum(value) & 0xFFFF)
        yield level, number, value if is_whole else None
        at += size + 2


def _read_properties(data: memoryview, item: _Properties) -> None:
    """Adds the first value of each property; those after damage are left out."""
    at = 4
    for _ in range(int.from_bytes(data[:4], "little")):
        if at + 4 > len(data):
            break
        kind, number = struct.unpack_from("<HH", data, at)
        at += 4
        if number >= _FIRST_NAMED:
            at = _after_name(data, at)
        value, at = _first_value(data, at, kind)
        if value is None:
            break
        item.values[number] = (kind & ~_SEVERAL, value)
    else:
        return
    item.is_damaged = True


def _first_value(data: memoryview, at: int, kind: int) -> tuple[memoryview | None, int]:
    """The first value of a property, and the place after all; None if one is cut off or unknown."""
    size = _SIZES.get(kind & ~_SEVERAL, 0)
    first, count = data[:0], 1
    if kind & ~_SEVERAL not in _LONG_FORMS and not size:
        return None, at
    if kind & _SEVERAL or not size:
        count, at = int.from_bytes(data[at : at + 4], "little"), at + 4
    is_long = not size
    for index in range(count):
        if is_long:
            size, at = int.from_bytes(data[at : at + 4], "little"), at + 4
        if at + size > len(data):
            return None, at
        first = first if index else data[at : at + size]
        at += size + -size % 4
    return first, at


def _after_name(data: memoryview, at: int) -> int:
    """The place after the name of a property: a set, and a number or a text."""
    is_text, size = int.from_bytes(data[at + 16 : at + 20], "little"), 0
    if is_text:
        size = int.from_bytes(data[at + 20 : at + 24], "little")
    return at + 24 + size + -size % 4
