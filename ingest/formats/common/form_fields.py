"""Tells forms (`Customer | ACME GmbH`) from tables, whose first row names the columns."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from ingest.formats.common.cell_values import Row, is_date, is_value
from ingest.formats.common.cells import Across, written

MOST_FIELDS: Final = 40
"""Rows of a form; a longer block is a table."""
_LONGEST_LABEL: Final = 40  # characters
_LABELS: Final = Path(__file__).with_name("form_labels.txt")
_COLONS: Final = (":", "\uff1a")


def is_form(rows: Sequence[Row]) -> bool:
    """Whether each row of a block is a label with its value, by all its rows.

    Labels end in a colon; or the first of two columns has names that forms use below its first row,
    or the second has values of many kinds.
    """
    filled = [cells for row in rows if len(cells := _own(row)) > 1]
    if not filled or len(rows) > MOST_FIELDS or not _leads_with_field(rows):
        return False
    if 2 * sum(map(_has_labels, filled)) > len(filled):
        return True
    labels = [cells[0] for cells in filled]
    if (
        len(filled) < 2
        or any(len(cells) != 2 for cells in filled)
        or any(is_value(label) or len(label) > _LONGEST_LABEL for label in labels)
        or len({label.casefold() for label in labels}) < len(labels)
    ):
        return False
    known = sum(map(_is_label, labels[1:]))
    if known >= min(2, len(labels) - 1) and 3 * known >= len(labels) - 1:
        return True
    if _is_label(labels[0]) and _is_label(filled[0][1]):
        return False
    kinds = [_kind(cells[1]) for cells in filled[1:]]
    return len(set(kinds)) > 2 and kinds.count("words") < len(kinds) - 1


def form_fields(row: Row) -> Iterator[str]:
    """The fields of a row: `label: value`."""
    cells = _own(row)
    has_colons = any(cell.endswith(_COLONS) for cell in cells)
    every = 2 if _take_turns(cells) else len(cells)
    label = ""
    for index, cell in enumerate(cells):
        is_last = index == len(cells) - 1
        is_label = cell.endswith(_COLONS) if has_colons else index % every == 0
        if is_label and not is_last and not label:
            label = cell.rstrip(":\uff1a ")
        else:
            yield f"{label}: {written(cell)}" if label else written(cell)
            label = ""


def are_fields(row: Row) -> bool:
    """Whether a row outside of a form has labels and values: a label and one value, or more."""
    cells = _own(row)
    if len(cells) == 2 and not is_value(cells[0]):
        return True
    return _take_turns(cells) or any(cell.endswith(_COLONS) for cell in cells[:-1])


def are_labelled(row: Row) -> bool:
    """Whether usual labels and other texts take turns, so the row is hardly a header."""
    cells = _own(row)
    return _take_turns(cells) and not any(map(_is_label, cells[1::2]))


def _take_turns(cells: Sequence[str]) -> bool:
    """Whether every other cell may be a label, of which half are usual ones."""
    labels = cells[::2]
    return len(cells) % 2 == 0 < 2 * sum(map(_is_label, labels)) >= len(labels)


def _has_labels(cells: Sequence[str]) -> bool:
    """Whether labels with a colon and values take turns."""
    labels = [cell.endswith(_COLONS) for cell in cells]
    return labels[0] and 2 * sum(labels) >= len(labels) and not labels[-1]


def _own(row: Row) -> list[str]:
    return [cell for cell in row if cell and not isinstance(cell, Across)]


def _leads_with_field(rows: Sequence[Row]) -> bool:
    """Whether most rows are filled: below a title may be anything."""
    return 2 * sum(len(_own(row)) > 1 for row in rows) >= len(rows)


def _kind(cell: str) -> str:
    if is_date(cell):
        return "date"
    if is_value(cell):
        return "address" if "@" in cell or "://" in cell else "number"
    return "measure" if cell[0].isdecimal() else "words"


def _is_label(cell: str) -> bool:
    words = cell.rstrip(":\uff1a ").casefold().split()
    known = _known()
    return bool(words) and (" ".join(words) in known or words[0] in known or words[-1] in known)


@cache
def _known() -> frozenset[str]:
    lines = _LABELS.read_text("utf-8").splitlines()
    return frozenset(
        label.strip().casefold()
        for line in lines
        if not line.startswith("#")
        for label in line.split(",")
    )
