"""Tables of reStructuredText, drawn or listed, as rows of cells; merged cells are repeated."""

import csv
import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

SIMPLE = re.compile(r"[ \t]*={2,}(?:[ \t]+={2,})+[ \t]*")
GRID = re.compile(r"[ \t]*\+(?:[-=]{2,}\+)+[ \t]*")
_SPANS = re.compile(r"[ \t]*-{2,}(?:[ \t]+-{2,})*[ \t]*")
_ITEM = re.compile(r"([ \t]*)([*+-][ \t]+)?[*+-](?:[ \t]+(.*))?$")
_PADDING = "\0"  # fills the second column of wide characters
_WIDE = re.compile(
    r"[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60\uffe0-\uffe6]"
)


def grid_rows(lines: Sequence[str]) -> list[list[str]]:
    """Rows of a grid table; none if its borders do not fit."""
    drawn = [_padded(line).rstrip() for line in lines]
    width = len(drawn[0])
    rules = [line for line in drawn if "+-" in line or "+=" in line]
    if {len(line) for line in drawn} != {width} or not GRID.fullmatch(drawn[-1]):
        return []
    borders = sorted({found.start() for line in rules for found in re.finditer(r"\+", line)})
    if len(borders) * len(drawn) > 10 * sum(map(len, drawn)):
        return []
    rows: list[list[list[str]]] = []
    for line in drawn:
        new = [line[a + 1 : a + 2] in "-=" and not line[a + 1 : b].strip("-=+")
               for a, b in pairwise(borders)]  # fmt: skip
        if any(new) and line[borders[0]] in "+|":
            above = rows[-1] if rows else [[] for _ in new]
            rows.append([[] if is_new else cell for is_new, cell in zip(new, above, strict=True)])
        if not all(new) and rows:
            _fill(rows, line, borders, new)
    return [["\n".join(cell) for cell in row] for row in rows[:-1]]


def _fill(
    rows: list[list[list[str]]], line: str, borders: Sequence[int], new: Sequence[bool]
) -> None:
    """Add the texts of a line to the cells of the last row; cells that it merges become one."""
    row, column = rows[-1], 0
    while column < len(new):
        end = column + 1
        while end < len(new) and line[borders[end]] not in "|+":
            end += 1
        if not new[column]:
            cell = row[column]
            for merged in range(column + 1, end):
                row[merged] = cell
            text = line[borders[column] + 1 : borders[end]].replace(_PADDING, "").strip()
            cell.extend([text] if text else [])
        column = end


def simple_rows(lines: Sequence[str]) -> list[list[str]]:
    """Rows of a simple table; none if it is not closed."""
    if len(lines) < 3 or not SIMPLE.fullmatch(lines[-1]):
        return []
    starts = [found.start() for found in re.finditer(r"=+", lines[0])]
    rows: list[list[str]] = []
    for at, raw in enumerate(lines):
        line = _padded(raw)
        if SIMPLE.fullmatch(line) or _SPANS.fullmatch(line):
            continue
        below = lines[at + 1] if at + 1 < len(lines) else ""
        cells = _simple_cells(line, starts, below if _SPANS.fullmatch(below) else "")
        if not any(cells):
            continue
        if rows and not cells[0]:
            rows[-1] = ["\n".join(filter(None, pair)) for pair in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return rows


def _simple_cells(line: str, starts: Sequence[int], spans: str) -> list[str]:
    """Cells of a line; `spans` is the line below that underlines merged ones."""
    begins = [start for start in starts if not spans or spans[start - 1 : start] in ("", " ")]
    ends = [*begins[1:], None]
    cells: list[str] = []
    for begin, end in zip(begins, ends, strict=True):
        columns = sum(begin <= start and (end is None or start < end) for start in starts)
        text = line[begin:end].replace(_PADDING, "").strip()
        cells += [text] * columns
    return cells


def listed_rows(lines: Sequence[str]) -> list[list[str]]:
    """Rows of a `list-table`: items whose items are its cells."""
    rows: list[list[str]] = []
    for line in lines:
        found = _ITEM.fullmatch(line)
        is_row = found is not None and found[2] is not None and not found[1]
        if found and is_row:
            rows.append([found[3] or ""])
        elif found and rows and len(found[1]) <= 2:
            rows[-1].append(found[3] or "")
        elif rows:
            rows[-1][-1] += f"\n{line.strip()}"
    return rows


def separated_rows(header: str, lines: Sequence[str], *, separator: str) -> list[list[str]]:
    """Rows of a `csv-table`; none if it cannot be read."""
    stated = [header] if header else []
    try:
        rows = csv.reader([*stated, *lines], delimiter=separator, skipinitialspace=True)
        return [row for row in rows if row]
    except csv.Error:
        return []


def _padded(line: str) -> str:
    """The line with one character per column of the screen."""
    if line.isascii():
        return line
    line = "".join(char for char in line if not unicodedata.combining(char))
    return _WIDE.sub(lambda found: found[0] + _PADDING, line)
