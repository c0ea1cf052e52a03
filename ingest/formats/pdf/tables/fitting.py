"""Fits cells into columns that are known: cells close to each other, headers, names of groups."""

from collections.abc import Sequence
from itertools import pairwise

from ingest.formats.pdf.layout.text_lines import Line
from ingest.formats.pdf.tables.cells import Glyphs, Word
from ingest.formats.pdf.tables.rows import Piece, is_number

_WIDER = 1.2  # times the gaps inside cells; above this, a gap is between two cells
_DASHES = frozenset("-\N{EN DASH}\N{EM DASH}\N{MINUS SIGN} ")


def split_at_columns(
    piece: Piece, line: Line, glyphs: Glyphs, lefts: Sequence[float], rights: Sequence[float]
) -> list[Piece]:
    """The cells of a piece that reaches over several columns; the piece if its gaps do not say.

    Cells may stand so close that only their columns tell them apart: a header that is wider than
    its numbers, beside one that is aligned to the left.
    """
    columns = [
        place
        for place, (left, right) in enumerate(zip(lefts, rights, strict=True))
        if left < piece.right and piece.left < right
    ]
    words = [w for w in glyphs.words(line) if w[2] >= piece.left and w[3] <= piece.right]
    if len(words) == 1 and set(piece.text) <= _DASHES:
        words = glyphs.letters(line, words[0])
    gaps = [after[2] - before[3] for before, after in pairwise(words)]
    if not 0 < len(columns) - 1 <= len(gaps):
        return [piece]
    by_width = sorted(range(len(gaps)), key=lambda place: -gaps[place])
    cuts, others = by_width[: len(columns) - 1], by_width[len(columns) - 1 :]
    if others and gaps[cuts[-1]] < _WIDER * gaps[others[0]]:
        return [piece]
    bounds = [0, *(cut + 1 for cut in sorted(cuts)), len(words)]
    parts = [_part(piece, line, words[start:end]) for start, end in pairwise(bounds)]
    fits = all(
        (lefts[column] < part.right and part.left < rights[column]) == (part is own)
        for column, own in zip(columns, parts, strict=True)
        for part in parts
    )
    return parts if fits else [piece]


def _part(piece: Piece, line: Line, words: Sequence[Word]) -> Piece:
    text = line.text[words[0][0] : words[-1][1]]
    return piece._replace(left=words[0][2], right=words[-1][3], text=text)


def are_figures(pieces: Sequence[Piece]) -> bool:
    """Whether all pieces are numbers, or dashes that stand for one."""
    texts = [piece.text.strip() for piece in pieces]
    return all(is_number(text) or set(text) <= _DASHES for text in texts)


def is_header(line: Sequence[Piece]) -> bool:
    """Whether a baseline has several cells, and no number."""
    return len(line) > 1 and not any(is_number(piece.text.strip()) for piece in line)


def header_above_values(
    rows: Sequence[Sequence[str]], columns: Sequence[tuple[float, float]], reach: float
) -> tuple[list[list[str]], list[tuple[float, float]]]:
    """Rows and columns in which each header is in the column of its values.

    A header beside its values, at most `reach` points off, is a column that has nothing else, next
    to one without a header.
    """
    found = [list(row) for row in rows]
    edges = list(columns)
    for column in range(len(edges) - 2, -1, -1):
        (left, end), (start, right) = edges[column : column + 2]
        here, following = ([row[place] for row in found] for place in (column, column + 1))
        is_apart = _is_header_alone(here, following) or _is_header_alone(following, here)
        if is_apart and start - end <= reach:
            for row in found:
                row[column : column + 2] = [row[column] or row[column + 1]]
            edges[column : column + 2] = [(left, right)]
    return found, edges


def _is_header_alone(column: Sequence[str], beside: Sequence[str]) -> bool:
    """Whether a column has a header only, and the one beside it has values only."""
    return bool(column[0]) and not any(column[1:]) and not beside[0] and any(beside[1:])
