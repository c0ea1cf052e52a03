"""Read JSON that may have been edited by hand: invalid values count as missing."""

from typing import Any


def positive_integer(value: Any) -> int | None:
    # JSON's `true` is an `int` to Python.
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    return None
