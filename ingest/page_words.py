"""Words recognised in pictures, with their places; packed, those of a page take a few kilobytes."""

import array
import itertools
import struct
import sys
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in shares of the page as shown, 0 to 1, from its upper left corner."""

MOST_WORDS: Final = 20_000
"""Of a page; further ones have no place."""
LONGEST_PACKED: Final = 512 * 1024
"""Bytes; the words of a page that are longer have no places."""
MOST_PAGE_WORDS: Final = 32 * 1024 * 1024
"""Bytes, packed, of all pages of a document."""
_LONGEST_WORD: Final = 200  # characters
_MOST_BYTES: Final = 16 * 1024 * 1024  # unpacked
_SCALE: Final = 65535
_COUNT: Final = struct.Struct("<I")


class Word(NamedTuple):
    """A word of a picture."""

    text: str
    box: Box


class Recognised(NamedTuple):
    """What OCR has read in a picture."""

    text: str
    """In reading order; empty if there is none."""
    words: Sequence[Word] = ()
    """Where it stands, also of what the text leaves out as noise; empty if that is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWords:
    """The words of a page that was read by OCR."""

    page: int
    """1-based."""
    packed: bytes


def pack(words: Iterable[Word]) -> bytes | None:
    """The words as compressed bytes; None if there are none, or far too many."""
    kept = list(itertools.islice(words, MOST_WORDS))
    numbers = array.array("H", (_scaled(side) for word in kept for side in word.box))
    if sys.byteorder == "big":
        numbers.byteswap()
    texts = "\n".join(" ".join(word.text.split())[:_LONGEST_WORD] for word in kept)
    data = _COUNT.pack(len(kept)) + numbers.tobytes() + texts.encode("utf-8", "replace")
    packed = zlib.compress(data)
    return packed if kept and len(packed) <= LONGEST_PACKED else None


def unpack(packed: bytes) -> list[Word]:
    """The words of `pack`. Raises ValueError if they were made by something else."""
    try:
        data = zlib.decompressobj().decompress(packed, _MOST_BYTES)
        (count,) = _COUNT.unpack_from(data)
        numbers = array.array("H", data[_COUNT.size : _COUNT.size + 8 * min(count, MOST_WORDS)])
    except (zlib.error, struct.error) as error:
        raise ValueError("no packed words") from error
    if sys.byteorder == "big":
        numbers.byteswap()
    sides = [number / _SCALE for number in numbers]
    boxes = zip(sides[::4], sides[1::4], sides[2::4], sides[3::4], strict=True)
    texts = data[_COUNT.size + 8 * count :].decode("utf-8", "replace").split("\n")
    return [Word(text, box) for text, box in zip(texts, boxes, strict=True)]


def _scaled(side: float) -> int:
    return round(_SCALE * min(1.0, max(0.0, side)))
