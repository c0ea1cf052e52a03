"""Running heads and feet of documents of two to four pages.

So few repetitions may be letterheads or titles: the first one stays.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from ingest.formats.pdf.layout.text_lines import Line

FEWEST, MOST = 2, 4
"""Pages with text."""
_TOLERANCE = 8.0  # points
_MARGIN = 80.0  # points from the edge
_WORDS = "page|seite|p|pagina|página|str|strona|sida|side"
_PAGE = re.compile(
    rf"\W*(?:(?:{_WORDS})\b\W*)?(\d{{1,3}})(?:\s*(?:/|of|von|de|sur|di|z|av|af)\s*\d+)?\W*",
    re.IGNORECASE,
)
_BEFORE_PAGE = re.compile(rf"(?:\b(?:{_WORDS})|[^\w\s])\W*$", re.IGNORECASE)
_NUMBER_AT_END = re.compile(r"(?<!\d)\d{1,3}$|^\d{1,3}(?!\d)")
_FEWEST_LETTERS = 6  # beside a page number
_FEW_LETTERS = 2  # without a page number; less is a bullet, or a figure of the text

Place = tuple[int, Line, float]
"""Index of the page, the line, its distance from the page edge in points."""


def repeated_on_few(
    places: Sequence[Place], readable: Sequence[int], *, is_top: bool
) -> Iterator[tuple[int, Line, bool]]:
    """Lines of one edge that repeat, each with its page and whether it is to be dropped."""
    groups: dict[str, list[Place]] = defaultdict(list)
    for index, line, distance in places:
        if distance <= _MARGIN:
            text = _without_page_number(line.text, index, is_top=is_top)
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


def _without_page_number(text: str, index: int, *, is_top: bool) -> str:
    """The text without its page number, if it is that of this page; empty if it is nothing else.

    `Exercise 2` at the top of page 2 is a title.
    """
    text = " ".join(text.split())
    number = str(index + 1)
    match = _PAGE.fullmatch(text)
    if match is not None and match[1] == number:
        return ""
    for match in _NUMBER_AT_END.finditer(text):
        before = text[: match.start()]
        if is_top and before and _BEFORE_PAGE.search(before) is None:
            continue
        rest = before + "\0" + text[match.end() :]
        if match.group() == number and sum(map(str.isalpha, rest)) >= _FEWEST_LETTERS:
            return rest
    return text


def _are_enough(pages: set[int], readable: Sequence[int]) -> bool:
    """Whether these are all but one of the pages, or those on one side of a sheet."""
    sides = ({index for index in readable if index % 2 == rest} for rest in (0, 1))
    return len(pages) >= FEWEST and (
        len(pages) >= len(readable) - 1 or any(pages == side for side in sides)
    )
