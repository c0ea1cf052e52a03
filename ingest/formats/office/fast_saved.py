"""Word 6 and 95 documents that were saved fast: their text lies in pieces, out of order.

The piece table says which bytes make the text, in order (Microsoft's "Word 6.0 File Format":
FIB, Clx, PlcfPcd). Formats are not read: paragraphs and rows of tables are lines.
"""

import re
import struct

_FLAGS, _FAST_SAVED = 0x0A, 0x0004
_VERSION, _WORD_97 = 0x02, 193  # nFib; from Word 97 on, the pieces lie in another stream
_CLX = 0x160  # offset and length of the Clx
_FORMATS, _PIECES = 1, 2
_FIELD_CODE = re.compile("\x13[^\x13-\x15]*(?:\x14|(?=\x15))")
_ROW_END = re.compile("\x07\x07")
_BREAKS = str.maketrans({"\r": "\n\n", "\x0b": "\n", "\x0c": "\n\n", "\x1e": "-", "\xa0": " "})
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f]")


def is_fast_saved(header: bytes) -> bool:
    """Whether the stream WordDocument begins as one of Word 6 or 95 whose text is in pieces."""
    if len(header) < _CLX + 8:
        return False
    (version,) = struct.unpack_from("<H", header, _VERSION)
    (flags,) = struct.unpack_from("<H", header, _FLAGS)
    return version < _WORD_97 and bool(flags & _FAST_SAVED)


def read_pieces(stream: bytes) -> str:
    """The text. Raises ValueError or struct.error if the piece table is damaged."""
    at, length = struct.unpack_from("<II", stream, _CLX)
    table = _piece_table(stream[at : at + length])
    count = (len(table) - 4) // 12
    places = struct.unpack_from(f"<{count + 1}I", table)
    parts, total = [], 0
    for number in range(count):
        (begin,) = struct.unpack_from("<I", table, (count + 1) * 4 + number * 8 + 2)
        size = places[number + 1] - places[number]
        total += size
        if size < 0 or begin + size > len(stream) or total > len(stream):
            raise ValueError("a piece lies outside of the file")
        parts.append(stream[begin : begin + size])
    return _text(b"".join(parts).decode("cp1252", "replace"))


def _piece_table(clx: bytes) -> bytes:
    at = 0
    while at < len(clx):
        if clx[at] == _PIECES:
            (length,) = struct.unpack_from("<I", clx, at + 1)
            return clx[at + 5 : at + 5 + length]
        if clx[at] != _FORMATS:
            break
        at += 3 + struct.unpack_from("<H", clx, at + 1)[0]
    raise ValueError("no piece table")


def _text(raw: str) -> str:
    """Fields by their results, cells apart."""
    text = _FIELD_CODE.sub("", raw)
    text = _ROW_END.sub("\n\n", text).replace("\x07", " | ").translate(_BREAKS)
    return _UNSEEN.sub("", text).strip()
