"""Running heads and feet of documents of two to four pages.

So few repetitions may be letterheads or titles: the first one stays.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from ingest.formats.pdf.layout.text_lines import Line
from ingest.formats.pdf.running_heads.page_numbers import BEFORE_PAGE, BEHIND_PAGE, PAGE

FEWEST, MOST = 2, 4
"""Pages with text."""
_TOLERANCE = 8.0  # points
_MARGIN = 80.0  # points from the edge
_BESIDE_GAP = re.compile(r"^\s\w|\w\s$")
_NUMBER_AT_END = re.compile(r"(?<!\d)\d{1,3}$|^\d{1,3}(?!\d)")
_PRINTED = re.compile(r"(\S+://\S+) (\d{1,3})/\d{1,3}")
"""The foot of a page that a browser printed: its address, and its number of all pages."""
_WIDE = 0.7  # font sizes per character; wider lines have gaps
_WIDEST = 250.0  # points; wider lines with gaps have their number at the other margin
_FEWEST_LETTERS = 6  # beside a page number
_FEW_LETTERS = 2  # without a page number; less is a bullet, or a figure of the text

Place = tuple[int, Line, float]
"""Index of the page, the line, its distance from the page edge in points."""


def repeated_on_few(
    places: Sequence[Place], readable: Sequence[int]
) -> Iterator[tuple[int, Line, bool]]:
    """Lines of one edge that repeat, each with its page and whether it is to be dropped."""
    groups: dict[str, list[Place]] = defaultdict(list)
    for index, line, distance in places:
        if distance <= _MARGIN:
            text = _without_page_number(line, index)
            groups[text].append((index, line, distance))
    for text, group in groups.items():
        if text and sum(map(str.isalpha, text)) < _FEW_LETTERS:
            continue
        _, _, usual = group[0]
        near = [place for place in group if abs(place[2] - usual) <= _TOLERANCE]
        pages = {index for index, _, _ in near}
        if not _are_enough(pages, readable):
            continue
        first = min(pages)
        for index, line, _ in near:
            yield index, line, not text or index != first


def alike_on_few(places: Sequence[Place]) -> list[Place]:
    """Those of the places that have the same text most often, without its page number."""
    groups: dict[str, list[Place]] = defaultdict(list)
    for index, line, distance in places:
        groups[_without_page_number(line, index)].append((index, line, distance))
    return max(groups.values(), key=len, default=[])


def _without_page_number(line: Line, index: int) -> str:
    """The text without its page number, if it is that of this page; empty if it is nothing else.

    `Exercise 2`, `2. Exercise` and `Total score: 2` on page 2 are titles and values: a page number
    has the word before it, or a separator or wide gap between it and the rest.
    """
    text = " ".join(line.text.split())
    number = str(index + 1)
    match = PAGE.fullmatch(text)
    if match is not None and match[1] == number:
        return ""
    printed = _PRINTED.fullmatch(text)
    if printed is not None and printed[2] == number:
        return printed[1]
    width = line.right - line.left
    is_wide = width > max(_WIDEST, _WIDE * line.size * len(text))
    for match in _NUMBER_AT_END.finditer(text):
        before, behind = text[: match.start()], text[match.end() :]
        is_apart = BEFORE_PAGE.search(before) or BEHIND_PAGE.match(behind)
        if not is_apart and not (is_wide and _BESIDE_GAP.search(before or behind)):
            continue
        rest = f"{before}\0{behind}"
        if match.group() == number and sum(map(str.isalpha, rest)) >= _FEWEST_LETTERS:
            return rest
    return text


def _are_enough(pages: set[int], readable: Sequence[int]) -> bool:
    """Whether these are all but one of the pages, or those on one side of a sheet."""
    sides = ({index for index in readable if index % 2 == rest} for rest in (0, 1))
    return len(pages) >= FEWEST and (
        len(pages) >= len(readable) - 1 or any(pages == side for side in sides)
    )
