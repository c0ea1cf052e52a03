"""Converts the shapes of a PowerPoint 97 slide to Markdown, in reading order."""

import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ingest.formats.common.markdown import plain
from ingest.formats.office.merged_cells import Covered, merged_table
from ingest.formats.slides.powerpoint_97.records import Record, children, first
from ingest.formats.slides.powerpoint_97.text import TITLES, Passage, passages
from ingest.optional_steps import improve

_DRAWING, _DRAWING_DATA, _GROUP, _SHAPE = 0x040C, 0xF002, 0xF003, 0xF004
_HEAD, _TEXT_BOX, _CLIENT_DATA = 0xF00A, 0xF00D, 0xF011
_PLACE, _PLACE_IN_GROUP = 0xF010, 0xF00F
_OPTIONS, _MORE_OPTIONS = 0xF00B, 0xF122
_OUTLINE, _PLACEHOLDER = 0x0F9E, 0x0BC3
_PLACEHOLDER_2007: Final = 0x0420
_EMBEDDED: Final = 0x0BC1
_DELETED: Final = 0x8
_MARGINS: Final = frozenset({7, 8, 9, 10})
"""Placeholders of date, number, footer and header."""
_DATE_AND_FOOTER: Final = frozenset({7, 9})
_WORD_ART, _PICTURE, _DESCRIPTION, _TABLE = 0x00C0, 0x0104, 0x0381, 0x039F
_IS_COMPLEX: Final = 0x8000
_LINE: Final = 216  # 1/576 inch: height of the bands in which shapes count as side by side
_DEEP: Final = 20
_MOST: Final = 100_000


@dataclass(slots=True)
class Shape:
    """A shape; a group if it has `inside`."""

    top: int = 0
    left: int = 0
    bottom: int = 0
    right: int = 0
    passage: Passage | None = None
    placeholder: int = 0
    words: str = ""
    """Of WordArt, or the alternative text of a picture."""
    is_picture: bool = False
    is_table: bool = False
    embedded: int = 0
    """The key of its embedded object; 0 if it has none."""
    chart: str = ""
    """Markdown of the chart in that object."""
    inside: Sequence["Shape"] = ()


def shapes_of(slide: Record, outline: Sequence[Passage]) -> list[Shape]:
    """The shapes of a slide or of its notes."""
    group = first(slide.data, _DRAWING, _DRAWING_DATA, _GROUP)
    return list(_group(group, outline, 0)) if group is not None else []


def slide_blocks(shapes: Sequence[Shape]) -> list[str]:
    """The title as a heading, then paragraphs, lists and tables."""
    titles = [shape for shape in shapes if _is_title(shape)]
    headings = (shape.passage.line() for shape in titles if shape.passage is not None)
    others = [shape for shape in shapes if not _is_title(shape)]
    return [*(f"## {text}" for text in headings if text), *_blocks(others)]


def note_blocks(shapes: Sequence[Shape]) -> list[str]:
    """Speaker notes, and what was written beside them."""
    return _blocks(shapes)


def margin_texts(shapes: Sequence[Shape]) -> list[str]:
    """Dates and footers that are shapes of the slide."""
    passages = (shape.passage for shape in shapes if shape.placeholder in _DATE_AND_FOOTER)
    return [passage.line() for passage in passages if passage is not None]


def passages_of(shapes: Sequence[Shape]) -> Iterator[Passage]:
    """The texts of all shapes, also in groups."""
    for shape in shapes:
        if shape.passage is not None:
            yield shape.passage
        yield from passages_of(shape.inside)


def embedding(shapes: Sequence[Shape]) -> Iterator[Shape]:
    """The shapes that show an embedded object."""
    for shape in shapes:
        if shape.embedded:
            yield shape
        yield from embedding(shape.inside)


def has_picture(shapes: Sequence[Shape]) -> bool:
    """Whether any of the shapes is a picture."""
    return any(shape.is_picture or has_picture(shape.inside) for shape in shapes)


def _is_title(shape: Shape) -> bool:
    return shape.passage is not None and shape.passage.kind in TITLES


def _blocks(shapes: Sequence[Shape]) -> list[str]:
    found: list[str] = []
    for shape in sorted(shapes, key=lambda shape: (shape.top // _LINE, shape.left)):
        found += _table(shape) if shape.is_table else _blocks(shape.inside)
        if shape.passage is not None and shape.placeholder not in _MARGINS:
            found.append(shape.passage.blocks())
        found += [shape.chart, plain(shape.words)]
    return [block for block in found if block]


def _table(table: Shape) -> list[str]:
    return improve("tables", lambda: _grid(table.inside), otherwise=lambda: _blocks(table.inside))


def _grid(shapes: Sequence[Shape]) -> list[str]:
    """Cells are shapes, at the same height in a row and the same left edge in a column."""
    cells = [(shape, shape.passage) for shape in shapes if shape.passage is not None]
    rows = _numbers({cell.top for cell, _ in cells})
    columns = _numbers({cell.left for cell, _ in cells})
    if len(rows) * len(columns) > _MOST:
        return _blocks(shapes)
    grid: list[list[str | Covered]] = [[""] * len(columns) for _ in rows]
    for cell, passage in cells:
        grid[rows[cell.top]][columns[cell.left]] = passage.line()
    own = {(cell.top, cell.left) for cell, _ in cells}
    for (top, left), covered in islice(_covered(cells, list(rows), list(columns)), _MOST):
        if (top, left) not in own:
            grid[rows[top]][columns[left]] = covered
    return merged_table(grid)


def _covered(
    cells: Sequence[tuple[Shape, Passage]], tops: list[int], lefts: list[int]
) -> Iterator[tuple[tuple[int, int], Covered]]:
    """The places in merged cells, which are as large as all that they cover."""
    for cell, _ in cells:
        for top in _inside(tops, cell.top, cell.bottom):
            for left in _inside(lefts, cell.left, cell.right):
                yield (top, left), Covered.FROM_LEFT if left > cell.left else Covered.FROM_ABOVE


def _inside(edges: list[int], start: int, end: int) -> list[int]:
    """The edge at `start`, and those in front of `end`."""
    first = bisect_left(edges, start)
    return edges[first : max(bisect_left(edges, end), first + 1)]


def _numbers(edges: set[int]) -> dict[int, int]:
    return {edge: number for number, edge in enumerate(sorted(edges))}


def _group(group: Record, outline: Sequence[Passage], depth: int) -> Iterator[Shape]:
    for record in children(group.data):
        if record.kind == _SHAPE:
            shape = _shape(record, outline)
            if shape is not None:
                yield shape
        elif record.kind == _GROUP and depth < _DEEP:
            # The first shape of a group is the group itself.
            own = first(record.data, _SHAPE)
            whole = (_shape(own, outline) if own is not None else None) or Shape()
            whole.inside = list(_group(record, outline, depth + 1))
            yield whole


def _shape(record: Record, outline: Sequence[Passage]) -> Shape | None:
    """None if it was deleted."""
    shape = Shape()
    for kind, instance, data, _ in children(record.data):
        if kind == _HEAD and len(data) >= 8 and data[4] & _DELETED:
            return None
        if kind == _PLACE and len(data) >= 8:
            layout = "<ii" if len(data) >= 16 else "<hh"
            shape.top, shape.left = struct.unpack_from(layout, data)
        elif kind == _PLACE_IN_GROUP and len(data) >= 8:
            shape.left, shape.top = struct.unpack_from("<ii", data)
            if len(data) >= 16:
                shape.right, shape.bottom = struct.unpack_from("<ii", data, 8)
        elif kind in (_OPTIONS, _MORE_OPTIONS):
            _read_options(shape, data, instance)
        elif kind == _CLIENT_DATA:
            shape.placeholder = _placeholder(data)
            shape.embedded = _embedded(data)
        elif kind == _TEXT_BOX:
            shape.passage = _passage(data, outline)
    return shape


def _placeholder(data: bytes) -> int:
    """Its kind; 0 if the shape is none."""
    for kind, place in ((_PLACEHOLDER, 4), (_PLACEHOLDER_2007, 0)):
        holder = first(data, kind)
        if holder is not None and len(holder.data) > place:
            return holder.data[place]
    return 0


def _embedded(data: bytes) -> int:
    reference = first(data, _EMBEDDED)
    if reference is None or len(reference.data) < 4:
        return 0
    return int(struct.unpack_from("<I", reference.data)[0])


def _passage(data: bytes, outline: Sequence[Passage]) -> Passage | None:
    reference = first(data, _OUTLINE)
    if reference is not None and len(reference.data) >= 4:
        (number,) = struct.unpack_from("<i", reference.data)
        return outline[number] if 0 <= number < len(outline) else None
    return next(passages(children(data)), None)


def _read_options(shape: Shape, data: bytes, count: int) -> None:
    """`count` properties of six bytes; the long values follow them, in order."""
    at = 6 * count
    for number in range(min(count, len(data) // 6)):
        key, value = struct.unpack_from("<HI", data, 6 * number)
        kind = key & 0x3FFF
        shape.is_picture |= kind == _PICTURE
        shape.is_table |= kind == _TABLE and bool(value & 1)
        if key & _IS_COMPLEX:
            if kind in (_WORD_ART, _DESCRIPTION):
                text = data[at : at + value].decode("utf-16-le", "replace").split("\0")[0]
                shape.words = " ".join(text.split())
            at += value
