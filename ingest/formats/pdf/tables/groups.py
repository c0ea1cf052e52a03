"""Joins the names of groups of columns, above the header, to the names of the columns."""

from collections.abc import Sequence
from itertools import pairwise

from ingest.formats.pdf.tables.rows import Piece, is_number

_FEWEST = 2  # groups, and columns of each; a single line above a table is its title
_CENTRED = 0.25  # widths of a group between its middle and that of its name
_NEAR = 3.0  # points between the left edges of a group and of its name


def under_groups(
    lines: Sequence[list[Piece]],
    lefts: list[float],
    rights: list[float],
) -> list[list[Piece]]:
    """The baselines without that of the groups: `2023 Plan`, `2023 Actual` for `Plan`, `Actual`.

    Groups stand between the columns that they name, at the same distance from each other; or above
    the first columns of headers that repeat. Their own columns, which have no other text, are
    removed from `lefts` and `rights`.
    """
    if len(lines) < 2 or len(lines[0]) < _FEWEST:
        return list(lines)
    names, header, *rest = lines
    if any(is_number(piece.text.strip()) for piece in header):
        return list(lines)
    if repeated := _over_repeated(names, header):
        return [repeated, *rest]
    own = {piece.column for piece in names}
    if any(piece.column in own for line in (header, *rest) for piece in line):
        return list(lines)
    groups = _by_nearest(names, header, lefts, rights)
    if not _are_above(names, groups, lefts, rights):
        return list(lines)
    joined = _joined(names, groups, header)
    kept = [column for column in range(len(lefts)) if column not in own]
    at = {column: place for place, column in enumerate(kept)}
    lefts[:] = [lefts[column] for column in kept]
    rights[:] = [rights[column] for column in kept]
    return [[piece._replace(column=at[piece.column]) for piece in line] for line in (joined, *rest)]


def under_names(
    names: Sequence[Piece],
    header: Sequence[Piece],
    lefts: Sequence[float],
    rights: Sequence[float],
) -> list[Piece]:
    """The header with the names of groups above it; empty if they are no such names.

    Names above a single column are the first line of its header.
    """
    alone: dict[int, Piece] = {}
    for name in names:
        columns = [
            column
            for column, (left, right) in enumerate(zip(lefts, rights, strict=True))
            if left < name.right and name.left < right
        ]
        if len(columns) == 1:
            alone[columns[0]] = name
    groups = [name for name in names if name not in alone.values()]
    below = [piece for piece in header if piece.column not in alone]
    if len(groups) < _FEWEST or any(is_number(piece.text.strip()) for piece in (*names, *header)):
        return []
    named = _by_nearest(groups, below, lefts, rights)
    if not _are_above(groups, named, lefts, rights):
        return []
    has_header = {piece.column for piece in header}
    first = [name._replace(column=c) for c, name in alone.items() if c not in has_header]
    singles = [{column} for column in alone]
    return first + _joined([*alone.values(), *groups], [*singles, *named], header)


def _are_above(
    names: Sequence[Piece],
    groups: Sequence[set[int]],
    lefts: Sequence[float],
    rights: Sequence[float],
) -> bool:
    """Whether each name stands in the middle of several columns, or at their left."""
    for name, columns in zip(names, groups, strict=True):
        if len(columns) < _FEWEST:
            return False
        left, right = lefts[min(columns)], rights[max(columns)]
        off = abs(name.left + name.right - left - right) / 2
        if off > _CENTRED * (right - left) and abs(name.left - left) > _NEAR:
            return False
    return True


def _by_nearest(
    names: Sequence[Piece],
    header: Sequence[Piece],
    lefts: Sequence[float],
    rights: Sequence[float],
) -> list[set[int]]:
    """The columns of each name, which has to be nearer to them than half way to the next name."""
    centres = [(piece.left + piece.right) / 2 for piece in names]
    reach = min(right - left for left, right in pairwise(centres)) / 2
    groups: list[set[int]] = [set() for _ in names]
    for piece in header:
        middle = (lefts[piece.column] + rights[piece.column]) / 2
        nearest = min(range(len(names)), key=lambda place: abs(centres[place] - middle))
        if piece.column > 0 and abs(centres[nearest] - middle) <= reach:
            groups[nearest].add(piece.column)
    return groups


def _over_repeated(names: Sequence[Piece], header: Sequence[Piece]) -> list[Piece]:
    """The header, if the same columns follow below each name."""
    texts = {piece.column: piece.text.strip() for piece in header}
    starts = [piece.column for piece in names]
    count = starts[1] - starts[0]
    groups = [set(range(start, start + count)) for start in starts]
    parts = {tuple(texts.get(column, "") for column in sorted(group)) for group in groups}
    is_whole = count >= _FEWEST and len(parts) == 1 and all(next(iter(parts)))
    return _joined(names, groups, header) if is_whole else []


def _joined(
    names: Sequence[Piece], groups: Sequence[set[int]], header: Sequence[Piece]
) -> list[Piece]:
    by_column = {
        column: name.text.strip()
        for name, group in zip(names, groups, strict=True)
        for column in group
    }
    return [
        piece._replace(text=f"{by_column[piece.column]} {piece.text.strip()}")
        if piece.column in by_column
        else piece
        for piece in header
    ]
