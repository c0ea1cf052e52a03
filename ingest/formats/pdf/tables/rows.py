"""Groups the pieces of cells into rows where no ruled line does: by baselines, gaps, numbers."""

import re
from collections.abc import Sequence, Set
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ingest.formats.pdf.tables.cells import cell_text

_SAME_BASELINE = 0.4  # line heights
_SAME_ROW = 0.75  # line heights; cells of other numbers of lines, centred, are half a line off
WIDER = 1.25
"""Times the closest pitch; above this, a gap separates rows."""
_MOST_BASELINES = 8  # above the one that begins a row; more that overlap are no centred cells
_TOUCHING = 0.5  # points by which letters beside each other may overlap
_NUMERIC = 0.6  # share of numbers in a column that holds numbers
_SIGN = "[-+(\N{MINUS SIGN}\N{EN DASH}]?"
_NUMBER = re.compile(rf"{_SIGN} ?(?:[€$£¥₹#~≈<>]|[A-Z]{{2,3}} )? ?{_SIGN}[.,]?\d")
_LONGEST_NUMBER = 20  # characters in a cell with a number and its unit


class Piece(NamedTuple):
    """Part of a cell on one baseline."""

    column: int
    left: float
    right: float
    middle: float
    """y of its middle, in points."""
    height: float
    text: str


@lru_cache(maxsize=4096)  # several steps ask about the same cells
def is_number(text: str) -> bool:
    """Whether a cell is a figure, with its sign, currency or unit: a figure does not wrap."""
    return len(text) <= _LONGEST_NUMBER and _NUMBER.match(text) is not None


def baselines(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Pieces at the same height, from the top down."""
    found: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: -piece.middle):
        if found and found[-1][0].middle - piece.middle < _SAME_BASELINE * piece.height:
            found[-1].append(piece)
        else:
            found.append([piece])
    return found


def numeric_columns(lines: Sequence[Sequence[Piece]]) -> set[int]:
    """Columns that hold numbers on at least two baselines."""
    cells: dict[int, list[bool]] = {}
    for line in lines:
        for piece in line:
            cells.setdefault(piece.column, []).append(is_number(piece.text.strip()))
    return {
        column
        for column, numbers in cells.items()
        if sum(numbers) >= max(2, _NUMERIC * (len(numbers) - 1))  # one may be the header
    }


def first_baselines(
    lines: Sequence[Sequence[Piece]], edges: Sequence[float] | None = None
) -> list[int]:
    """Indices of the baselines with which a row begins.

    A row has a number in a column of numbers; or else a first cell that does not continue the one
    above. Other baselines continue a cell. `edges`: where the text of each column has to end.
    """
    numeric = numeric_columns(lines)
    first = min((piece.column for line in lines for piece in line), default=0)
    pitches = [upper[0].middle - lower[0].middle for upper, lower in pairwise(lines)]
    tight = WIDER * min(pitches, default=0.0)
    edge = (
        edges[first]
        if edges
        else max((p.right for line in lines for p in line if p.column == first), default=0.0)
    )
    figures = [_figures(line, numeric) for line in lines]
    starts: list[int] = []
    seen_numbers = False
    for index, line in enumerate(lines):
        columns = {piece.column for piece in line}
        has_number = bool(figures[index])
        is_header = seen_numbers and first not in columns and _is_other_header(line, numeric)
        is_spaced = index > 0 and pitches[index - 1] > tight
        continues = all(piece.text.strip()[:1].islower() for piece in line)
        if has_number or is_header:
            is_start = True
        elif continues:
            is_start = index == 0 and len(columns) > (1 if numeric else 2)
        elif len(columns) < 2:
            is_start = index > 0 and columns == {first} and not _wraps(lines[index - 1], line, edge)
        elif first in columns:
            is_label = any(p.column == first and p.text.rstrip().endswith(":") for p in line)
            is_start = index == 0 or seen_numbers or not numeric or is_spaced or is_label
        else:
            is_start = index == 0 or is_spaced
        seen_numbers = seen_numbers or has_number
        if is_start:
            start = _first_beside(lines, index, starts[-1] if starts else 0, figures)
            if start not in starts[-1:]:
                starts.append(start)
    return starts


def _first_beside(
    lines: Sequence[Sequence[Piece]], index: int, above: int, figures: Sequence[Set[int]]
) -> int:
    """The first of the baselines of the row whose cells are centred, not above the row `above`.

    A baseline with figures in the same columns is a row of its own: a cell in the middle spans two.
    """
    top = index
    while top > above and is_half_line(lines[top - 1][0], lines[top][0]):
        if index - top == _MOST_BASELINES:
            return index
        top -= 1
        if figures[index] & figures[top]:
            return index
    return top


def _is_other_header(line: Sequence[Piece], numeric: Set[int]) -> bool:
    """Whether a baseline names columns of numbers, as above the second part of a table."""
    is_above_numbers = any(p.column in numeric and p.text[:1].isupper() for p in line)
    return len(line) > 1 and is_above_numbers and all(p.text[:1].isalpha() for p in line)


def _figures(line: Sequence[Piece], numeric: Set[int]) -> set[int]:
    """The columns of numbers that have one on this baseline."""
    return {p.column for p in line if p.column in numeric and is_number(p.text.strip())}


def is_half_line(upper: Piece, lower: Piece) -> bool:
    """Whether two baselines overlap, as those of cells centred in a row do."""
    return upper.middle - lower.middle < _SAME_ROW * min(upper.height, lower.height)


def _wraps(above: Sequence[Piece], line: Sequence[Piece], edge: float) -> bool:
    """Whether the first cell goes on from the line above: its next word had no room there."""
    piece = line[0]
    word = piece.text.split(maxsplit=1)[0]
    width = (piece.right - piece.left) * (len(word) + 1) / max(len(piece.text), 1)
    return any(other.column == piece.column and other.right + width > edge for other in above)


def grouped(lines: Sequence[Sequence[Piece]], starts: Sequence[int]) -> list[list[Piece]]:
    """The pieces of each row; baselines between two rows go to the one that is closer."""
    bounds = [0]
    for upper, lower in pairwise(starts):
        gaps = [
            lines[index][0].middle - lines[index + 1][0].middle for index in range(upper, lower)
        ]
        widest = max(range(len(gaps)), key=gaps.__getitem__)
        is_clear = gaps[widest] > WIDER * min(gaps)
        bounds.append(upper + 1 + widest if is_clear else lower)
    bounds.append(len(lines))
    return [
        [piece for line in lines[start:end] for piece in line] for start, end in pairwise(bounds)
    ]


def texts(pieces: Sequence[Piece], width: int) -> list[str]:
    """The text of each cell of a row."""
    cells: list[list[Piece]] = [[] for _ in range(width)]
    for piece in pieces:
        cells[piece.column].append(piece)
    return [cell_text(_in_order(cell)) if cell else "" for cell in cells]


def _in_order(cell: list[Piece]) -> list[str]:
    """The texts from the top down, and from left to right on a baseline."""
    if len(cell) == 1:
        return [cell[0].text]
    ordered = sorted(cell, key=lambda piece: -piece.middle)
    if any(is_half_line(*pair) and not _is_beside(pair[1], pair[:1]) for pair in pairwise(ordered)):
        return [text for part in _side_by_side(cell) for text in _from_top(part)]
    return _from_top(cell)


def _side_by_side(cell: Sequence[Piece]) -> list[list[Piece]]:
    """The pieces that stand above each other, from left to right: columns close to each other."""
    parts: list[list[Piece]] = []
    edge = 0.0
    for piece in sorted(cell, key=lambda piece: piece.left):
        if parts and piece.left < edge:
            parts[-1].append(piece)
        else:
            parts.append([piece])
        edge = max(edge, piece.right) if len(parts[-1]) > 1 else piece.right
    return parts


def _from_top(cell: Sequence[Piece]) -> list[str]:
    lines: list[list[Piece]] = []
    for piece in sorted(cell, key=lambda piece: -piece.middle):
        if lines and _is_beside(piece, lines[-1]):
            lines[-1].append(piece)
        else:
            lines.append([piece])
    return [piece.text for line in lines for piece in sorted(line, key=lambda piece: piece.left)]


def _is_beside(piece: Piece, line: Sequence[Piece]) -> bool:
    return line[0].middle - piece.middle < _SAME_BASELINE * piece.height and all(
        piece.right <= other.left + _TOUCHING or other.right <= piece.left + _TOUCHING
        for other in line
    )
