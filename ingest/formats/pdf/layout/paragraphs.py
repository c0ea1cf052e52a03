"""Tells line breaks inside a paragraph, which are spaces, from those that mean something.

A line was wrapped if the first word of the next one had no room behind it. Addresses, verses and
code keep their lines.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from ingest.formats.pdf.layout.addresses import is_broken_address
from ingest.formats.pdf.layout.text_lines import Line, PageLines

_NARROWEST = 12.0  # font sizes; lines in a narrower column are labels rather than text
_FEWEST = 3  # lines with the same right edge, for it to be the edge of the column
_CLOSE = 0.6  # line heights between the lines of a block
_LONGEST_WORD = 0.35  # share of the width of a block of prose
_WIDE = 0.52  # font sizes per character; fixed type and lines with gaps are wider
_LOOSE = 0.7  # the same for lines that have gaps for certain
_LOOSER = 1.0  # the same above a line that ends at the same edge: both may be justified
_SIZE = 0.85  # of the height of a line
_GRAIN = 3.0  # points by which the ends of justified lines may differ
_AT_EDGE = 6.0  # points of room at the end of a justified line
_INDENT = (0.8, 5.0)  # font sizes by which the first line of a paragraph is indented
_ITEM = re.compile(
    r"[-*+\u2022\u2023\u25aa-\u25cf\u2013\u2014\uf0b7]\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]+)[.)]\s"
)
_LABEL = re.compile(r"[^\W\d_][^:.,;!?]{0,40}:\s")
NOTE = re.compile(r"(?:\d{1,3}|[*†‡§¹²³⁰⁴-⁹]{1,3}|\[\d{1,3}\])\s*[^\W\d_\s]")
"""How a footnote begins."""
_NUMBER = re.compile(r"[0-9]{1,3}(?![0-9])")
_LEADERS = (". .", "...", "…", "_ _", "___")
END_OF_SENTENCE = (".", "!", "?", ":", "”", '"', "。", "\uff01", "\uff1f")
_BEHIND_ITEM = (".", ")")
_BROKEN_BY_HAND = 0.3  # of the width of the column; less is left free at the end of a line
_ELSEWHERE = 3.0  # font sizes between the right end of a line and the left end of the one above
CJK = "\u2e80"
_RIGHT_TO_LEFT = ("\u0590", "\u08ff")

_DASH = re.compile(r"[-\u2013\u2014]\s")
_AT_ONE_PLACE = 0.3  # font sizes by which the left ends of lines may differ
# Words behind which no sentence, item or entry ends.
_GOES_ON = frozenset(
    re.findall(
        r"\w+",
        "a an and at by for from in of or the to with as der die das den dem des ein eine und oder"
        " mit von zu im le la les un une des du de et ou à au aux dans par pour el los las y o con"
        " para del il lo gli di e ed per nel della het een en van met",
    )
)

Start = Literal["first", "hanging", ""]
"""What the line below says about a line: it is indented as the first one of a paragraph, or it
stands below one that hangs out, as the name of a definition does."""
Edges = dict[int, tuple[float, float, float, Start]]
"""By the id of a line: left and right edge of its column; room behind it, above which a capital
begins a line of its own (in points); how it starts."""


def line_ends(page: PageLines) -> Edges:
    """The edges of the columns; empty if the page has no positions."""
    edges: Edges = {}
    if not page.has_places:
        return edges
    column: list[Line] = []
    for line in page.lines:
        if line.kind in ("table", "code") or line.level or not line.text:
            continue
        if column and (line.bottom > column[-1].top or line.left > column[-1].right):
            _take(column, edges)
            column = []
        column.append(line)
    _take(column, edges)
    return edges


def _take(column: Sequence[Line], edges: Edges) -> None:
    if len(column) < 2:
        return
    left, right = min(line.left for line in column), max(line.right for line in column)
    half = (left + right) / 2
    # Not where most lines end: the marks of a list, or short lines, may end at one place, too.
    counted = Counter([int(line.right / _GRAIN) for line in column if line.right > half])
    often = [place for place, times in counted.items() if times >= _FEWEST]
    if often:
        right = (max(often) + 1) * _GRAIN
    for block in _blocks(column):
        own = max(line.right for line in block)
        edge = own if own < right and _is_filled(block, own) else right
        most_room = math.inf if _is_prose(block, edge) else _AT_EDGE if often else 0.0
        for line, below in zip(block, [*block[1:], None], strict=True):
            edges[id(line)] = left, edge, most_room, "" if below is None else _start(line, below)


def _blocks(column: Sequence[Line]) -> Iterator[list[Line]]:
    """Lines of one size close below each other."""
    block: list[Line] = []
    for line in column:
        if block:
            above = block[-1]
            is_close = above.bottom - line.top < _CLOSE * above.height
            if not is_close or abs(above.size - line.size) > 0.1 * above.size:
                yield block
                block = []
        block.append(line)
    yield block


def _start(line: Line, below: Line) -> Start:
    size = line.size or line.height
    indent = line.left - below.left
    if _INDENT[0] * size < indent < _INDENT[1] * size:
        return "first" if abs(line.right - below.right) < _GRAIN else ""
    return "hanging" if abs(indent) < _AT_ONE_PLACE * size else ""


def _is_filled(block: Sequence[Line], right: float) -> bool:
    """Whether a block is prose that fills a column of its own, as an indented abstract does.

    Each line but the last of a paragraph reaches the edge, and most go on in lower case.
    """
    filled = continued = 0
    length = sum(line.right - line.left for line in block)
    if length > _WIDE * sum(len(line.text) * line.size for line in block):  # code, or a table
        return False
    widest = _LONGEST_WORD * (right - min(line.left for line in block))
    for line, following in pairwise(block):
        needed = room_needed(following)
        if needed > widest:  # few words: code, or a list
            return False
        if right - line.right < needed:
            filled += 1
            continued += following.text[0].islower()
        elif not line.text.endswith(END_OF_SENTENCE):
            return False
    return filled >= _FEWEST and 2 * continued >= filled


def _is_prose(block: Sequence[Line], right: float) -> bool:
    """Whether most lines are full; those of an index, or of code, are so by chance."""
    if len(block) <= _FEWEST:
        return True
    filled = sum(right - line.right < room_needed(following) for line, following in pairwise(block))
    return 2 * filled >= len(block) - 1


def room_needed(line: Line) -> float:
    """The room that the first word of a line and the space before it take, in points."""
    text = line.text
    width = (line.right - line.left) / len(text)
    end = text.find(" ", 1)
    return 2 * width if text[0] >= CJK else ((end if end > 0 else len(text)) + 1) * width


def is_wrapped(line: Line, following: Line, edges: Edges) -> bool:
    """Whether the text goes on in the line below, without a break that means something."""
    edge = edges.get(id(line))
    text = following.text
    if edge is None or not text or following.kind not in ("text", line.kind):
        return False
    left, right, most_room, _ = edge
    size = line.size or line.height
    first = text[0]
    is_right_to_left = _RIGHT_TO_LEFT[0] <= first <= _RIGHT_TO_LEFT[1]
    if is_right_to_left:
        room, width = line.left - left, max(line.right, following.right) - left
    else:
        room, width = right - line.right, right - min(line.left, following.left)
    if width < _NARROWEST * size or line.left - following.right > _ELSEWHERE * size:
        return False
    if abs(size - following.size) > 0.1 * size and not _is_mark_smaller(line, following):
        return False
    if following.pitch and not line.pitch:  # a line of code
        return False
    if room >= room_needed(following) and not (
        # Lines that were broken by hand: most of the width, in the middle of a sentence.
        room < _BROKEN_BY_HAND * (right - left)
        and (first.islower() or line.text.rpartition(" ")[2] in _GOES_ON)
        and line.text[-1].isalpha()
        and " " in text
    ):
        return False
    if room >= most_room and not first.islower() and not is_right_to_left:
        return False
    if _begins_anew(line, following):
        return False
    is_end = line.text[-1] in END_OF_SENTENCE and not is_right_to_left
    return not is_end or _is_below_sentence(line, following, edges)


def _is_below_sentence(line: Line, following: Line, edges: Edges) -> bool:
    """Whether the place of a line below the end of a sentence is not that of a paragraph."""
    size = line.size or line.height
    indent, start = (
        following.left - line.left,
        edges[id(following)][3] if id(following) in edges else "",
    )
    if abs(indent) < _AT_ONE_PLACE * size:  # two first lines
        return start != "first"
    is_indented = _INDENT[0] * size < indent < _INDENT[1] * size
    return not is_indented or start == "hanging" or _ITEM.match(line.text) is not None


def _begins_anew(line: Line, following: Line) -> bool:
    """Whether words and gaps say that the line below begins a note, an item, an entry or a row."""
    above, text = line.text, following.text
    if following.kind == "note" and _begins_note(above, text):
        return True
    if text[0].isdigit() and _counts_on(above, text):  # numbered lines, as of code
        return True
    if (not text[0].isalpha() or text[1:2] in _BEHIND_ITEM) and _ITEM.match(text):
        return not _is_dash_in_sentence(line, following)
    if above[-1].isdigit() and above[-6:].rstrip("0123456789 ").endswith(_LEADERS):
        return True
    if _LABEL.match(above) and _LABEL.match(text):  # fields of a form
        return above[0].islower() or not text[0].islower()
    if above[-1] == ",":
        return False
    is_justified = abs(line.right - following.right) < _GRAIN and above[-1].isalpha()
    if _has_gaps(following):
        return _has_gaps(line) and not (is_justified and text[0].islower())
    return not text[0].islower() and _has_gaps(line, _LOOSER if is_justified else _LOOSE)


def _begins_note(above: str, text: str) -> bool:
    """Whether a line of a footnote begins the next one: a figure may also go on in a sentence."""
    if NOTE.match(text) is None:
        return False
    return _counts_on(above, text) or above.endswith(END_OF_SENTENCE)


def _counts_on(above: str, text: str) -> bool:
    """Whether two lines begin with consecutive numbers."""
    number, next_number = _NUMBER.match(above), _NUMBER.match(text)
    return bool(number and next_number and int(number[0]) + 1 == int(next_number[0]))


def _is_dash_in_sentence(line: Line, following: Line) -> bool:
    """Whether a dash at the beginning of a line belongs to the sentence above: no item ends there,
    and none begins with a dash."""
    above, text = line.text, following.text
    return (
        _DASH.match(text) is not None
        and text[2:3].islower()
        and (above[-1].isalnum() or above[-1] in ")”»")
        and _DASH.match(above) is None
    )


def _is_mark_smaller(line: Line, following: Line) -> bool:
    """Whether lines of one size seem to differ because the first begins with a bullet, or with the
    mark of a note."""
    if line.kind == "note":
        return NOTE.match(line.text) is not None
    is_as_high = abs(line.height - following.height) <= 0.1 * line.height
    return is_as_high and _ITEM.match(line.text) is not None


def _has_gaps(line: Line, least: float = _LOOSE) -> bool:
    """Whether a line is much wider than its text, as a row of a table is."""
    size = max(line.size, _SIZE * line.height)  # the first character may be a raised mark
    is_narrow = line.text.isascii() or max(line.text) < CJK
    return is_narrow and line.right - line.left > least * len(line.text) * size


def goes_on_above(line: Line, following: Line) -> bool:
    """Whether a sentence goes on at the top of the next column."""
    return (
        line.kind == following.kind == "text"
        and not line.level
        and not following.level
        and following.text[:1].islower()
        and not line.text.endswith(END_OF_SENTENCE)
        and abs(line.size - following.size) < 0.1 * line.size
        and len(line.text) > _NARROWEST
    )


def joint(line: Line, following: Line) -> str:
    """What stands between two parts of a text: a space; nothing in addresses, or in Chinese and
    Japanese."""
    if line.ends_word:
        return " "
    if is_broken_address(line.text, following.text):
        return ""
    return "" if line.text[-1:] >= CJK and following.text[:1] >= CJK else " "
