"""Guesses which row of a table is its header, from the texts of the cells."""

import re
from collections.abc import Sequence

from ingest.formats.common.cell_values import Row, is_date, is_value, signature
from ingest.formats.common.cells import Across
from ingest.formats.common.form_fields import are_labelled

LOOK_AHEAD = 12
"""Rows that the guess is based on."""
_CAPTIONS = 20  # rows above a header: titles, the fields of a form, names of groups of columns
FIRST_ROWS = _CAPTIONS + LOOK_AHEAD
"""Rows in which a header is looked for."""
_MOST_NAMES = 3  # rows of a header that a blank row separates from its table
_LONGEST_NAME = 100  # characters; longer cells are prose
_CLAUSE = re.compile(r"[,;.!?] ")
_UNIT = (
    r"(?:[kMGmµcdh]?(?:m|g|s|l|L|A|V|W|Wh|VA|Hz|Pa|bar|J|N|Nm|cal|mol|B|bit|eq|Ω)|t|h|d|min|hrs?|sec|"
    r"ha|K|°[CFK]?|%|‰|ppm|ppb|rpm|dB|pH|in|ft|lbs?|oz|mi|yd|psi|gal|km|EUR|USD|GBP|CHF|[€$£¥]|kr)"
)
_TIME = r"(?:second|minute|hour|day|week|month|year)s?"
_UNITS = re.compile(
    rf"{_TIME}|deg ?[CFK]?"
    rf"|{_UNIT}(?:[²³]|\^?-?[1-6])?(?:\s?[/·*]\s?{_UNIT}(?:[²³]|\^?-?[1-6])?){{0,3}}"
)
_BRACKETED = re.compile(r"\[([^\[\]]{1,12})\]|\(([^()]{1,12})\)")
_CODE = re.compile("[A-Z]|[GMV]A|[GM]N")  # an answer, a vitamin, a state; or the ampere
_NO_UNIT = frozenset("-\u2013\u2014")
_YEAR = re.compile(r"(?:1[89]|20|21)\d\d")


def find_header(rows: Sequence[Row]) -> int | None:
    """Index of the last header row among the first rows of a table; None if there is no clear one.

    The header is the first row that is wider than those above it, about as wide as those below it
    and looks like names: mostly words, short, distinct, and not repeated further down in their
    columns, unless the whole row is. Rows below it may belong to it: the names of columns below
    those of groups. Below a row as wide that is no header, it must differ from records more.
    """
    widest = 0
    is_clear = True
    for index in range(_fields_above(rows), min(len(rows) - 1, _CAPTIONS)):
        row, below = rows[index], rows[index + 1 : index + 1 + LOOK_AHEAD]
        filled = _filled(row)
        if filled >= 2 and filled > widest and filled >= 0.6 * max(map(_filled, below)):
            found = None
            if (is_clear or _leads_values(row, below)) and not _is_named_above(rows, index):
                found = _last_of_header(rows, index)
            if found is not None:
                return found
            is_clear = False
        widest = max(widest, filled)
    return None


def _fields_above(rows: Sequence[Row]) -> int:
    """How many rows are titles and at least two fields of a form, above wider names of columns."""
    for index, row in enumerate(rows[:_CAPTIONS]):
        if _filled(row) > 1 and not are_labelled(row):
            above = [_filled(other) for other in rows[:index]]
            is_form = sum(count for count in above if count > 1) > 3 and _filled(row) > max(above)
            return index if is_form and _leads_values(row, rows[index + 1 :][:1]) else 0
    return 0


def _leads_values(row: Row, below: Sequence[Row]) -> bool:
    """Whether the row has words only, and values follow."""
    return not any(is_value(cell) and not _YEAR.fullmatch(cell) for cell in row) and any(
        is_value(cell) for other in below for cell in other
    )


def _is_named_above(rows: Sequence[Row], index: int) -> bool:
    """Whether the row above names a column of values of which this row has the first."""
    if not index or _filled(rows[index - 1]) < 2:
        return False
    below = rows[index + 1 : index + 1 + LOOK_AHEAD]
    return any(
        name
        and not isinstance(name, Across)
        and not is_value(name)
        and _is_value_above(cell, column, below)
        and holds_values(below, column)
        for column, (name, cell) in enumerate(zip(rows[index - 1], rows[index], strict=False))
    )


def _is_value_above(cell: str, column: int, below: Sequence[Row]) -> bool:
    """Whether a cell above others is a value, not the name of their column, as years and dates."""
    if not is_value(cell):
        return False
    if not _YEAR.fullmatch(cell):
        return not _dates_numbers(cell, column, below)
    cells = [row[column] for row in below if column < len(row) and row[column]]
    return bool(cells) and all(map(_YEAR.fullmatch, cells))


def _last_of_header(rows: Sequence[Row], index: int) -> int | None:
    """Index of the last row of a header that begins at a row; None if none does."""
    last = index
    while last - index < _MOST_NAMES - 1 and (
        _are_units(rows, last + 1) or _names_columns_below(rows, last)
    ):
        last += 1
        if not _is_merged(rows[last]):
            break
    for end in range(last, index - 1, -1):
        if _is_header(names(rows, end), rows[end + 1 : end + 1 + LOOK_AHEAD]):
            return end
    return None


def first_header_row(rows: Sequence[Row], last: int) -> int:
    """Index of the first of the rows that make the column names, from the last of them."""
    first = last
    while first and last - first < _MOST_NAMES - 1 and _groups(rows, first - 1):
        first -= 1
        if first and not _is_merged(rows[first - 1]):
            break
    return first


def are_names(rows: Sequence[Row]) -> bool:
    """Whether a few rows of words, several in the last, may name the columns of the next block."""
    return (
        len(rows) <= _MOST_NAMES
        and _filled(rows[-1]) >= 2
        and not any(is_value(cell) and not _YEAR.fullmatch(cell) for row in rows for cell in row)
    )


def is_below(header: Sequence[Row], rows: Sequence[Row]) -> bool:
    """Whether rows after a blank one belong to `header`: they have values but no header."""
    return (
        find_header(rows) is None
        and any(signature(rows[0]))
        and 2 <= len(rows[0]) <= max(map(len, header))
    )


def names(rows: Sequence[Row], last: int) -> list[str]:
    """Column names, prefixed with those of the grouping rows above (merged cells)."""
    own = list(rows[last])
    if last and _are_units(rows, last):
        own = ["" if cell in _NO_UNIT else cell for cell in own]
    for row in reversed(rows[first_header_row(rows, last) : last]):
        own = _below_groups(row, own)
    return own


def _below_groups(groups: Row, own: Sequence[str]) -> list[str]:
    """Each name with that of its group. Without merged cells, a group goes on to the next one."""
    is_exact = _is_merged(groups)
    own = [*own, *[""] * (len(groups) - len(own))]
    found = []
    group = ""
    for column, name in enumerate(own):
        over = groups[column] if column < len(groups) else ""
        group = over if is_exact else (over or group) if name else ""
        is_same = name == group or name.startswith(f"{group} ")
        found.append(over if not name else name if is_same or not group else f"{group} {name}")
    return found


def _groups(rows: Sequence[Row], index: int) -> bool:
    """Whether a row names groups of columns of the row below it."""
    row, below = rows[index], rows[index + 1]
    cells = [cell for cell in row if cell and not isinstance(cell, Across)]
    if any(cell.endswith(":") or len(cell) > _LONGEST_NAME for cell in cells):
        return False
    if _are_units(rows, index + 1):
        return len(cells) > 1
    if _is_merged(row):
        return len(cells) > 1 or not row[0]  # a title begins at the left
    if index and _places(row) == _places(rows[index - 1]):  # of a form above the header
        return False
    has_names = not any(map(is_value, below))
    is_field = has_names and all(row[: len(cells)]) and 2 * len(cells) < _filled(below)
    return (
        len(cells) > 1
        and len(cells) < _filled(below)
        and not is_field
        and not any(is_value(cell) and not _YEAR.fullmatch(cell) for cell in cells)
    )


def _places(row: Row) -> list[int]:
    """The columns of cells with a text of their own."""
    return [at for at, cell in enumerate(row) if cell and not isinstance(cell, Across)]


def _are_units(rows: Sequence[Row], index: int) -> bool:
    """Whether a row has the units of the columns that the row above it names, of values below.

    In doubt it has none: a row of units that is read as a record costs less than a record lost.
    """
    if index + 1 >= len(rows):
        return False
    named, below = rows[index - 1], rows[index + 1 : index + 1 + LOOK_AHEAD]
    units = [column for column, cell in enumerate(rows[index]) if cell and cell not in _NO_UNIT]
    return (
        len(units) > 1
        and 3 * len(units) >= _filled(named)
        and all(column < len(named) and named[column] for column in units)
        and all(_is_unit(rows[index][column]) for column in units)
        and not all(_CODE.fullmatch(_bare(rows[index][column])) for column in units)
        and not any(map(is_value, named))
        and not any(_is_unit(named[column]) for column in units if len(named[column]) > 1)
        and any(holds_values(below, column) for column in units)
        and all(holds_values(below, column, or_nothing=True) for column in units)
    )


def _is_unit(cell: str) -> bool:
    return not is_value(cell) and bool(_UNITS.fullmatch(_bare(cell)))


def _bare(cell: str) -> str:
    """The cell without brackets around it."""
    bracketed = _BRACKETED.fullmatch(cell)
    return (bracketed[1] or bracketed[2]).strip() if bracketed else cell


def _is_merged(row: Row) -> bool:
    return any(isinstance(cell, Across) for cell in row)


def _names_columns_below(rows: Sequence[Row], index: int) -> bool:
    """Whether the row after this one names columns, and this one groups of them.

    Its names stand in gaps of this row; they are repeated from group to group, stand above values,
    or beside a name that is merged over both rows.
    """
    if index + 2 >= len(rows):
        return False
    row, following, below = rows[index], rows[index + 1], rows[index + 2 : index + 2 + LOOK_AHEAD]
    gaps = [
        column
        for column, cell in enumerate(following)
        if cell and (column >= len(row) or not row[column] or isinstance(row[column], Across))
    ]
    if not gaps or any(is_value(cell) and not _YEAR.fullmatch(cell) for cell in following):
        return False
    own = [
        cell for column, cell in enumerate(following) if column >= len(row) or row[column] != cell
    ]
    is_repeated = len(set(filter(None, own))) < len(list(filter(None, own)))
    is_beside = any(cell and cell == other for cell, other in zip(row, following, strict=False))
    return is_repeated or is_beside or all(holds_values(below, column) for column in gaps)


def holds_values(rows: Sequence[Row], column: int, *, or_nothing: bool = False) -> bool:
    """Whether all cells of a column are values, some of which may be missing (`---`)."""
    texts = (row[column] for row in rows if column < len(row))
    cells = [text for text in texts if any(map(str.isalnum, text))]
    return (bool(cells) or or_nothing) and all(map(is_value, cells))


def _filled(row: Row) -> int:
    """Number of cells with a text of their own."""
    return sum(bool(cell) and not isinstance(cell, Across) for cell in row)


def _are_alike(cells: Sequence[str]) -> bool:
    """Whether all cells start in the same case and have no punctuation inside, as names do.

    If the rows below are words only, there is no other sign of a header.
    """
    cases = {cell[0].isupper() for cell in cells if cell[0].isalpha()}
    return len(cases) <= 1 and not any(_CLAUSE.search(cell) for cell in cells)


def _is_header(row: Row, below: Sequence[Row]) -> bool:
    cells = [cell for cell in row if cell]
    if max(map(len, cells)) > _LONGEST_NAME:
        return False
    values = sum(_is_value_above(cell, column, below) for column, cell in enumerate(row))
    if values > 0.25 * len(cells) or all(map(is_value, cells)):
        return False
    if len({cell.casefold() for cell in cells}) < 0.8 * len(cells):
        return False
    if any(is_value(cell) for other in below for cell in other):
        below = [other for other in below if list(other) != list(row)]
    elif not _are_alike(cells):
        return False
    again = sum(
        any(column < len(other) and other[column] == cell for other in below)
        for column, cell in enumerate(row)
        if cell
    )
    return again <= 0.2 * len(cells)


def _dates_numbers(cell: str, column: int, below: Sequence[Row]) -> bool:
    """Whether a date names a column of numbers: a month, a reporting date."""
    if not is_date(cell):
        return False
    cells = [row[column] for row in below if column < len(row) and row[column]]
    return bool(cells) and not any(map(is_date, cells)) and all(map(is_value, cells))
