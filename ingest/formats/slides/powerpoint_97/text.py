"""Texts of PowerPoint 97: their kinds, characters, and the levels of their paragraphs."""

import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ingest.formats.common.links import link, web_address
from ingest.formats.common.markdown import plain
from ingest.formats.common.raised_text import CONTEXT, lowered, raised, written_out
from ingest.formats.slides.powerpoint_97.records import Record, children, first

_HEADER, _CHARACTERS, _BYTES, _STYLES = 0x0F9F, 0x0FA0, 0x0FA8, 0x0FA1
# What PowerPoint fills in stands as a star in the text; these say where.
_FILLED: Final = frozenset({0x0FD8, 0x0FF7, 0x0FF8, 0x0FF9, 0x0FFA, 0x1015})
_ACTION, _ACTION_ATOM, _ACTION_PLACE = 0x0FF2, 0x0FF3, 0x0FDF
STRING, COMMENT_TEXT = 0x0FBA, 1
TAG_DATA: Final = 0x138B
TITLES: Final = frozenset({0, 6})
OTHER: Final = 4
_BODIES: Final = frozenset({1, 5, 7, 8})
_DEEPEST = 8
_DEEP: Final = 20  # containers in each other
_HAS_BULLET, _BULLET_FLAGS = 0x1, 0xF
# Bits of a format, in the order of their values, and the bytes of each ([MS-PPT] 2.9.20).
_VALUES: Final = (
    (0x80, 2), (0x10, 2), (0x40, 2), (0x20, 4), (0x800, 2), (0x1000, 2), (0x2000, 2), (0x4000, 2),
    (0x100, 2), (0x400, 2), (0x8000, 2),
)  # fmt: skip
_FONT_VALUES: Final = (
    (0xFFFF, 2), (0x10000, 2), (0x200000, 2), (0x400000, 2), (0x800000, 2), (0x20000, 2),
    (0x40000, 4),
)  # fmt: skip
_POSITION: Final = 0x80000
_BREAK, _LINE = re.compile(r"[\r\v]"), re.compile(r"[^\r\v]+")
_TABS, _AFTER_TABS = 0x100000, ((0x10000, 2), (0xE0000, 2), (0x200000, 2))


@dataclass(slots=True)
class Passage:
    """The text of one shape."""

    kind: int
    characters: str = ""
    levels: list[tuple[int, int, bool | None]] = field(default_factory=list)
    """Of consecutive paragraphs: characters, level, whether they have a bullet if it is stated."""
    filled: set[int] = field(default_factory=set)
    """Where PowerPoint fills in numbers and dates."""
    placed: list[tuple[int, int, bool]] = field(default_factory=list)
    """Raised (True) and lowered text: where it begins and ends."""
    links: list[tuple[int, int, int]] = field(default_factory=list)
    """Where they begin and end, and their keys."""
    addresses: Mapping[int, str] = field(default_factory=dict)
    """Of links, by their keys."""

    def line(self) -> str:
        """The text on one line."""
        return " ".join(self._seen().split())

    def blocks(self) -> str:
        """Markdown: paragraphs, or a list if it is the body of a slide or has bullets."""
        paragraphs = list(self._paragraphs())
        is_list = self.kind in _BODIES and self.kind != 5 and len(paragraphs) > 1
        lines: list[str] = []
        was_item = False
        for text, level, has_bullet in paragraphs:
            is_item = is_list if has_bullet is None else has_bullet
            shown = f"{'  ' * level}- {' '.join(text.split())}" if is_item else plain(text)
            lines += [shown] if is_item and was_item else ["", shown]
            was_item = is_item
        return "\n".join(lines).strip("\n")

    def _seen(self) -> str:
        return _text(self._pieces())

    def _pieces(self) -> list[str]:
        """The characters with marks of what is raised or lowered, without those filled in."""
        pieces = list(self.characters)
        for at in self.filled:
            if at < len(pieces) and pieces[at] == "*":
                pieces[at] = ""
        for start, end, is_raised in self.placed:
            mark = raised if is_raised else lowered
            pieces[start:end] = [mark("".join(pieces[start:end])), *[""] * (end - start - 1)]
        behind = 0  # links do not overlap
        for start, end, key in sorted(self.links):
            address = web_address(self.addresses.get(key, ""))
            if address and behind <= start < end <= len(pieces):
                behind = end
                for line in _LINE.finditer(self.characters, start, end):
                    text = link("".join(pieces[slice(*line.span())]), address)
                    pieces[slice(*line.span())] = [text, *[""] * (len(line[0]) - 1)]
        return pieces

    def _paragraphs(self) -> Iterator[tuple[str, int, bool | None]]:
        pieces = self._pieces()
        runs = iter(self.levels)
        end, level, has_bullet = 0, 0, None
        at = 0
        for paragraph in self.characters.split("\r"):
            while at >= end and (run := next(runs, None)) is not None:
                count, level, has_bullet = run
                end += count
            text = _text(pieces[at : at + len(paragraph)]).strip()
            at += len(paragraph) + 1
            if text:
                yield text, min(level, _DEEPEST), has_bullet


def _text(pieces: Sequence[str]) -> str:
    return written_out("".join(pieces)).replace("\v", "\n")


def passages(records: Iterable[Record]) -> Iterator[Passage]:
    """The texts in consecutive records; each begins with its kind."""
    found: Passage | None = None
    key = 0
    for kind, _, data, _ in records:
        if kind == _HEADER and len(data) >= 4:
            if found is not None:
                yield found
            found = Passage(struct.unpack_from("<I", data)[0])
        elif kind in (_CHARACTERS, _BYTES):
            found = Passage(OTHER) if found is None else found
            codec = "utf-16-le" if kind == _CHARACTERS else "latin-1"
            found.characters = data.decode(codec, "replace")
        elif found is not None and kind == _STYLES:
            found.levels, end = _levels(data, len(found.characters) + 1)
            found.placed = list(_placed(data, end, found.characters))
        elif kind == _ACTION:
            key = _link_key(data)
        elif found is not None and kind == _ACTION_PLACE and len(data) >= 8:
            found.links.append((*struct.unpack_from("<II", data), key))
        elif found is not None and kind in _FILLED and len(data) >= 4:
            found.filled.add(struct.unpack_from("<I", data)[0])
    if found is not None:
        yield found


def _link_key(action: bytes) -> int:
    atom = first(action, _ACTION_ATOM)
    return 0 if atom is None or len(atom.data) < 8 else int.from_bytes(atom.data[4:8], "little")


def _levels(data: bytes, length: int) -> tuple[list[tuple[int, int, bool | None]], int]:
    """The formats of paragraphs that say where they stand, as far as they can be read, and their
    end."""
    found: list[tuple[int, int, bool | None]] = []
    at = total = 0
    while total < length and at + 10 <= len(data):
        count, level, masks = struct.unpack_from("<IHI", data, at)
        at += 10
        has_bullet: bool | None = None
        if masks & _BULLET_FLAGS:
            if masks & _HAS_BULLET and at + 2 <= len(data):
                has_bullet = bool(struct.unpack_from("<H", data, at)[0] & _HAS_BULLET)
            at += 2
        at += sum(size for mask, size in _VALUES if masks & mask)
        if masks & _TABS and at + 2 <= len(data):
            at += 2 + 4 * struct.unpack_from("<H", data, at)[0]
        at += sum(size for mask, size in _AFTER_TABS if masks & mask)
        total += count
        found.append((count, level, has_bullet))
    return found, at


def _placed(data: bytes, at: int, text: str) -> Iterator[tuple[int, int, bool]]:
    """Parts of lines that are raised or lowered, by the formats of characters behind `at`."""
    start = 0
    while start < len(text) and at + 8 <= len(data):
        count, masks = struct.unpack_from("<II", data, at)
        at += 8 + sum(size for mask, size in _FONT_VALUES if masks & mask)
        end = min(start + count, len(text))
        if masks & _POSITION and at + 2 <= len(data):
            (percent,) = struct.unpack_from("<h", data, at)
            at += 2
            if percent and _is_part(text, start, end):
                yield start, end, percent > 0
        start = end


def _is_part(text: str, start: int, end: int) -> bool:
    """Whether this is in one line, and not all of it."""
    before = _BREAK.split(text[max(0, start - CONTEXT) : start])[-1]
    after = _BREAK.split(text[end : end + CONTEXT])[0]
    return bool(_LINE.fullmatch(text, start, end) and (before.strip() or after.strip()))


def plain_texts(data: bytes, depth: int = 0) -> list[str]:
    """All texts in these records, and the words of comments, without structure."""
    found: list[str] = []
    for record in children(data):
        if record.is_container or record.kind == TAG_DATA:
            if depth < _DEEP:
                found += plain_texts(record.data, depth + 1)
        elif record.kind in (_CHARACTERS, _BYTES) or _is_comment(record):
            codec = "latin-1" if record.kind == _BYTES else "utf-16-le"
            text = record.data.decode(codec, "replace").replace("\r", "\n\n").replace("\v", "\n")
            found.append(plain(text.strip()))
    return [text for text in found if text]


def _is_comment(record: Record) -> bool:
    return record.kind == STRING and record.instance == COMMENT_TEXT
