"""Finds the letters of one text in another that has the same words, in about the same order.

Both have the same source: a page, and the Markdown that was made of it. They differ in spaces and
marks, in hyphens at line ends, in lines left out (headers, footers) and in the order of lines and
columns. So only letters and digits count, and what is not found in order is sought among the rest.
A general diff would take quadratic time, and a page may be hostile.

Anchors are runs of letters that both texts have exactly once (as in a patience diff). The longest
sequence of them that has the same order in both is kept and grown in both directions. Between two,
shorter runs are unique.
"""

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

# Letters of an anchor, between the anchors of the length before; and the longest part in which one
# of this length is hardly there by chance.
_LENGTHS: Final = ((16, 1_000_000), (8, 4000), (5, 400), (3, 60))
_ALONE: Final = 12  # letters of an anchor that no other one confirms: of a line that has moved
NOT_FOUND: Final = -1


class Folded(NamedTuple):
    """The letters and digits of a text in one form, and where each of them stands in it."""

    letters: str
    places: Sequence[int]


def fold(text: str) -> Folded:
    """Without spaces and marks, in lower case; `ﬁ` is `fi`."""
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if not character.isascii():
            character = unicodedata.normalize("NFKD", character)
        for letter in character.casefold():
            if letter.isalnum():
                letters.append(letter)
                places.append(place)
    return Folded("".join(letters), places)


class _Gap(NamedTuple):
    """A part of each text that has not been compared."""

    start: int
    end: int
    other_start: int
    other_end: int


def align(text: str, other: str) -> list[int]:
    """For each character of `text` (folded), its place in `other`, or NOT_FOUND."""
    found = [NOT_FOUND] * len(text)
    mine, theirs = list(range(len(text))), list(range(len(other)))
    for find in (_in_order, _anywhere, _anywhere):
        runs = find(_joined(text, mine), _joined(other, theirs))
        for start, other_start, length in runs:
            for step in range(length):
                found[mine[start + step]] = theirs[other_start + step]
        mine = _without(mine, [(start, length) for start, _, length in runs])
        theirs = _without(theirs, sorted((start, length) for _, start, length in runs))
    return found


def _joined(text: str, places: Sequence[int]) -> str:
    return "".join(map(text.__getitem__, places))


def _without(places: list[int], runs: Sequence[tuple[int, int]]) -> list[int]:
    kept: list[int] = []
    position = 0
    for start, length in runs:
        kept += places[position:start]
        position = start + length
    return kept + places[position:]


Run = tuple[int, int, int]
"""Equal letters: their start in either text, and how many."""


def _in_order(text: str, other: str) -> list[Run]:
    """Runs in the order of both texts."""
    gaps = [_Gap(0, len(text), 0, len(other))]
    runs: list[Run] = []
    for length, longest in _LENGTHS:
        remaining: list[_Gap] = []
        for gap in gaps:
            if max(gap.end - gap.start, gap.other_end - gap.other_start) > longest:
                continue
            inside = _grown(text, other, gap, _anchors(text, other, gap, length))
            runs += inside
            remaining += _between(gap, inside)
        gaps = remaining
    return sorted(runs)


def _anywhere(text: str, other: str) -> list[Run]:
    """Runs in any order, in the order of the first text."""
    whole = _Gap(0, len(text), 0, len(other))
    used = bytearray(len(other))
    runs: list[Run] = []
    end = 0
    for start, other_start in _pairs(text, other, whole, _ALONE):
        if start < end or used[other_start]:
            continue
        while (
            start > end
            and other_start > 0
            and not used[other_start - 1]
            and (text[start - 1] == other[other_start - 1])
        ):
            start, other_start = start - 1, other_start - 1
        length = 0
        while (
            start + length < len(text)
            and other_start + length < len(other)
            and not used[other_start + length]
            and text[start + length] == other[other_start + length]
        ):
            used[other_start + length] = 1
            length += 1
        runs.append((start, other_start, length))
        end = start + length
    return runs


def _anchors(text: str, other: str, gap: _Gap, length: int) -> list[tuple[int, int]]:
    """Places of anchors in an order that both parts have."""
    return _longest_increasing(_pairs(text, other, gap, length))


def _pairs(text: str, other: str, gap: _Gap, length: int) -> list[tuple[int, int]]:
    """Places of the runs of this length that are unique in both parts."""
    mine = _unique(text, gap.start, gap.end, length)
    theirs = _unique(other, gap.other_start, gap.other_end, length) if mine else {}
    return sorted((place, theirs[run]) for run, place in mine.items() if run in theirs)


def _unique(text: str, start: int, end: int, length: int) -> dict[str, int]:
    """Runs of this length that occur once between start and end."""
    seen: dict[str, int] = {}
    repeated: set[str] = set()
    for place in range(start, end - length + 1):
        run = text[place : place + length]
        if run in seen:
            repeated.add(run)
        else:
            seen[run] = place
    for run in repeated:
        del seen[run]
    return seen


def _longest_increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence whose second members increase, in n log n."""
    ends: list[int] = []
    end_indices: list[int] = []
    before: list[int] = []
    for index, (_, value) in enumerate(pairs):
        rank = bisect_left(ends, value)
        before.append(end_indices[rank - 1] if rank else NOT_FOUND)
        if rank == len(ends):
            ends.append(value)
            end_indices.append(index)
        else:
            ends[rank], end_indices[rank] = value, index
    chain: list[tuple[int, int]] = []
    index = end_indices[-1] if end_indices else NOT_FOUND
    while index != NOT_FOUND:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


def _grown(text: str, other: str, gap: _Gap, anchors: Sequence[tuple[int, int]]) -> list[Run]:
    """Runs around the anchors: backwards to the run before, forwards to the next difference."""
    runs: list[Run] = []
    end, other_end = gap.start, gap.other_start
    for start, other_start in anchors:
        if start < end or other_start < other_end:
            continue  # part of the run before, or crosses it
        first, other_first = start, other_start
        while first > end and other_first > other_end and text[first - 1] == other[other_first - 1]:
            first, other_first = first - 1, other_first - 1
        while start < gap.end and other_start < gap.other_end and text[start] == other[other_start]:
            start, other_start = start + 1, other_start + 1
        runs.append((first, other_first, start - first))
        end, other_end = start, other_start
    return runs


def _between(gap: _Gap, runs: Sequence[Run]) -> Iterator[_Gap]:
    edges = [
        (gap.start, gap.other_start, 0),
        *runs,
        (gap.end, gap.other_end, 0),
    ]
    for (start, other_start, length), (following, other_following, _) in pairwise(edges):
        if start + length < following and other_start + length < other_following:
            yield _Gap(start + length, following, other_start + length, other_following)
