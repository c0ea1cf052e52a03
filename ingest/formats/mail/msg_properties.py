"""Reads the properties of Outlook items (MS-OXMSG) from the streams of the OLE container.

No library fits: python-oxmsg supports neither embedded messages nor named properties, xberg no
attachments, extract-msg is GPL.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import BinaryIO

import olefile

from ingest.formats.detect.ole_container import OleContainer, open_ole
from ingest.formats.encoding.decode import decode
from ingest.formats.mail.mapi_parts import charset_of
from ingest.model import Encoding

_INTEGER, _BOOLEAN, _TIME, _STRING8, _STRING, _BINARY, _OBJECT = (
    0x0003, 0x000B, 0x0040, 0x001E, 0x001F, 0x0102, 0x000D,
)  # fmt: skip
_TABLE = "__properties_version1.0"
_NAMES = "__nameid_version1.0/__substg1.0_00030102"
_MESSAGE_HEADER, _EMBEDDED_HEADER, _PART_HEADER = 32, 24, 8  # bytes before the table
_MESSAGE_CLASS = 0x001A
_INTERNET_CODE_PAGE, _MESSAGE_CODE_PAGE = 0x3FDE, 0x3FFD
_FIRST_NAMED = 0x8000
_BODIES = (0x1000, 0x1013, 0x0037)
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_NO_DATE_BEFORE, _NO_DATE_AFTER = 1900, 4500  # Outlook writes 4501 for "none"


@dataclass(frozen=True, slots=True)
class _Container:
    """The OLE file, with lookup tables that all its items share."""

    ole: OleContainer
    children: dict[tuple[str, ...], list[str]]
    """Names of the entries in each folder."""
    named: dict[int, int]
    """Property number in this file by number of the named property."""

    def stream(self, path: str) -> bytes:
        """A stream; empty if missing."""
        if self.ole.get_type(path) != olefile.STGTY_STREAM:
            return b""
        data: bytes = self.ole.openstream(path).read()
        return data


class Item:
    """A message, a recipient or an attachment: a folder of the container with its properties."""

    def __init__(
        self,
        container: _Container,
        path: tuple[str, ...] = (),
        *,
        header_size: int = _MESSAGE_HEADER,
        declared: str | None = None,
    ) -> None:
        self._container = container
        self._path = path
        self._fixed = _fixed(self.stream(_TABLE)[header_size:])
        self.declared = self._charset() or declared or self._guessed()
        """The item's encoding, as a Content-Type; None if unknown."""

    @property
    def message_class(self) -> str:
        """The kind of item in lower case: `ipm.note`, `ipm.contact` …"""
        return self.text(_MESSAGE_CLASS).lower()

    def text(self, number: int) -> str:
        """A string property; empty if missing."""
        return self.text_and_encoding(number)[0]

    def text_and_encoding(self, number: int) -> tuple[str, Encoding | None]:
        """A string property and how it was decoded: None if it is Unicode."""
        wide = self.stream(_name(number, _STRING))
        if wide:
            return wide.decode("utf-16-le", "replace").rstrip("\0"), None
        data = self.stream(_name(number, _STRING8)).rstrip(b"\0")
        return decode(data, declared=self.declared) if data else ("", None)

    def binary(self, number: int) -> bytes:
        """A binary property; empty if missing."""
        return self.stream(_name(number, _BINARY))

    def integer(self, number: int) -> int:
        """An integer or boolean property; 0 if missing."""
        value = self._fixed.get((number, _INTEGER)) or self._fixed.get((number, _BOOLEAN)) or b""
        return int.from_bytes(value[:4], "little")

    def date(self, number: int) -> str:
        """A time in ISO 8601, UTC; empty if missing or outside the years 1900 to 4500."""
        ticks = int.from_bytes(self._fixed.get((number, _TIME), b""), "little")
        try:
            moment = _EPOCH + timedelta(microseconds=ticks // 10)
        except OverflowError:
            return ""
        if not _NO_DATE_BEFORE <= moment.year <= _NO_DATE_AFTER:
            return ""
        return moment.replace(microsecond=0).isoformat()

    def named(self, number: int) -> int:
        """The number that a named property has in this file; 0, which is never used, if none.

        Numbers of appointments, tasks and contacts do not overlap, so property sets are ignored.
        """
        return self._container.named.get(number, 0)

    def children(self, prefix: str) -> Iterator["Item"]:
        """Recipients (`__recip`) or attachments (`__attach`)."""
        for name in self._container.children.get(self._path, ()):
            if name.lower().startswith(prefix):
                path = (*self._path, name)
                yield Item(self._container, path, header_size=_PART_HEADER, declared=self.declared)

    def embedded(self, number: int) -> "Item | None":
        """The message embedded in an attachment; None if there is none."""
        path = (*self._path, _name(number, _OBJECT))
        if _TABLE not in self._container.children.get(path, ()):
            return None
        return Item(self._container, path, header_size=_EMBEDDED_HEADER, declared=self.declared)

    def stream(self, name: str) -> bytes:
        """A stream of this item's folder; empty if missing."""
        return self._container.stream("/".join((*self._path, name)))

    def _charset(self) -> str | None:
        for number in (_MESSAGE_CODE_PAGE, _INTERNET_CODE_PAGE):
            page = self.integer(number)
            if page:
                return charset_of(page)
        return None

    def _guessed(self) -> str | None:
        """The encoding detected in the body, else in the subject, which is short."""
        for number in _BODIES:
            data = self.stream(_name(number, _STRING8))
            if not data.isascii():
                return f"text/plain; charset={decode(data)[1].name}"
        return None


def open_message(stream: BinaryIO) -> Item:
    """Open the message in an OLE container."""
    ole = open_ole(stream)
    children: dict[tuple[str, ...], list[str]] = {}
    for *folder, name in ole.listdir(streams=True, storages=True):
        children.setdefault(tuple(folder), []).append(name)
    container = _Container(ole, children, {})
    entries = container.stream(_NAMES)
    for number, kind, index in struct.iter_unpack("<IHH", entries[: len(entries) // 8 * 8]):
        if not kind & 1:  # else the number is the offset of a string name
            container.named[number] = _FIRST_NAMED + index
    return Item(container)


def _name(number: int, kind: int) -> str:
    return f"__substg1.0_{number:04X}{kind:04X}"


def _fixed(table: bytes) -> dict[tuple[int, int], bytes]:
    """The eight bytes of the value of each fixed-size property, by number and type."""
    found = {}
    for kind, number, value in struct.iter_unpack("<HH4x8s", table[: len(table) // 16 * 16]):
        found[number, kind] = value
    return found
