"""Tables of AsciiDoc as Markdown; merged and repeated cells are repeated."""

import csv
import re
from collections.abc import Callable, Sequence

from ingest.formats.common.markdown import plain, table

TABLE = re.compile(r"[|,:!]={3,}")
_CELLS = re.compile(
    r"(?:(?<=[ \t])|^)(?:(?:(\d{1,2})(?:\.\d{1,2})?|\.(\d{1,2}))[+*])?"
    r"[<^>.]{0,3}[aehlmsdv]?(?<!\\)\|"
)
_COLUMNS = re.compile(r"\bcols=(?:\"([^\"]*)\"|'([^']*)'|([\d*]+))")
_REPEATED = re.compile(r"(\d{1,3})\*")
_SEPARATORS = {"csv": ",", "dsv": ":", "tsv": "\t"}
_FORMAT = re.compile(r"\bformat=\"?(csv|dsv|tsv)")
_MOST_COLUMNS = 200


def table_text(lines: Sequence[str], mark: str, options: str, inline: Callable[[str], str]) -> str:
    """The table between two lines `mark`; the plain lines if it has no cells."""
    stated = _FORMAT.search(options)
    separator = _SEPARATORS[stated[1]] if stated else {",": ",", ":": ":"}.get(mark[0], "")
    if separator:
        rows = [row for row in csv.reader(lines, delimiter=separator, skipinitialspace=True) if row]
    elif mark[0] == "|":
        rows = _rows(lines, _columns(options))
    else:
        rows = []
    return table([list(map(inline, row)) for row in rows]) or "\n".join(map(plain, lines))


def _columns(options: str) -> int:
    """The number of columns that `cols` states; 0 if it does not."""
    found = _COLUMNS.search(options)
    if found is None:
        return 0
    parts = [part.strip() for part in re.split("[,;]", found[1] or found[2] or found[3])]
    counts = [int(many[1]) if (many := _REPEATED.match(part)) else 1 for part in parts]
    if len(parts) == 1 and parts[0].isdecimal():
        return 1
    return min(sum(counts), _MOST_COLUMNS)


def _rows(lines: Sequence[str], width: int) -> list[list[str]]:
    """Rows of `width` cells; 0: of as many as the first line has."""
    cells: list[tuple[str, int, int]] = []
    for line in lines:
        found = list(_CELLS.finditer(line))
        if not found:
            if cells and line.strip():
                text, wide, tall = cells[-1]
                cells[-1] = (f"{text}\n{line.strip()}", wide, tall)
            continue
        if line[: found[0].start()].strip() and cells:
            text, wide, tall = cells[-1]
            cells[-1] = (f"{text} {line[: found[0].start()].strip()}", wide, tall)
        ends = [*(one.start() for one in found[1:]), len(line)]
        made = [
            (line[one.end() : end].strip().replace("\\|", "|"), int(one[1] or 1), int(one[2] or 1))
            for one, end in zip(found, ends, strict=True)
        ]
        width = width or sum(wide for _, wide, _ in made)
        cells += made
    return _placed(cells, min(max(width, 1), _MOST_COLUMNS))


def _placed(cells: Sequence[tuple[str, int, int]], width: int) -> list[list[str]]:
    rows: list[list[str]] = [[]]
    waiting: dict[int, tuple[str, int]] = {}
    """Cells that go on below, by column: with the number of rows that are left."""

    def go_on() -> None:
        row = rows[-1]
        while len(row) in waiting and len(row) < width:
            text, left = waiting.pop(len(row))
            if left > 1:
                waiting[len(row)] = (text, left - 1)
            row.append(text)

    for text, columns, height in cells:
        go_on()
        for _ in range(min(columns, _MOST_COLUMNS)):
            if height > 1:
                waiting[len(rows[-1])] = (text, height - 1)
            rows[-1].append(text)
        go_on()
        if len(rows[-1]) >= width:
            rows.append([])
    return [row for row in rows if row]
