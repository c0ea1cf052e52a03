"""Comments, text boxes and links of Excel 97 sheets, from its records ([MS-XLS])."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from ingest.formats.common.markdown import plain
from ingest.formats.office.blocks import one_line
from ingest.formats.sheets.biff import read_workbook, records
from ingest.formats.sheets.drawings import cell_comment
from ingest.formats.sheets.limits import column_letters

_START, _END, _SHEET, _CONTINUE = 0x0809, 0x000A, 0x0085, 0x003C
_NOTE, _OBJECT, _TEXT, _LINK = 0x001C, 0x005D, 0x01B6, 0x01B8
_READ: Final = frozenset({_SHEET, _CONTINUE, _NOTE, _OBJECT, _TEXT, _LINK})
_EXCEL_97: Final = 0x0600
_COMMENT: Final = 0x19  # kind of object
_HEAD: Final = 4  # bytes of kind and length before the data of a record
_MOST: Final = 10_000  # comments, boxes or links of a sheet
_WEB: Final = bytes.fromhex("e0c9ea79f9bace118c8200aa004ba90b")
_HAS_NAME, _HAS_FRAME, _IS_STRING = 0x10, 0x80, 0x100


@dataclass(slots=True)
class XlsNotes:
    """What one sheet has beside its cells."""

    links: dict[tuple[int, int], str] = field(default_factory=dict)
    """Addresses by row and column."""
    _texts: dict[int, str] = field(default_factory=dict)
    """By the number of the object; of boxes below zero."""
    _notes: list[tuple[int, int, int, str]] = field(default_factory=list)
    """Row, column, number of the object, author."""

    def blocks(self) -> list[str]:
        """Markdown blocks: text boxes, then comments."""
        boxes = (plain(text) for number, text in self._texts.items() if number < 0)
        notes = (
            cell_comment(author, f"{column_letters(column + 1)}{row + 1}", self._texts.get(key, ""))
            for row, column, key, author in self._notes
        )
        return [text for text in (*boxes, *notes) if text]

    def add_text(self, number: int, is_comment: bool, text: str) -> None:
        """Keep the text of an object."""
        if len(self._texts) < _MOST:
            self._texts[number if is_comment else -1 - len(self._texts)] = one_line(text)

    def add_note(self, data: bytes) -> None:
        """Keep where a comment is, and by whom."""
        row, column, _, number, length, is_wide = struct.unpack_from("<HHHHHB", data)
        if len(self._notes) < _MOST:
            self._notes.append((row, column, number, _characters(data[11:], length, is_wide)))

    def add_link(self, data: bytes) -> None:
        """Keep an address of the web."""
        row, _, column, _ = struct.unpack_from("<HHHH", data)
        (flags,) = struct.unpack_from("<I", data, 28)
        at = 32
        for flag in (_HAS_NAME, _HAS_FRAME):
            if flags & flag:
                at += 4 + 2 * int(struct.unpack_from("<I", data, at)[0])
        if flags & _IS_STRING or data[at : at + 16] != _WEB or len(self.links) >= _MOST:
            return
        (size,) = struct.unpack_from("<I", data, at + 16)
        address = data[at + 20 : at + 20 + size].decode("utf-16-le", "replace")
        self.links.setdefault((row, column), address.partition("\0")[0])


def read_notes(stream: BinaryIO) -> list[XlsNotes]:
    """One item per sheet, in order. Raises struct.error for a damaged file."""
    workbook, _ = read_workbook(stream)
    sheets: list[int] = []
    found: dict[int, XlsNotes] = {}
    text = _Text()
    for kind, start, data in _outer_records(workbook):
        mine = found.setdefault(start, XlsNotes())
        if kind == _SHEET:
            sheets.append(struct.unpack_from("<I", data)[0])
        elif kind == _OBJECT:
            text = _Text(*struct.unpack_from("<HH", data, 4))
        elif kind == _TEXT:
            text.left = struct.unpack_from("<H", data, 10)[0]
        elif kind == _CONTINUE and text.left:
            text.add(data)
            if not text.left:
                mine.add_text(text.number, text.kind == _COMMENT, text.text)
        elif kind == _NOTE:
            mine.add_note(data)
        elif kind == _LINK:
            mine.add_link(data)
    return [found.get(start, XlsNotes()) for start in sheets]


@dataclass(slots=True)
class _Text:
    """The text of an object."""

    kind: int = 0
    number: int = 0
    left: int = 0
    """UTF-16 code units that are to come; one beyond U+FFFF has two."""
    text: str = ""

    def add(self, data: bytes) -> None:
        if not data:
            return
        units = (len(data) - 1) // (2 if data[0] & 1 else 1)
        self.text += _characters(data[1:], self.left, data[0])
        self.left = max(0, self.left - units) if units else 0


def _outer_records(workbook: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Kind, begin of the sheet and data of each record, without those of charts in sheets."""
    starts: list[int] = []
    for kind, at in records(workbook):
        (length,) = struct.unpack_from("<H", workbook, at - 2)
        if kind == _START:
            if not starts and struct.unpack_from("<H", workbook, at)[0] != _EXCEL_97:
                return
            starts.append(at - _HEAD)
        elif kind == _END:
            del starts[-1:]
        elif len(starts) == 1 and kind in _READ:
            yield kind, starts[0], workbook[at : at + length]


def _characters(data: bytes, count: int, is_wide: int) -> str:
    if is_wide & 1:
        return data[: 2 * count].decode("utf-16-le", "replace")
    return data[:count].decode("latin-1")
