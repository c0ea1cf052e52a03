"""Tables with merged cells as Markdown tables whose rows are complete by themselves."""

from collections.abc import Sequence
from enum import Enum, auto

from ingest.formats.common.cell_values import is_value
from ingest.formats.common.markdown import plain, table

_MOST_HEADERS = 3
_LONGEST_REPEATED = 100  # characters; longer cells are prose


class Covered(Enum):
    """A place in the grid that a merged cell covers, and where that begins."""

    FROM_LEFT = auto()
    FROM_ABOVE = auto()


Grid = Sequence[Sequence[str | Covered]]


def merged_table(grid: Grid, *, headers: int = 0) -> list[str]:
    """Blocks: a row that is a single title, then the table; its header of several rows is joined.

    `headers`: how many rows the document marks as header; 0 if it does not say. A merged cell
    counts in each place that it covers, unless it is long.
    """
    rows = [list(row) for row in grid if any(cell not in ("", Covered.FROM_LEFT) for cell in row)]
    filled = _filled(rows)
    title = []
    if len(rows) > 2 and _is_title(rows[0]):
        title = [plain(filled[0][0])]
        rows, filled, headers = rows[1:], filled[1:], headers - 1
    count = min(headers, _MOST_HEADERS) if headers > 1 else _count_headers(rows, filled)
    if 1 < count < len(filled):
        filled = [_joined(filled[:count]), *filled[count:]]
    made = table(filled)
    return [*title, made] if made else title


def _filled(rows: Sequence[Sequence[str | Covered]]) -> list[list[str]]:
    filled: list[list[str]] = []
    for row in rows:
        texts: list[str] = []
        for at, cell in enumerate(row):
            if isinstance(cell, str):
                texts.append(cell)
                continue
            from_left = cell is Covered.FROM_LEFT
            source, place = (texts, at - 1) if from_left else (filled[-1] if filled else [], at)
            text = source[place] if 0 <= place < len(source) else ""
            texts.append(text if len(text) <= _LONGEST_REPEATED else "")
        filled.append(texts)
    return filled


def _is_title(row: Sequence[str | Covered]) -> bool:
    return len(row) > 1 and row[0] != "" and all(cell is Covered.FROM_LEFT for cell in row[1:])


def _count_headers(rows: Sequence[Sequence[str | Covered]], filled: Sequence[Sequence[str]]) -> int:
    """Rows of names below a cell that is merged over columns: it groups them."""
    count = 1
    while (
        count < min(_MOST_HEADERS, len(rows) - 1)
        and any(cell is Covered.FROM_LEFT for cell in rows[count - 1])
        and len(rows[count]) == len(rows[0])
        and not any(is_value(text) for text in filled[count])
    ):
        count += 1
    return count


def _joined(rows: Sequence[Sequence[str]]) -> list[str]:
    width = max(map(len, rows))
    columns = ([row[at] for row in rows if at < len(row) and row[at]] for at in range(width))
    return [" ".join(dict.fromkeys(names)) for names in columns]
