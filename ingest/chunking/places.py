"""Finds where ranges of a page's text stand on the page."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from ingest.chunking.alignment import NOT_FOUND, align, fold
from ingest.page_words import Box, Word

_SAME_LINE: Final = 0.5  # overlap of two letters, in heights (or widths) of the smaller one
_WIDE: Final = 4.0  # heights between two letters of a row; columns are further apart
_FEW: Final = 3  # letters; a piece with fewer is a chance match unless it is all there is


def spread(words: Sequence[Word]) -> tuple[str, list[Box]]:
    """The words as a text, and a box for each character: an equal share of its word's box."""
    text = " ".join(word.text for word in words)
    boxes: list[Box] = []
    for word in words:
        left, top, right, bottom = word.box
        step = (right - left) / max(1, len(word.text))
        boxes += (
            (left + step * index, top, left + step * (index + 1), bottom)
            for index in range(len(word.text))
        )
        boxes.append((0.0, 0.0, 0.0, 0.0))
    return text, boxes[:-1]


def locate(
    text: str, ranges: Sequence[tuple[int, int]], page: str, boxes: Sequence[Box], *, most: int
) -> list[list[Box]]:
    """The boxes of each range of `text`, about one per line, in the order of the page.

    page: what stands on the page, in any order, with a box for each of its characters; boxes
    without area are ignored. most: boxes of a range; a range with more gets one around them all.
    """
    mine, theirs = fold(text), fold(page)
    matches = align(mine.letters, theirs.letters)
    found = []
    for start, end in ranges:
        first, last = bisect_left(mine.places, start), bisect_left(mine.places, end)
        letters = sorted({match for match in matches[first:last] if match != NOT_FOUND})
        pieces = _pieces([boxes[theirs.places[letter]] for letter in letters])
        found.append(pieces if len(pieces) <= most else [_around(pieces)])
    return found


def _pieces(letters: Sequence[Box]) -> list[Box]:
    """Boxes of neighbouring letters joined: rows, or columns of vertical text."""
    pieces: list[tuple[Box, int]] = []
    previous: Box | None = None
    for box in letters:
        if box[0] >= box[2] or box[1] >= box[3]:
            continue
        if previous is not None and _continues(previous, box):
            whole, count = pieces[-1]
            pieces[-1] = (_around([whole, box]), count + 1)
        else:
            pieces.append((box, 1))
        previous = box
    likely = [box for box, count in pieces if count >= _FEW]
    return likely or [box for box, _ in pieces]


def _continues(previous: Box, box: Box) -> bool:
    """Whether a letter follows in the same row, or in the same column of vertical text."""
    width = min(previous[2] - previous[0], box[2] - box[0])
    height = min(previous[3] - previous[1], box[3] - box[1])
    across = min(previous[2], box[2]) - max(previous[0], box[0])
    along = min(previous[3], box[3]) - max(previous[1], box[1])
    if along >= _SAME_LINE * height:
        return -across <= _WIDE * height
    return across >= _SAME_LINE * width and -along <= width


def _around(boxes: Sequence[Box]) -> Box:
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )
