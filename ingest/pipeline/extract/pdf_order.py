"""Reading order where the order of the file cannot be it.

pdfium gives text in the order of the file, which programs mostly write as it is read: columns
follow each other, boxes are whole. It is only changed where a line would come after one below it.
"""

from itertools import pairwise

from ingest.pipeline.extract.pdf_lines import Line, PageLines

_MOST = 500  # lines; comparing all with all has its price
_SLACK = 0.3  # of a line's height that neighbours may overlap
_TURNED = 3  # times higher than wide: text that runs up or down the page


def put_in_order(page: PageLines) -> None:
    """Move lines before those below them, and change nothing else."""
    lines = page.lines
    if not page.has_places or len(lines) > _MOST or not _is_disordered(lines):
        return
    if any(_runs_up(line) for line in lines):
        return
    ordered = _Sorter(lines).sorted()
    if _clashes(ordered) <= _clashes(lines):
        page.lines = ordered


def _clashes(lines: list[Line]) -> int:
    """Neighbours that are printed over each other: their order cannot be told by their places."""
    return sum(
        line.overlaps(following)
        and following.top > line.bottom + _SLACK * line.height
        and following.bottom < line.top - _SLACK * line.height
        for line, following in pairwise(lines)
    )


def _is_disordered(lines: list[Line]) -> bool:
    """Whether some line is above an earlier one and not beside it."""
    jumps = [
        index
        for index, (line, following) in enumerate(pairwise(lines), start=1)
        if following.bottom > line.top - _SLACK * line.height
    ]
    return any(_is_above(lines[jump], line) for jump in jumps for line in lines[:jump])


def _is_above(line: Line, other: Line) -> bool:
    slack = _SLACK * min(line.height, other.height)
    return line.bottom >= other.top - slack and line.top > other.top and line.overlaps(other)


def _runs_up(line: Line) -> bool:
    return len(line.text) > 3 and line.height > _TURNED * (line.right - line.left)


class _Sorter:
    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._done: set[int] = set()
        self._sorted: list[Line] = []

    def sorted(self) -> list[Line]:
        """The lines in the order of the file, each after those above it."""
        for index in range(len(self._lines)):
            self._visit(index)
        return self._sorted

    def _visit(self, index: int) -> None:
        if index in self._done:
            return
        self._done.add(index)
        line = self._lines[index]
        above = [
            other
            for other, candidate in enumerate(self._lines)
            if other not in self._done and _is_above(candidate, line)
        ]
        # From the top down: each finds those above it done, so this does not go deep.
        for other in sorted(above, key=lambda item: -self._lines[item].top):
            self._visit(other)
        self._sorted.append(line)
