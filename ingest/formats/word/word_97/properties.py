"""Properties of paragraphs and characters of a Word 97 document: lists of changes to defaults."""

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from ingest.formats.word.word_97.file import CHARACTER_PAGES, PARAGRAPH_PAGES, WordFile

# Codes of properties ([MS-DOC] 2.6), which hold their group and the size of their operand.
IN_TABLE, ROW_END, DEPTH = 0x2416, 0x2417, 0x6649
INNER_CELL, INNER_ROW_END = 0x244B, 0x244C
LIST_LEVEL, LIST_USE, OUTLINE_LEVEL = 0x260A, 0x460B, 0x2640
IS_DELETED, IS_HIDDEN, RAISED, SYMBOL = 0x0800, 0x083C, 0x2A48, 0x6A09
PICTURE = 0x6A03  # or the data of a form: where they lie in the stream Data
TABLE_ROW, HEADER_ROW = 0xD608, 0x3404
_ELSEWHERE = (0x6645, 0x6646)  # the properties lie in the stream Data
_TABS = 0xC615
_SIZES = (1, 1, 2, 4, 2, 2, 0, 3)  # bytes of an operand by its kind; 0: it states its length
_PAGE = 512
_MOST_ELSEWHERE = 16_000_000  # bytes, read for all paragraphs; each may point to the same 64 KB

Properties = dict[int, bytes]


class _Range(NamedTuple):
    start: int
    """FC."""
    end: int
    changes: bytes


def number(properties: Properties, code: int) -> int | None:
    """An integer property."""
    operand = properties.get(code)
    return None if not operand else int.from_bytes(operand[:4], "little")


def is_on(properties: Properties, code: int) -> bool:
    """A switch; 0x80 means as its style, 0x81 the opposite."""
    return number(properties, code) in (1, 0x81)


def read_properties(changes: bytes) -> Properties:
    """The operand of each property; of two, the last counts."""
    found: Properties = {}
    at = 0
    while at + 2 < len(changes):
        (code,) = struct.unpack_from("<H", changes, at)
        at += 2
        size = _SIZES[code >> 13]
        if code == TABLE_ROW:
            size = struct.unpack_from("<H", changes, at)[0] - 1 if at + 2 <= len(changes) else 0
            at += 2
        elif not size:
            size = changes[at]
            at += 1
            if code == _TABS and size == 0xFF:
                break  # its length follows from its content; nothing here needs what is behind
        found[code] = changes[at : at + max(size, 0)]
        at += max(size, 0)
    return found


class Formats:
    """Looks up properties by position."""

    def __init__(self, file: WordFile) -> None:
        self._file = file
        self._paragraphs = sorted(_pages(file, PARAGRAPH_PAGES, _paragraph_changes))
        self._characters = sorted(_pages(file, CHARACTER_PAGES, _character_changes))
        self._paragraph_starts = [found.start for found in self._paragraphs]
        self._character_starts = [found.start for found in self._characters]
        self._known: dict[bytes, Properties] = {}
        self._left_elsewhere = _MOST_ELSEWHERE

    def paragraph(self, mark: int) -> tuple[int, Properties]:
        """Number of the style, and own properties, of the paragraph whose mark is at this CP.

        Raises ValueError if paragraphs point to more properties than files of Word do.
        """
        offset, _ = self._file.offset(mark)
        at = bisect_right(self._paragraph_starts, offset) - 1
        if at < 0 or offset >= self._paragraphs[at].end or len(self._paragraphs[at].changes) < 2:
            return 0, {}
        changes = self._paragraphs[at].changes
        properties = self._read(changes[2:])
        for code in _ELSEWHERE:
            place = number(properties, code)
            if place is not None and place + 2 <= len(self._file.data):
                properties = properties | self._read_elsewhere(place)
        return int(struct.unpack_from("<H", changes)[0]), properties

    def ends_paragraph(self, place: int) -> bool:
        """Whether a paragraph ends with the character at a CP, or none is stated there."""
        offset, piece = self._file.offset(place)
        at = bisect_right(self._paragraph_starts, offset) - 1
        return at < 0 or offset + piece.width >= self._paragraphs[at].end

    def runs(self, start: int, end: int) -> Iterator[tuple[int, int, Properties]]:
        """First CP, end and properties of the runs of characters in a range."""
        while start < end:
            offset, piece = self._file.offset(start)
            at = bisect_right(self._character_starts, offset) - 1
            properties: Properties = {}
            limit = piece.offset + (piece.end - piece.start) * piece.width
            if at >= 0 and offset < self._characters[at].end:
                properties = self._read(self._characters[at].changes)
                limit = min(limit, self._characters[at].end)
            elif at + 1 < len(self._characters):
                limit = min(limit, self._characters[at + 1].start)
            stop = min(end, start + max((limit - offset) // piece.width, 1))
            yield start, stop, properties
            start = stop

    def _read_elsewhere(self, place: int) -> Properties:
        """Not kept, as each paragraph may have its own."""
        (size,) = struct.unpack_from("<H", self._file.data, place)
        self._left_elsewhere -= size
        if self._left_elsewhere < 0:
            raise ValueError("too many properties in the stream Data")
        return read_properties(self._file.data[place + 2 : place + 2 + size])

    def _read(self, changes: bytes) -> Properties:
        if changes not in self._known:
            self._known[changes] = read_properties(changes)
        return self._known[changes]


class _Page(NamedTuple):
    """512 bytes with the properties of consecutive ranges, whose number is the last byte."""

    data: bytes
    ranges: int


_ChangesOf = Callable[[_Page, int], bytes]
_MOST_RANGES: Final = {PARAGRAPH_PAGES: 0x1D, CHARACTER_PAGES: 0x65}


def _pages(file: WordFile, index: int, changes_of: _ChangesOf) -> Iterator[_Range]:
    _, numbers = file.places(index, 4)
    for number_ in dict.fromkeys(struct.unpack("<I", raw)[0] & 0x3FFFFF for raw in numbers):
        data = file.main[number_ * _PAGE : (number_ + 1) * _PAGE]
        if len(data) < _PAGE or data[-1] > _MOST_RANGES[index]:
            continue
        count = data[-1]
        offsets = struct.unpack_from(f"<{count + 1}I", data)
        for at in range(count):
            yield _Range(offsets[at], offsets[at + 1], changes_of(_Page(data, count), at))


def _paragraph_changes(page: _Page, at: int) -> bytes:
    """With the number of the style in front."""
    place = 2 * page.data[4 * (page.ranges + 1) + 13 * at]
    if not place or place + 1 >= _PAGE:
        return b""
    size = page.data[place]
    if size:
        return page.data[place + 1 : place + 2 * size]
    return page.data[place + 2 : place + 2 + 2 * page.data[place + 1]]


def _character_changes(page: _Page, at: int) -> bytes:
    place = 2 * page.data[4 * (page.ranges + 1) + at]
    return page.data[place + 1 : place + 1 + page.data[place]] if place else b""
