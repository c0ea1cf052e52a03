"""Puts recognised lines of a page into reading order."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from ingest.providers.ocr.lines import OcrLine, OcrParagraph, cells

_SAME_ROW = 0.5  # overlap of two lines, in heights of the smaller one
_PARAGRAPH_GAP = 0.8  # line heights between two lines
_PROSE = 15  # characters of a text column's median line; table cells are shorter
_COLUMN_LINES = 3
_MARGIN = 0.35  # line heights that engines add at both ends of a line; they would close a gutter
_ACROSS = 0.6  # of the total width: a longer line belongs to no column
_DEEP = 8  # levels of nested columns


def ordered(lines: Sequence[OcrLine]) -> list[OcrParagraph]:
    """Paragraphs in reading order: column by column, the cells of a row on one line."""
    if not lines:
        return []
    return [
        paragraph
        for column in _columns(sorted(lines, key=lambda line: line.top), _DEEP)
        for paragraph in _paragraphs(_rows(column))
    ]


def turned(lines: Sequence[OcrLine], *, width: int, height: int, quarters: int) -> list[OcrLine]:
    """The lines of a picture of this size after `quarters` counter-clockwise quarter turns."""
    for _ in range(quarters % 4):
        lines = [
            replace(
                line, left=line.top, right=line.bottom, top=width - line.right,
                bottom=width - line.left,
            )
            for line in lines
        ]  # fmt: skip
        width, height = height, width
    return list(lines)


def _columns(lines: Sequence[OcrLine], depth: int) -> list[Sequence[OcrLine]]:
    """Lines by column; lines across several columns, such as headings, stay between them."""
    at = _gutter(lines) if depth else None
    if at is None:
        return [lines]
    columns: list[Sequence[OcrLine]] = []
    left: list[OcrLine] = []
    right: list[OcrLine] = []
    across: list[OcrLine] = []
    for line in lines:
        start, end = _extent(line)
        side = left if end <= at else right if start >= at else across
        if side is across:
            columns += _sides(left, right, depth)
            left, right = [], []
        elif across:
            columns.append(across)
            across = []
        side.append(line)
    return [*columns, *_sides(left, right, depth), *([across] if across else [])]


def _sides(left: list[OcrLine], right: list[OcrLine], depth: int) -> list[Sequence[OcrLine]]:
    return [column for side in (left, right) if side for column in _columns(side, depth - 1)]


def _gutter(lines: Sequence[OcrLine]) -> float | None:
    """The widest gap between two columns of prose; None if there is none."""
    width = max(line.right for line in lines) - min(line.left for line in lines)
    narrow = [line for line in lines if line.right - line.left < _ACROSS * width]
    if len(narrow) < 2 * _COLUMN_LINES:
        return None
    for at in _gaps([_extent(line) for line in narrow]):
        left = [line for line in narrow if _extent(line)[1] <= at]
        right = [line for line in narrow if _extent(line)[0] >= at]
        if _is_prose(left) and _is_prose(right):
            return at
    return None


def _extent(line: OcrLine) -> tuple[float, float]:
    """Left and right end of the letters, without the engine's margin."""
    margin = min(_MARGIN * (line.bottom - line.top), (line.right - line.left) / 2)
    return line.left + margin, line.right - margin


def _gaps(spans: Sequence[tuple[float, float]]) -> list[float]:
    """Middles of the gaps between spans, the widest gap first."""
    found: list[tuple[float, float]] = []
    end = min(start for start, _ in spans)
    for start, stop in sorted(spans):
        if start > end:
            found.append((start - end, (start + end) / 2))
        end = max(end, stop)
    return [middle for _, middle in sorted(found, reverse=True)]


def _is_prose(lines: list[OcrLine]) -> bool:
    return len(lines) >= _COLUMN_LINES and median(len(line.text) for line in lines) >= _PROSE


def _rows(lines: Sequence[OcrLine]) -> list[OcrLine]:
    """Join lines that stand side by side into one line per row."""
    rows: list[list[OcrLine]] = []
    for line in lines:
        if rows and _shares_row(rows[-1][0], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [_joined(sorted(row, key=lambda line: line.left)) for row in rows]


def _shares_row(first: OcrLine, line: OcrLine) -> bool:
    shared = min(first.bottom, line.bottom) - max(first.top, line.top)
    return shared > _SAME_ROW * min(first.bottom - first.top, line.bottom - line.top)


def _joined(row: Sequence[OcrLine]) -> OcrLine:
    characters = sum(len(piece.text) for piece in row)
    weighted = sum(piece.confidence * len(piece.text) for piece in row)
    return OcrLine(
        text=" ".join(piece.text for piece in row),
        confidence=weighted / max(1, characters),
        left=row[0].left,
        top=min(piece.top for piece in row),
        right=max(piece.right for piece in row),
        bottom=max(piece.bottom for piece in row),
        cells=cells([_extent(piece) for piece in row], height=row[0].bottom - row[0].top),
        words=tuple(word for piece in row for word in piece.words),
    )


def _paragraphs(rows: Sequence[OcrLine]) -> list[OcrParagraph]:
    paragraphs: list[list[OcrLine]] = []
    for row in rows:
        height = row.bottom - row.top
        if paragraphs and row.top - paragraphs[-1][-1].bottom <= _PARAGRAPH_GAP * height:
            paragraphs[-1].append(row)
        else:
            paragraphs.append([row])
    return list(paragraphs)
