"""Finds the ruled lines of a page, and the grids that they form."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.engine.pdfium import Boxes
from ingest.formats.pdf.layout.rotation import Column, rotated

_THIN = 2.5  # points; a line is at most this thick
_SHORTEST = 6.0  # points
_NEAR = 3.0  # points of gap between lines that count as meeting
_SAME = 2.0  # points between lines that count as one
_MOST_OBJECTS = 8000
_MOST_SEGMENTS = 2000  # per path
_MOST_RULES = 1500  # per direction
_FEWEST_LEVEL, _FEWEST_VERTICAL = 2, 3

RuledLine = tuple[float, float, float]
"""Position across its direction, start and end along it: y, x, x or x, y, y."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells between ruled lines."""

    columns: tuple[float, ...]
    """x of the vertical lines, from left to right."""
    rows: tuple[float, ...]
    """y of the horizontal lines, from the top down."""
    verticals: tuple[tuple[RuledLine, ...], ...]
    """The vertical lines at each x in `columns`."""
    levels: tuple[tuple[RuledLine, ...], ...]
    """The horizontal lines at each y in `rows`."""

    def is_divided(self, column: int, y: float) -> bool:
        """Whether a line bounds this column on its left at this height."""
        return _reaches(self.verticals[column], y)

    def is_ruled(self, row: int, x: float) -> bool:
        """Whether a line bounds this row at its top at this x."""
        return _reaches(self.levels[row], x)


def _reaches(rules: Sequence[RuledLine], place: float) -> bool:
    # A loop takes half the time of any(), and tables have thousands of cells.
    for _, start, end in rules:  # noqa: SIM110
        if start - _SAME <= place <= end + _SAME:
            return True
    return False


def find_grids(page: int, turn: int, *, mirrored: bool = False) -> list[Grid]:
    """Grids of at least two columns; `turn`: quarter turns by which its text is upright."""
    edges = _edges(page)
    if len(edges) < _FEWEST_LEVEL + _FEWEST_VERTICAL:
        return []
    left, top, right, bottom = rotated((*edges.T,), turn)
    if mirrored:
        left, right = -right, -left
    wide, high = right - left, top - bottom
    flat = (high <= _THIN) & (wide >= _SHORTEST)
    steep = (wide <= _THIN) & (high >= _SHORTEST)
    if np.count_nonzero(flat) < _FEWEST_LEVEL or np.count_nonzero(steep) < _FEWEST_VERTICAL:
        return []
    level = _merged(((top + bottom) / 2)[flat], left[flat], right[flat])
    vertical = _merged(((left + right) / 2)[steep], bottom[steep], top[steep])
    if not _FEWEST_LEVEL <= len(level) <= _MOST_RULES:
        return []
    if not _FEWEST_VERTICAL <= len(vertical) <= _MOST_RULES:
        return []
    return list(_grids(level, vertical))


def _edges(page: int) -> Boxes:
    """Boxes of thin paths, and of the segments of larger paths."""
    handles = pdfium.page_objects(page, _MOST_OBJECTS)
    kinds = map(pdfium.object_type, handles)
    paths = [handle for handle, kind in zip(handles, kinds, strict=True) if kind == pdfium.PATH]
    if not paths:
        return np.zeros((0, 4), np.float32)
    boxes = pdfium.all_bounds(paths)
    is_thin = np.minimum(boxes[:, 2] - boxes[:, 0], boxes[:, 1] - boxes[:, 3]) <= _THIN
    sides = [
        edge
        for index in np.flatnonzero(~is_thin).tolist()
        for edge in pdfium.path_edges(paths[index], _MOST_SEGMENTS)
    ]
    return np.concatenate([boxes[is_thin], np.array(sides, np.float32).reshape(-1, 4)])


def _merged(places: Column, starts: Column, ends: Column) -> list[RuledLine]:
    """Rules without duplicates; pieces of one line are joined."""
    merged: list[RuledLine] = []
    band: list[RuledLine] = []
    for place, start, end in sorted(
        zip(places.tolist(), starts.tolist(), ends.tolist(), strict=True)
    ):
        if band and place - band[0][0] > _SAME:
            merged += _joined(band)
            band = []
        band.append((place, start, end))
    return merged + _joined(band)


def _joined(band: Sequence[RuledLine]) -> list[RuledLine]:
    """Rules at the same position, joined where they meet."""
    joined: list[RuledLine] = []
    for place, start, end in sorted(band, key=itemgetter(1)):
        if joined and start <= joined[-1][2] + _NEAR:
            joined[-1] = (joined[-1][0], joined[-1][1], max(end, joined[-1][2]))
        else:
            joined.append((place, start, end))
    return joined


def _grids(level: list[RuledLine], vertical: list[RuledLine]) -> Iterator[Grid]:
    rows, columns = np.array(level), np.array(vertical)
    meets = (
        (rows[:, None, 1] - _NEAR <= columns[None, :, 0])
        & (columns[None, :, 0] <= rows[:, None, 2] + _NEAR)
        & (columns[None, :, 1] - _NEAR <= rows[:, None, 0])
        & (rows[:, None, 0] <= columns[None, :, 2] + _NEAR)
    )
    for row_set, column_set in _components(meets):
        if len(row_set) < _FEWEST_LEVEL or len(column_set) < _FEWEST_VERTICAL:
            continue
        ys = _distinct(rows[row_set, 0])
        xs = _distinct(columns[column_set, 0])
        if len(ys) >= _FEWEST_LEVEL and len(xs) >= _FEWEST_VERTICAL:
            ys.reverse()
            yield Grid(
                columns=tuple(xs),
                rows=tuple(ys),
                verticals=_at(xs, [vertical[index] for index in column_set]),
                levels=_at(ys, [level[index] for index in row_set]),
            )


def _at(places: Sequence[float], rules: Sequence[RuledLine]) -> tuple[tuple[RuledLine, ...], ...]:
    """The rules at each of these places."""
    found: list[list[RuledLine]] = [[] for _ in places]
    distances = np.abs(np.subtract.outer([rule[0] for rule in rules], places))
    for rule, nearest in zip(rules, distances.argmin(axis=1).tolist(), strict=True):
        found[nearest].append(rule)
    return tuple(map(tuple, found))


def _components(meets: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Connected components: indices of the horizontal and of the vertical rules."""
    left: NDArray[np.bool_] = np.asarray(meets.any(axis=1))
    while left.any():
        rows = np.array([np.argmax(left)])
        while True:
            columns = np.flatnonzero(meets[rows].any(axis=0))
            grown = np.flatnonzero(meets[:, columns].any(axis=1))
            if len(grown) == len(rows):
                break
            rows = grown
        left[rows] = False
        yield rows, columns


def _distinct(places: NDArray[np.float64]) -> list[float]:
    """Sorted positions; those within _SAME of each other count once."""
    found: list[float] = []
    for place in sorted(places.tolist()):
        if not found or place - found[-1] > _SAME:
            found.append(place)
    return found
