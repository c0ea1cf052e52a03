"""Finds the ruled lines of a page, and the grids that they form."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
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
_FEW_OBJECTS = 32  # of a page that may be put together from form XObjects, as by imposition
_DEEPEST = 3  # form XObjects inside each other
_FEWEST_LEVEL, _FEWEST_VERTICAL = 2, 1
_FEWEST_EDGES = 3  # of columns, and of rows between fewer vertical lines
_OPEN = 12.0  # points by which lines go on beyond the last one that crosses them: a cell without it

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

    @property
    def is_open(self) -> bool:
        """Whether an edge has no line: less sure to be a table."""
        edges = (self.verticals[0], self.verticals[-1], self.levels[0], self.levels[-1])
        return not all(edges)

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
    """Grids of at least two columns; `turn`: quarter turns by which its text is upright.

    Cells at the edge may be open, as where only the columns are divided from each other.
    """
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


def may_be_in_forms(count: int, kinds: Collection[int]) -> bool:
    """Whether rules may be in form XObjects: those of other pages are figures."""
    return count <= _FEW_OBJECTS and pdfium.FORM in kinds


def _edges(page: int) -> Boxes:
    """Boxes of thin paths, and of the segments of larger paths."""
    handles = pdfium.page_objects(page, _MOST_OBJECTS)
    return _edges_among(handles, depth=0, budget=[_MOST_OBJECTS])


def _edges_among(handles: Sequence[int], *, depth: int, budget: list[int]) -> Boxes:
    """`budget`: how many objects of form XObjects may still be looked at."""
    kinds = list(map(pdfium.object_type, handles))
    paths = list(compress(handles, map(pdfium.PATH.__eq__, kinds)))
    found = [_edges_of(paths)]
    if may_be_in_forms(len(handles), kinds) and depth < _DEEPEST:
        for handle, kind in zip(handles, kinds, strict=True):
            if kind == pdfium.FORM:
                inner = pdfium.form_objects(handle, budget[0])
                budget[0] -= len(inner)
                edges = _edges_among(inner, depth=depth + 1, budget=budget)
                found.append(_transformed(edges, pdfium.matrix(handle)))
    return np.concatenate(found)


def _transformed(boxes: Boxes, matrix: Sequence[float]) -> Boxes:
    """The boxes around what a transformation makes of boxes."""
    a, b, c, d, e, f = matrix
    xs, ys = boxes[:, [0, 0, 2, 2]], boxes[:, [1, 3, 1, 3]]
    x, y = a * xs + c * ys + e, b * xs + d * ys + f
    return np.stack([x.min(axis=1), y.max(axis=1), x.max(axis=1), y.min(axis=1)], axis=1)


def _edges_of(paths: Sequence[int]) -> Boxes:
    if not paths:
        return np.zeros((0, 4), np.float32)
    boxes = pdfium.all_bounds(paths)
    is_thin = np.minimum(boxes[:, 2] - boxes[:, 0], boxes[:, 1] - boxes[:, 3]) <= _THIN
    others = [paths[index] for index in np.flatnonzero(~is_thin).tolist()]
    sides = [
        edge
        for path in pdfium.without_curves(others)
        for edge in pdfium.path_edges(path, _MOST_SEGMENTS)
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
        ys = _with_open_ends(_distinct(rows[row_set, 0]), columns[column_set])
        xs = _with_open_ends(_distinct(columns[column_set, 0]), rows[row_set])
        if len(xs) >= _FEWEST_EDGES and len(ys) >= _FEWEST_LEVEL:
            if len(column_set) < _FEWEST_EDGES and len(ys) < _FEWEST_EDGES:
                continue
            ys.reverse()
            yield Grid(
                columns=tuple(xs),
                rows=tuple(ys),
                verticals=_at(xs, [vertical[index] for index in column_set]),
                levels=_at(ys, [level[index] for index in row_set]),
            )


def _with_open_ends(places: list[float], across: NDArray[np.float64]) -> list[float]:
    """The places of lines, and where most of those across them end beyond the first and last."""
    half = len(across) // 2
    start, end = float(np.sort(across[:, 1])[half]), float(np.sort(across[:, 2])[-half - 1])
    if start < places[0] - _OPEN:
        places = [start, *places]
    if end > places[-1] + _OPEN:
        places = [*places, end]
    return places


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
