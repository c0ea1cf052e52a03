"""Links to the web: finds their words by their areas, and writes them as Markdown.

The words are found before lines are moved, and marked at the end, when no step reads them any more.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from ingest.formats.common.links import can_be_linked, says_address
from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.engine.pdfium import Box
from ingest.formats.pdf.layout.rotation import rotated
from ingest.formats.pdf.layout.text_lines import HYPHEN, Line, LinkedText, PageLines

_MOST = 500  # links per page
_LONGEST = 400  # characters; a longer text is an area to click on, as a whole page is
_SLACK = 2.0  # points
_WORD = re.compile(r"\w+|[^\w\s]")

Link = tuple[str, Sequence[Box]]
"""Address, and areas in page coordinates before rotation."""


def find_linked(text_page: int, page: PageLines, links: Sequence[Link]) -> None:
    """Set the linked texts of a page; an address keeps its hyphens, and no others."""
    if not page.has_places:
        return
    finder = _Finder(text_page, page.turn, page.lines)
    found = [
        (line, LinkedText(text, address, x, (line.top + line.bottom) / 2))
        for address, areas in links[:_MOST]
        for area in areas
        for line, text, x in finder.inside(rotated(area, page.turn))
    ]
    mended: dict[LinkedText, str] = {}
    for _, group in groupby(found, lambda item: item[1].address):
        pieces = list(dict.fromkeys(piece for _, piece in group))
        whole = list(_whole(pieces))
        mended |= {piece: new.text for piece, new in zip(pieces, whole, strict=True)}
        page.links += whole
    for line, piece in found:
        if piece.text.endswith((HYPHEN, "-")) and line.text.endswith(piece.text):
            line.text = line.text.removesuffix(piece.text) + mended[piece]


class _Finder:
    """Finds the words inside an area."""

    def __init__(self, text_page: int, turn: int, lines: Sequence[Line]) -> None:
        self._text_page = text_page
        self._turn = turn
        self._lines = sorted(lines, key=_middle)
        self._middles = list(map(_middle, self._lines))
        self._letters: dict[int, list[Box]] = {}

    def inside(self, area: Box) -> list[tuple[Line, str, float]]:
        """Line, words and left edge, from the top down; none in a large area."""
        _, top, _, bottom = area
        first, last = bisect_left(self._middles, bottom), bisect_right(self._middles, top)
        found: list[tuple[Line, str, float]] = []
        length = 0
        for line in self._lines[first:last]:
            text, x = self._words(line, area)
            length += len(text)
            if length > _LONGEST:
                return []
            if can_be_linked(text):
                found.append((line, text, x))
        return found[::-1]

    def _words(self, line: Line, area: Box) -> tuple[str, float]:
        left, _, right, _ = area
        if line.right < left or line.left > right:
            return "", 0.0
        if left - _SLACK <= line.left and line.right <= right + _SLACK:
            return line.text, line.left
        if line.end - line.start != len(line.text):
            return "", 0.0
        boxes = self._boxes(line)
        spans = [
            match.span()
            for match in _WORD.finditer(line.text)
            if self._is_inside(boxes[match.start() : match.end()], area)
        ]
        if not spans:
            return "", 0.0
        start, end = spans[0][0], spans[-1][1]
        return line.text[start:end], boxes[start][0]

    @staticmethod
    def _is_inside(boxes: Sequence[Box], area: Box) -> bool:
        """Whether most of a word is: areas often cut letters."""
        left, right = min(box[0] for box in boxes), max(box[2] for box in boxes)
        return left < right and area[0] <= (left + right) / 2 <= area[2]

    def _boxes(self, line: Line) -> list[Box]:
        if line.start not in self._letters:
            boxes = pdfium.char_boxes(self._text_page, range(line.start, line.end))
            self._letters[line.start] = [rotated(box, self._turn) for box in boxes]
        return self._letters[line.start]


def _middle(line: Line) -> float:
    return (line.top + line.bottom) / 2


def _whole(pieces: Sequence[LinkedText]) -> Iterator[LinkedText]:
    """The pieces of one text, which may be its address, over several lines."""
    is_address = says_address("".join(map(_with_hyphen, pieces)), pieces[0].address)
    for piece, following in zip(pieces, [*pieces[1:], None], strict=True):
        text = piece.text
        if is_address and following is not None and text.endswith((HYPHEN, "-")):
            behind = following.text.rstrip(f"{HYPHEN}-")  # its own may not be in the address
            for mended in (f"{text[:-1]}-", text[:-1]):
                if _is_in(piece.address, mended, behind):
                    text = mended
                    break
        yield replace(piece, text=text, goes_on=following is not None, is_address=is_address)


def _around(text: str, following: str) -> str:
    """What is around the end of a line, where an address may be broken."""
    before, behind = text.split(), following.split()
    return (before[-1] + behind[0]).strip("()<>.,;") if before and behind else ""


def _is_in(address: str, text: str, following: str) -> bool:
    around = _around(text, following)
    return bool(around) and around in address


def _with_hyphen(piece: LinkedText) -> str:
    return piece.text.replace(HYPHEN, "-")


def by_line(page: PageLines) -> dict[int, list[LinkedText]]:
    """The linked texts of each line or table, by its id, from left to right."""
    found: dict[int, list[LinkedText]] = defaultdict(list)
    for piece in page.links:
        at = [
            line
            for line in page.lines
            if line.bottom <= piece.y <= line.top
            and line.left - _SLACK <= piece.x <= line.right + _SLACK
        ]
        if at:
            found[id(min(at, key=lambda line: line.height))].append(piece)
    for pieces in found.values():
        pieces.sort(key=lambda piece: (-round(piece.y), piece.x))
    return found


def linked(text: str, pieces: Sequence[LinkedText]) -> str:
    """The text of a line or table as Markdown with its links."""
    written: list[str] = []
    done = 0
    for piece in pieces:
        span = None if piece.is_address else _place(text, piece.text, done)
        if span is not None:
            start, end = span
            written += [text[done:start], f"[{text[start:end]}]({piece.address})"]
            done = end
    return "".join([*written, text[done:]])


def _place(text: str, words: str, start: int) -> tuple[int, int] | None:
    """Where the words are; the other half of a hyphenated one may stand in the line before."""
    is_broken = words.endswith(HYPHEN)
    words = words.removesuffix(HYPHEN)
    for wanted in (words, words.partition(" ")[2]):
        if not wanted:
            continue
        plain = re.escape(wanted)
        match = re.compile(rf"(?<!\w){plain}(?!\w)").search(text, start) or re.compile(
            rf"{plain}\w*" if is_broken else plain
        ).search(text, start)
        if match is not None:
            return match.span()
    return None


def join_links(text: str, pieces: Sequence[LinkedText]) -> str:
    """Join the parts of a link over several lines, and addresses that were broken."""
    for piece, following in pairwise(pieces):
        is_broken = piece.goes_on and piece.is_address
        if is_broken and _is_in(piece.address, piece.text, following.text):
            for gap in (" ", "\n"):
                parts = (piece.text, following.text)
                text = text.replace(gap.join(parts), "".join(parts))
    for address in {piece.address for piece in pieces if piece.goes_on and not piece.is_address}:
        end = re.escape(f"]({address})")
        text = re.sub(rf"{end} \[(?=[^\[\]\n]*{end})", " ", text)
    return text
