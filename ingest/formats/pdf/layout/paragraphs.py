"""Tells line breaks inside a paragraph, which are spaces, from those that mean something.

A line was wrapped if the first word of the next one had no room behind it. Addresses, verses and
code keep their lines.
"""

import re
from collections import Counter
from collections.abc import Sequence

from ingest.formats.pdf.layout.text_lines import Line, PageLines

_NARROWEST = 12.0  # font sizes; lines in a narrower column are labels rather than text
_FEWEST = 3  # lines with the same right edge, for it to be the edge of the column
_GRAIN = 3.0  # points by which the ends of justified lines may differ
_INDENT = (0.8, 5.0)  # font sizes by which the first line of a paragraph is indented
_ITEM = re.compile(
    r"[-*+\u2022\u2023\u25aa-\u25cf\u2013\u2014\uf0b7]\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]+)[.)]\s"
)
_LEADERS = (". .", "...", "…", "_ _", "___")
_END_OF_SENTENCE = (".", "!", "?", ":", "”", '"', "。", "\uff01", "\uff1f")
_BEHIND_ITEM = (".", ")")
_CJK = "\u2e80"
_RIGHT_TO_LEFT = ("\u0590", "\u08ff")

Edges = dict[int, tuple[float, float]]
"""By the id of a line: left and right edge of its column, in points."""


def line_ends(page: PageLines) -> Edges:
    """The edges of the columns; empty if the page has no positions."""
    edges: Edges = {}
    if not page.has_places:
        return edges
    column: list[Line] = []
    for line in page.lines:
        if line.kind != "text" or line.level:
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
    rights = [line.right for line in column]
    counted = Counter([int(right / _GRAIN) for right in rights])
    usual, times = counted.most_common(1)[0]
    right = (usual + 1) * _GRAIN if times >= _FEWEST else max(rights)
    edge = (min(line.left for line in column), right)
    for line in column:
        edges[id(line)] = edge


def is_wrapped(line: Line, following: Line, edges: Edges) -> bool:
    """Whether the text goes on in the line below, without a break that means something."""
    edge = edges.get(id(line))
    text = following.text
    if edge is None or not text or following.kind != "text":
        return False
    left, right = edge
    size = line.size or line.height
    if abs(size - following.size) > 0.1 * size or right - left < _NARROWEST * size:
        return False
    first = text[0]
    width = (following.right - following.left) / len(text)
    end = text.find(" ", 1)
    need = 2 * width if first >= _CJK else ((end if end > 0 else len(text)) + 1) * width
    is_right_to_left = _RIGHT_TO_LEFT[0] <= first <= _RIGHT_TO_LEFT[1]
    room = line.left - left if is_right_to_left else right - line.right
    if room >= need:
        return False
    ending = line.text[-1]
    if ending.isdigit() and line.text[-6:].rstrip("0123456789 ").endswith(_LEADERS):
        return False
    if (not first.isalpha() or text[1:2] in _BEHIND_ITEM) and _ITEM.match(text):
        return False
    return (
        ending not in _END_OF_SENTENCE
        or is_right_to_left
        or not _INDENT[0] * size < following.left - line.left < _INDENT[1] * size
    )


def goes_on_above(line: Line, following: Line) -> bool:
    """Whether a sentence goes on at the top of the next column."""
    return (
        line.kind == following.kind == "text"
        and not line.level
        and not following.level
        and following.text[:1].islower()
        and not line.text.endswith(_END_OF_SENTENCE)
        and abs(line.size - following.size) < 0.1 * line.size
        and len(line.text) > _NARROWEST
    )


def joint(line: Line, following: Line) -> str:
    """What stands between two parts of a text: nothing in Chinese and Japanese, else a space."""
    return "" if line.text[-1:] >= _CJK and following.text[:1] >= _CJK else " "
