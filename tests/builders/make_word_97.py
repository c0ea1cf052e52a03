"""Word 97 documents with formats, byte by byte ([MS-DOC]): each paragraph with its properties."""

import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.builders.make_mail import Tree, ole

_PAGE, _TEXT = 512, 0x800
_PARTS = ("body", "footnotes", "headers", "macros", "comments", "endnotes", "text_boxes")
_PAIRS = 154


class Run(NamedTuple):
    """Text with changes to its characters."""

    text: str
    changes: bytes = b""


class Paragraph(NamedTuple):
    """Runs, of which the last ends in a mark: `\\r`, or `\\x07` of a cell."""

    runs: Sequence[Run | str]
    changes: bytes = b""
    style: int = 0


def paragraph(text: str, changes: bytes = b"", *, style: int = 0) -> Paragraph:
    """A paragraph of one run."""
    return Paragraph([text + "\r"], changes, style)


def switch(code: int, value: int = 1) -> bytes:
    """A property of one byte."""
    return struct.pack("<HB", code, value)


def short(code: int, value: int) -> bytes:
    """A property of two bytes."""
    return struct.pack("<HH", code, value)


def long(code: int, value: int) -> bytes:
    """A property of four bytes."""
    return struct.pack("<HI", code, value)


def cells(*texts: str, borders: Sequence[int], flags: Sequence[int] = ()) -> list[Paragraph]:
    """A row of a table; `borders` in twips, one more than cells."""
    count = len(borders) - 1
    flags = [*flags, *[0] * (count - len(flags))]
    row = struct.pack(f"<B{count + 1}h", count, *borders)
    row += b"".join(struct.pack("<H18x", flag) for flag in flags)
    ends = switch(0x2416) + switch(0x2417) + struct.pack("<HH", 0xD608, len(row) + 1) + row
    return [*(Paragraph([text + "\x07"], switch(0x2416)) for text in texts),
            Paragraph(["\x07"], ends)]  # fmt: skip


def plc(places: Sequence[int], data: Sequence[bytes] = ()) -> bytes:
    """Positions, and what is at them."""
    return struct.pack(f"<{len(places)}i", *places) + b"".join(data)


def styles(*stated: tuple[int, int, bytes]) -> bytes:
    """The table of styles: built-in number, number of the base, changes to paragraphs."""
    made = b""
    for builtin, base, changes in stated:
        style = struct.pack("<HHHHH", builtin, base << 4 | 1, 1, 0, 0) + struct.pack("<HH", 0, 0)
        style += struct.pack("<HH", 2 + len(changes), 0) + changes
        style += b"\0" * (len(style) % 2)
        made += struct.pack("<H", len(style)) + style
    return struct.pack("<HHH14x", 18, len(stated), 10) + made


def numbered_list(key: int, *levels: tuple[int, str]) -> tuple[bytes, bytes]:
    """A list: its statement, and its nine levels: kind of number, text with a character below 9
    in place of the number of each level."""
    made = b""
    for at in range(9):
        kind, text = levels[at] if at < len(levels) else (0, "")
        made += struct.pack("<iB23x", 1, kind) + struct.pack("<H", len(text))
        made += text.encode("utf-16-le")
    return struct.pack("<h", 1) + struct.pack("<i24x", key), made


def word_97(
    parts: Mapping[str, Sequence[Paragraph]],
    tables: Mapping[int, bytes] | None = None,
    *,
    behind: Mapping[int, bytes] | None = None,
    data: bytes = b"",
) -> bytes:
    """A document of the parts `body`, `footnotes`, `headers`, `macros`, `comments`, `endnotes`,
    `text_boxes`; `tables` by their index in the FIB, and bytes `behind` some of them."""
    paragraphs = [item for name in _PARTS for item in parts.get(name, ())]
    counts = [
        sum(_size(run) for item in parts.get(name, ()) for run in item.runs) // 2 for name in _PARTS
    ]
    encoded = "".join(_text(run) for item in paragraphs for run in item.runs).encode("utf-16-le")
    pages, marks = _Pages(_TEXT + len(encoded)), [_TEXT]
    runs, run_marks = _Pages(0), [_TEXT]
    for item in paragraphs:
        stated = struct.pack("<H", item.style) + item.changes
        marks.append(marks[-1] + sum(map(_size, item.runs)))
        pages.add(marks[-2], marks[-1], _paragraph_page(stated))
        for run in item.runs:
            run_marks.append(run_marks[-1] + _size(run))
            changes = run.changes if isinstance(run, Run) else b""
            runs.add(run_marks[-2], run_marks[-1], _character_page(changes))
    runs.first = pages.first + len(pages.made)
    piece = plc([0, len(encoded) // 2], [struct.pack("<HIH", 0, _TEXT, 0)])
    stated_tables = {
        **(tables or {}),
        12: plc(run_marks, [struct.pack("<I", runs.first + at) for at in range(len(runs.made))]),
        13: plc(marks, [struct.pack("<I", pages.first + at) for at in range(len(pages.made))]),
        33: b"\x02" + struct.pack("<I", len(piece)) + piece,
    }
    header = bytearray(_TEXT)
    struct.pack_into("<HHHHHH", header, 0, 0xA5EC, 0xC1, 0, 0x0409, 0, 0x0200)
    struct.pack_into("<H", header, 32, 14)
    struct.pack_into("<H", header, 62, 22)
    struct.pack_into(f"<{len(counts)}i", header, 0x4C, *counts)
    struct.pack_into("<H", header, 152, 93)
    table = b""
    for index, stated in stated_tables.items():
        struct.pack_into("<II", header, _PAIRS + 8 * index, len(table), len(stated))
        table += stated + (behind or {}).get(index, b"")
    main = bytes(header) + encoded
    main += bytes(-len(main) % _PAGE) + b"".join([*pages.made, *runs.made])
    streams: Tree = {"1Table": table, "WordDocument": main}
    if data:
        streams = {"Data": data, **streams}
    return ole(streams)


class _Pages:
    def __init__(self, end: int) -> None:
        self.first = -(-end // _PAGE)
        self.made: list[bytes] = []

    def add(self, start: int, end: int, content: tuple[bytes, bytes]) -> None:
        """A page of one range: where its properties are, and these at the end."""
        place, stated = content
        page = struct.pack("<II", start, end) + place
        self.made.append(page.ljust(_PAGE - 1 - len(stated), b"\0") + stated + b"\x01")


def _paragraph_page(stated: bytes) -> tuple[bytes, bytes]:
    if len(stated) % 2:
        packed = bytes([(len(stated) + 1) // 2]) + stated
    else:
        packed = bytes([0, len(stated) // 2]) + stated
    packed += b"\0" * ((len(packed) + 1) % 2)
    return bytes([(_PAGE - 1 - len(packed)) // 2]).ljust(13, b"\0"), packed


def _character_page(changes: bytes) -> tuple[bytes, bytes]:
    packed = bytes([len(changes)]) + changes
    packed += b"\0" * ((len(packed) + 1) % 2)
    return bytes([(_PAGE - 1 - len(packed)) // 2]), packed


def _text(run: Run | str) -> str:
    return run if isinstance(run, str) else run.text


def _size(run: Run | str) -> int:
    return len(_text(run).encode("utf-16-le"))
