"""JSON that somebody may have written by hand: what is not as it should be counts as missing."""

from typing import Any


def positive_integer(value: Any) -> int | None:
    # JSON's `true` is an `int` to Python.
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    return None
