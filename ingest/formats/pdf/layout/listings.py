"""Listings: lines in type of one width keep their breaks and their indentation, between fences.

The characters themselves are measured: many fonts do not say that all are as wide.
"""

import re
from collections.abc import Container, Iterator, Sequence
from itertools import islice, pairwise
from statistics import median

from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.layout.line_ends import room_needed
from ingest.formats.pdf.layout.links import by_line
from ingest.formats.pdf.layout.rotation import rotated
from ingest.formats.pdf.layout.text_lines import HYPHEN, Line, PageLines

_FEWEST_LINES = 2
_FEWEST_LETTERS = 3  # different ones; figures are as wide as each other in most type
_LEAST = 0.42  # font sizes per character
_MANY, _STEP = 15, 3  # lines; of more, some are measured first
_SAMPLE = 6  # characters at both ends of a line
_SAME = 0.02  # share by which widths may differ
_SAME_ENDS = 0.1  # the same for two characters, which may be wider than their place
_MOST_AS_WIDE = 0.8  # share of the sample
_ALIKE = 0.03  # share by which lines of one listing may differ
_BLANK = 1.6  # times the pitch of the lines; above this, there is an empty one between them
_APART = 3.5  # line heights from line to line
_MOST_OF_FILE = 0.5  # share of such type; above this, it is that of the text
_WIDEST = 200  # characters of indentation
_LETTERS = re.compile("[A-Za-z]")
_OTHER_SCRIPTS = "\u2e80"  # of Chinese and Japanese, all characters are as wide
_SIGNS = re.compile(r"[\[\]{}()<>=;_/\\$#%&|*+@^~`]")
_FEWEST_SIGNS = 0.03  # share of the characters; letters typed on a typewriter have fewer
_SPACES = 3  # in a line of prose
_FENCE = "```"


def find_fixed_width(text_page: int, page: PageLines) -> None:
    """Set the pitch of lines whose characters are as wide as each other."""
    lines = [line for line in page.lines if _may_be_fixed(line)]
    if len(lines) < _FEWEST_LINES:
        return
    if len(lines) > _MANY and not any(_pitches(text_page, page.turn, lines[1::_STEP])):
        return
    for line, pitch in zip(lines, _pitches(text_page, page.turn, lines), strict=True):
        line.pitch = pitch


def _pitches(text_page: int, turn: int, lines: Sequence[Line]) -> Iterator[float]:
    """The width of the characters of each line, 0 if they differ."""
    ends = _widths(text_page, turn, [i for line in lines for i in (line.start, line.end - 1)])
    # The first and the last character tell most other lines apart.
    samples = [
        [
            *range(line.start, min(line.start + _SAMPLE, line.end)),
            *range(max(line.end - _SAMPLE, line.start + _SAMPLE), line.end),
        ]
        if abs(first - last) <= _SAME_ENDS * max(first, last)
        else []
        for line, first, last in zip(lines, ends[::2], ends[1::2], strict=True)
    ]
    widths = iter(_widths(text_page, turn, [index for some in samples for index in some]))
    for line, some in zip(lines, samples, strict=True):
        yield _pitch(line, [width for width in islice(widths, len(some)) if width > 0])


def _pitch(line: Line, widths: Sequence[float]) -> float:
    pitch = median(widths) if widths else 0.0
    as_wide = sum(abs(width - pitch) <= _SAME * pitch for width in widths)
    is_filled = line.right - line.left >= (1 - _ALIKE) * pitch * len(line.text)
    return pitch if as_wide >= _MOST_AS_WIDE * len(widths) and is_filled else 0.0


def _widths(text_page: int, turn: int, characters: Sequence[int]) -> list[float]:
    boxes = pdfium.char_boxes(text_page, characters)
    if turn:
        boxes = [rotated(box, turn) for box in boxes]
    return [right - left for left, _, right, _ in boxes]


def _may_be_fixed(line: Line) -> bool:
    text = line.text
    return (
        line.kind == "text"
        and line.right - line.left >= _LEAST * len(text) * line.size > 0
        and line.end - line.start == len(text)
        and (text.isascii() or max(text.rstrip(HYPHEN), default="") < _OTHER_SCRIPTS)
    )


def fence_listings(pages: Sequence[PageLines]) -> None:
    """Replace the lines of each listing by a block of code."""
    fixed = sum(len(line.text) for page in pages for line in page.lines if line.pitch)
    if not fixed or fixed > _MOST_OF_FILE * sum(len(page.text) for page in pages):
        return
    for page in pages:
        if any(line.pitch for line in page.lines):
            page.lines = list(_with_blocks(page.lines, by_line(page)))


def _with_blocks(lines: Sequence[Line], linked: Container[int]) -> Iterator[Line]:
    listing: list[Line] = []
    for line in lines:
        is_part = line.pitch > 0 and line.kind == "text" and id(line) not in linked
        if listing and not (is_part and _goes_on(listing[-1], line)):
            yield from _block(listing)
            listing = []
        if is_part:
            listing.append(line)
        else:
            yield line
    yield from _block(listing)


def _goes_on(above: Line, line: Line) -> bool:
    return (
        abs(line.pitch - above.pitch) <= _ALIKE * above.pitch
        and 0 < above.top - line.top < _APART * above.height
    )


def _block(listing: Sequence[Line]) -> Iterator[Line]:
    """One line with the block of code; the lines themselves if they are none."""
    if len(listing) < _FEWEST_LINES or not _is_code(listing):
        yield from listing
        return
    left = min(line.left for line in listing)
    usual = min(upper.top - lower.top for upper, lower in pairwise(listing))
    rows: list[str] = []
    above: Line | None = None
    for line in listing:
        if above is not None and above.top - line.top > _BLANK * usual:
            rows.append("")
        indent = min(round((line.left - left) / line.pitch), _WIDEST)
        rows.append(" " * indent + line.text.rstrip().replace(HYPHEN, "-"))
        above = line
    fence = _FENCE
    while any(fence in row for row in rows):
        fence += "`"
    first = listing[0]
    yield Line(
        "\n".join([fence, *rows, fence]),
        left=left,
        top=first.top,
        right=max(line.right for line in listing),
        bottom=listing[-1].bottom,
        size=first.size,
        kind="code",
    )


def _is_code(listing: Sequence[Line]) -> bool:
    """Whether the type has one width for certain, and the text is no prose."""
    sure = sum(len(set(_LETTERS.findall(line.text))) >= _FEWEST_LETTERS for line in listing)
    right = max(line.right for line in listing)
    pairs = list(pairwise(listing))
    full = sum(
        right - line.right < room_needed(following) and following.text.count(" ") >= _SPACES
        for line, following in pairs
    )
    is_prose = len(pairs) >= _FEWEST_LINES and 2 * full > len(pairs)
    signs = sum(len(_SIGNS.findall(line.text)) for line in listing)
    length = sum(len(line.text) for line in listing)
    return 2 * sure >= len(listing) and not is_prose and signs >= _FEWEST_SIGNS * length
