"""Tells values in the cells of a table (numbers, dates, addresses) from words."""

import re
from collections.abc import Sequence

from ingest.formats.common.cells import Date, Number

Row = Sequence[str]

_NUMBER = re.compile(
    r"[-+(]?\s?[$€£¥₹]?\s?[-+]?(?:\d[\d\s.,'\u2019\u00a0\u202f]*|[.,]\d+)(?:[eE][-+]?\d+)?\)?"
    r"\s?(?:[%‰$€£¥₹]|[A-Z]{3})?|(?i:true|false)"
)
_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?Z?)?"
    r"|\d{1,2}:\d\d(?::\d\d)?"
)
_ADDRESS = re.compile(r"\S+@\S+\.\w+|https?://\S+")


def is_value(cell: str) -> bool:
    """Whether a cell is a number, amount, date, time, boolean or address, so not a column name."""
    return isinstance(cell, Number) or bool(
        _NUMBER.fullmatch(cell) or _DATE.fullmatch(cell) or _ADDRESS.fullmatch(cell)
    )


def is_date(cell: str) -> bool:
    return isinstance(cell, Date) or bool(_DATE.fullmatch(cell))


def signature(row: Row) -> tuple[bool, ...]:
    """Which cells are values."""
    return tuple(map(is_value, row))
