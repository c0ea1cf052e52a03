"""What a viewer of a format's pages shares with those who use it.

A viewer is a module with `open_page(source: BinaryIO, number: int)`, a context manager that yields
a PageView. It raises as an extractor does.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from ingest.errors import Permanent
from ingest.page_words import Box

if TYPE_CHECKING:
    from PIL.Image import Image

_MOST_PIXELS: Final = 25_000_000
_LARGEST_SIDE: Final = 8192


class Letters(NamedTuple):
    """The text on a page and the box of each of its characters; empty boxes where it has none."""

    text: str
    boxes: Sequence[Box]


class PageView(Protocol):
    """One page, as it is shown."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height: points of a PDF, pixels of a picture."""
        ...

    def draw(self, width: int) -> "Image":
        """The page in a mode that PNG has, about `width` pixels wide."""
        ...

    def letters(self) -> Letters | None:
        """Its text layer; None if it has none."""
        ...


def fitting(size: tuple[float, float], width: int) -> tuple[int, int]:
    """Pixels of a picture of a page of this size: `width`, or less if it would be too large."""
    across, along = size
    scale = min(
        width / across,
        _LARGEST_SIDE / max(size),
        math.sqrt(_MOST_PIXELS / (across * along)),
    )
    return max(1, math.floor(across * scale)), max(1, math.floor(along * scale))


def no_such_page(number: int) -> Permanent:
    """The error for a page that the file does not have."""
    return Permanent(f"The file has no page {number}.", code="corrupt")
