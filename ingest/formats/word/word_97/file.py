"""The streams of a Word 97 document: its text, and tables that say what is where ([MS-DOC]).

A CP is a position in the text, in UTF-16 code units; an FC is one in the stream WordDocument.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import olefile

_VERSION, _WORD_97 = 0x02, 193  # nFib
_FLAGS, _SECOND_TABLE = 0x0A, 0x0200
_COUNTS = 0x4C  # ccpText, ccpFtn, ccpHdd, ccpMcr, ccpAtn, ccpEdn, ccpTxbx, ccpHdrTxbx
_PAIRS = 154  # fibRgFcLcb
_FORMATS, _PIECES = 1, 2
_COMPRESSED = 0x40000000

# Indexes of pairs of offset and length in the FIB.
STYLES: Final = 1
FOOTNOTE_MARKS, FOOTNOTES = 2, 3
COMMENT_MARKS, COMMENTS = 4, 5
HEADERS: Final = 11
CHARACTER_PAGES, PARAGRAPH_PAGES = 12, 13
FONTS: Final = 15
CLX: Final = 33
COMMENT_AUTHORS: Final = 36
SHAPES: Final = 40
ENDNOTE_MARKS, ENDNOTES = 46, 47
TEXT_BOXES: Final = 56
LISTS, LIST_USES = 73, 74


class Piece(NamedTuple):
    """Consecutive text in the stream."""

    start: int
    """CP."""
    end: int
    offset: int
    """FC of its first character."""
    width: int
    """Bytes of a character, 1 or 2."""


class Parts(NamedTuple):
    """First CP of each part of the text, and the end of the last."""

    body: int
    footnotes: int
    headers: int
    macros: int
    comments: int
    endnotes: int
    text_boxes: int
    header_text_boxes: int
    end: int


def is_word_97(stream: bytes) -> bool:
    """Whether the stream WordDocument is of Word 97 or newer."""
    return len(stream) >= _PAIRS and struct.unpack_from("<H", stream, _VERSION)[0] >= _WORD_97


class WordFile:
    """Raises struct.error, ValueError or OSError if it is damaged."""

    def __init__(self, ole: olefile.OleFileIO) -> None:
        self.main: bytes = ole.openstream("WordDocument").read()
        (flags,) = struct.unpack_from("<H", self.main, _FLAGS)
        self._table: bytes = ole.openstream("1Table" if flags & _SECOND_TABLE else "0Table").read()
        self.data: bytes = ole.openstream("Data").read() if ole.exists("Data") else b""
        self.pieces = list(_pieces(self.table(CLX), len(self.main)))
        self._starts = [piece.start for piece in self.pieces]
        self.text = "".join(map(self._decoded, self.pieces))
        starts = [0]
        for count in struct.unpack_from("<8i", self.main, _COUNTS):
            starts.append(min(starts[-1] + max(count, 0), len(self.text)))
        self.parts = Parts(*starts)

    def table(self, index: int) -> bytes:
        """The bytes of one table; empty if there is none."""
        place = _PAIRS + 8 * index
        if place + 8 > len(self.main):
            return b""
        at, length = struct.unpack_from("<II", self.main, place)
        return self._table[at : at + length]

    def places(self, index: int, size: int) -> tuple[list[int], list[bytes]]:
        """A PLC: positions, and data of `size` bytes each; there is one position more."""
        table = self.table(index)
        count = max((len(table) - 4) // (4 + size), 0) if table else 0
        places = list(struct.unpack_from(f"<{count + 1}i", table)) if count else []
        start = 4 * (count + 1)
        return places, [table[start + size * at : start + size * (at + 1)] for at in range(count)]

    def offset(self, place: int) -> tuple[int, Piece]:
        """FC of the character at a CP, and its piece."""
        piece = self.pieces[max(bisect_right(self._starts, place) - 1, 0)]
        return piece.offset + (place - piece.start) * piece.width, piece

    def tables_after(self, index: int) -> bytes:
        """All bytes behind a table: those of lists go on there."""
        at, length = struct.unpack_from("<II", self.main, _PAIRS + 8 * index)
        return self._table[at + length :]

    def _decoded(self, piece: Piece) -> str:
        count = piece.end - piece.start
        data = self.main[piece.offset : piece.offset + count * piece.width]
        if piece.width == 1:
            return data.decode("cp1252", "replace")
        text = data.decode("utf-16-le", "surrogatepass")
        if len(text) < count:  # characters of two units
            text = "".join(map(chr, struct.unpack(f"<{count}H", data)))
        return text


def in_order(places: Iterable[int], start: int) -> Iterator[int]:
    """CPs counted from `start`; none before the one ahead of it, so that ranges do not overlap."""
    reached = start
    for place in places:
        reached = max(reached, start + place)
        yield reached


def _pieces(clx: bytes, most: int) -> Iterator[Piece]:
    """`most`: bytes of the stream, which holds each character once."""
    at = 0
    while at < len(clx) and clx[at] == _FORMATS:
        at += 3 + struct.unpack_from("<H", clx, at + 1)[0]
    if at >= len(clx) or clx[at] != _PIECES:
        raise ValueError("no piece table")
    (length,) = struct.unpack_from("<I", clx, at + 1)
    table = clx[at + 5 : at + 5 + length]
    count = (len(table) - 4) // 12
    places = struct.unpack_from(f"<{count + 1}i", table)
    total = 0
    for number in range(count):
        (stated,) = struct.unpack_from("<I", table, 4 * (count + 1) + 8 * number + 2)
        width = 1 if stated & _COMPRESSED else 2
        offset = (stated & ~_COMPRESSED) // 2 if width == 1 else stated
        start, end = places[number], places[number + 1]
        size = (end - start) * width
        total += size
        if size < 0 or offset + size > most or total > most:
            raise ValueError("a piece lies outside of the file")
        yield Piece(start, end, offset, width)
