"""Word 6 and 95 documents (Microsoft's "Word 6.0 File Format": FIB, Clx, PlcfPcd, Sttbfffn).

The text lies in one stretch, or, if it was saved fast, in pieces out of order, which a table
lists. Its code page is that of the fonts. Formats are not read: paragraphs and rows of tables are
lines, tracked deletions stay.
"""

import re
import struct
from collections.abc import Iterator
from typing import Final

from ingest.formats.encoding.charset import familiarity

_FLAGS, _FAST_SAVED, _WIDE = 0x0A, 0x0004, 0x1000
_VERSION, _WORD_6, _WORD_97 = 0x02, 101, 193  # nFib; Word 97 has its tables in another stream
_CHARACTER_SET, _MACINTOSH = 0x14, 256
_BEGIN = 0x18  # of the text
_COUNTS = 0x34  # characters of body, footnotes, headers, macros, comments, …
_BODY_TO_HEADERS = 3
_PARTS = 8
_FONTS = 0xD0  # offset and length of the names of fonts
_CLX = 0x160  # offset and length of the Clx
_HEAD = _CLX + 8
_FORMATS, _PIECES = 1, 2
_SAMPLE = 65_536  # bytes
_WESTERN = "cp1252"
# Character sets of fonts, as Windows numbers them.
_CODECS: Final = {
    128: "cp932",
    129: "cp949",
    134: "gb18030",
    136: "big5hkscs",
    161: "cp1253",
    162: "cp1254",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
}
_FIELD_CODE = re.compile("\x13[^\x13-\x15]*(?:\x14|(?=\x15))")
_CELL_END, _ROW_END = "\x07", "\x07\x07"
_EMPTY = re.compile(r"\n\s*\n")
_BREAKS = str.maketrans({"\r": "\n\n", "\x0b": "\n", "\x0c": "\n\n", "\x1e": "-", "\xa0": " "})
_UNSEEN = re.compile("[\x00-\x06\x08\x0e-\x1d\x1f]")


def is_word_95(stream: bytes) -> bool:
    """Whether the stream WordDocument is one of Word 6 or 95."""
    return len(stream) >= _HEAD and _WORD_6 <= _number(stream, _VERSION, "H") < _WORD_97


def read_text(stream: bytes) -> str:
    """All text but macros. Raises ValueError or struct.error if the piece table is damaged."""
    flags = _number(stream, _FLAGS, "H")
    width = 2 if flags & _WIDE else 1
    data = b"".join(_stretches(stream, width, is_fast_saved=bool(flags & _FAST_SAVED)))
    counts = [max(count, 0) for count in struct.unpack_from(f"<{_PARTS}i", stream, _COUNTS)]
    macros = width * sum(counts[:_BODY_TO_HEADERS])
    data = data[:macros] + data[macros + width * counts[_BODY_TO_HEADERS] :]
    codec = "utf-16-le" if width > 1 else _code_page(stream, data)
    return _text(data.decode(codec, "replace"))


def _stretches(stream: bytes, width: int, *, is_fast_saved: bool) -> Iterator[bytes]:
    if not is_fast_saved:
        begin = _number(stream, _BEGIN, "I")
        count = sum(struct.unpack_from(f"<{_PARTS}i", stream, _COUNTS))
        yield stream[begin : begin + max(count, 0) * width]
        return
    at, length = struct.unpack_from("<II", stream, _CLX)
    table = _piece_table(stream[at : at + length])
    count = (len(table) - 4) // 12
    places = struct.unpack_from(f"<{count + 1}I", table)
    total = 0
    for number in range(count):
        begin = _number(table, (count + 1) * 4 + number * 8 + 2, "I")
        size = (places[number + 1] - places[number]) * width
        total += size
        if size < 0 or begin + size > len(stream) or total > len(stream):
            raise ValueError("a piece lies outside of the file")
        yield stream[begin : begin + size]


def _piece_table(clx: bytes) -> bytes:
    at = 0
    while at < len(clx):
        if clx[at] == _PIECES:
            length = _number(clx, at + 1, "I")
            return clx[at + 5 : at + 5 + length]
        if clx[at] != _FORMATS:
            break
        at += 3 + _number(clx, at + 1, "H")
    raise ValueError("no piece table")


def _code_page(stream: bytes, data: bytes) -> str:
    """The codec of the text: the one of its fonts that gives the most familiar letters."""
    if _number(stream, _CHARACTER_SET, "H") == _MACINTOSH:
        return "mac_roman"
    sample = data[:_SAMPLE]
    return max(
        dict.fromkeys([*_codecs(stream), _WESTERN]),
        key=lambda codec: familiarity(sample.decode(codec, "replace"), codec),
    )


def _codecs(stream: bytes) -> Iterator[str]:
    """Those of the fonts that are not Western. Of a font: length, four bytes, set, …, its name."""
    at, length = struct.unpack_from("<II", stream, _FONTS)
    fonts = stream[at : at + length]
    place = 2
    while place + 4 < len(fonts):
        if (codec := _CODECS.get(fonts[place + 4])) is not None:
            yield codec
        place += 1 + fonts[place]


def _number(data: bytes, at: int, layout: str) -> int:
    return int(struct.unpack_from("<" + layout, data, at)[0])


def _text(raw: str) -> str:
    """Fields by their results, cells apart."""
    seen = _UNSEEN.sub("", _FIELD_CODE.sub("", raw))
    text = "\r".join(map(_row, seen.split(_ROW_END))).translate(_BREAKS)
    return _EMPTY.sub("\n\n", text).strip()


def _row(text: str) -> str:
    """Cells on one line, behind the paragraphs before the row."""
    before, *cells = text.split(_CELL_END)
    before, _, first = before.rpartition("\r") if cells else (before, "", "")
    shown = (" ".join(cell.replace("\r", " ").split()) for cell in (first, *cells))
    return f"{before}\r{' | '.join(shown).strip(' |')}"
