"""Formats the cells of workbooks as spreadsheet programs show them.

The classes tell apart cells whose texts do not: `5 kg` may be typed, or a number with a format.
"""

import datetime as dt
import re
from typing import Any

from ingest.formats.common.links import can_be_linked, link, web_address

_MIDNIGHT = dt.time()
_CONTROLS = re.compile("[\x80-\x9f]")
_WINDOWS = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}
_EXACT = 2.0**53  # beyond this, floats skip integers


class Number(str):
    """The text of a number or amount."""

    __slots__ = ()


class Date(Number):
    """The text of a date or time."""

    __slots__ = ()


class Across(str):
    """The text of a merged cell, again in a column to its right: for headers only."""

    __slots__ = ()


class Linked(str):
    """The text of a cell that links to an address. Names of columns are written without it."""

    __slots__ = ("markdown",)
    markdown: str

    @classmethod
    def to(cls, text: str, address: str) -> str:
        """The text itself if it says the address. A number or date stays one.

        A number never says an address, even if it is part of it: the number of a ticket.
        """
        known = web_address(address)
        is_number = isinstance(text, Number) and known and can_be_linked(text)
        markdown = f"[{text}]({known})" if is_number else link(text, known)
        if markdown == text:
            return text
        kind = _LinkedDate if isinstance(text, Date) else _LinkedNumber
        linked = (kind if isinstance(text, Number) else cls)(text)
        linked.markdown = markdown
        return linked


class _LinkedNumber(Linked, Number):
    __slots__ = ()


class _LinkedDate(Linked, Date):
    __slots__ = ()


def written(cell: str) -> str:
    """The cell as it is written where it is no name."""
    return cell.markdown if isinstance(cell, Linked) else cell


def cell_text(value: Any) -> str:
    """One line; empty for an empty cell.

    Some programs write characters of Windows-1252 as if they had its codes in Unicode, where those
    are control characters.
    """
    if isinstance(value, str):
        if not value.isascii() and _CONTROLS.search(value):
            value = value.translate(_WINDOWS)
        return " ".join(value.split())
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, dt.datetime):
        return date_text(value)
    if isinstance(value, dt.time):
        return value.isoformat("seconds" if value.second else "minutes")
    if isinstance(value, dt.timedelta):
        return _duration(value)
    return "" if value is None else str(value)


def number_text(value: float) -> str:
    """As spreadsheets show it: whole without a point, with all digits; others with 15: `1E-07`."""
    if value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    text = f"{value:.15g}"
    return text.upper() if "e" in text else text


def date_text(value: dt.datetime) -> str:
    """ISO 8601; without the time if that is midnight."""
    if value.time() == _MIDNIGHT:
        return value.date().isoformat()
    return value.isoformat(" ", "seconds" if value.second else "minutes")


def _duration(value: dt.timedelta) -> str:
    """`H:MM:SS`; hours may exceed 24: 25:30:00."""
    seconds = round(abs(value.total_seconds()))
    sign = "-" if value < dt.timedelta() else ""
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
