"""Joins the names of groups of columns, above the header, to the names of the columns."""

from collections.abc import Sequence
from itertools import pairwise

from ingest.formats.pdf.tables.rows import Piece, is_number

_FEWEST = 2  # groups; a single line above a table is its title


def under_groups(
    lines: Sequence[list[Piece]], lefts: list[float], rights: list[float]
) -> list[list[Piece]]:
    """The baselines without that of the groups: `2023 Plan`, `2023 Actual` for `Plan`, `Actual`.

    Groups stand between the columns that they name, at the same distance from each other. Their
    own columns, which have no other text, are removed from `lefts` and `rights`.
    """
    if len(lines) < 2 or len(lines[0]) < _FEWEST:
        return list(lines)
    names, header, *rest = lines
    own = {piece.column for piece in names}
    if any(piece.column in own for line in (header, *rest) for piece in line):
        return list(lines)
    if any(is_number(piece.text.strip()) for piece in header):
        return list(lines)
    centres = [(piece.left + piece.right) / 2 for piece in names]
    reach = min(right - left for left, right in pairwise(centres)) / 2
    joined: list[Piece] = []
    named = [0] * len(names)
    for piece in header:
        middle = (lefts[piece.column] + rights[piece.column]) / 2
        nearest = min(range(len(names)), key=lambda place: abs(centres[place] - middle))
        if piece.column > 0 and abs(centres[nearest] - middle) <= reach:
            named[nearest] += 1
            text = f"{names[nearest].text.strip()} {piece.text.strip()}"
            joined.append(piece._replace(text=text))
        else:
            joined.append(piece)
    if min(named) < _FEWEST:
        return list(lines)
    kept = [column for column in range(len(lefts)) if column not in own]
    at = {column: place for place, column in enumerate(kept)}
    lefts[:] = [lefts[column] for column in kept]
    rights[:] = [rights[column] for column in kept]
    return [[piece._replace(column=at[piece.column]) for piece in line] for line in (joined, *rest)]
