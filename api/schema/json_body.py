"""Untrusted JSON, parsed with limits: hostile input is rejected, never an internal error."""

import json
import re
from collections.abc import Iterable
from math import isinf
from typing import Any, Final

_MAX_DEPTH: Final = 100
# Numbers of this many digits always fit a double; libraries that compare numbers convert them to
# doubles.
_MAX_DIGITS: Final = 308
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


class RefusedJson(ValueError):
    """Valid JSON, but nested too deeply, or with a number that is too large or a duplicate name."""


def parse(text: str | bytes) -> Any:
    """Parse JSON. Raises RefusedJson, and ValueError for text that is not JSON."""
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text))
    try:
        value = json.loads(
            text, object_pairs_hook=_unique_names, parse_int=_integer, parse_float=_double
        )
    except RecursionError:
        if not _is_closed(text):
            raise ValueError("not valid JSON") from None
        raise _too_deep() from None
    if _depth_exceeds(value, _MAX_DEPTH):
        raise _too_deep()
    return value


def parse_field(text: Any) -> Any:
    """Parse a form field that holds JSON. Raises ValueError with a readable message."""
    try:
        return parse(text)
    except RefusedJson:
        raise
    except (ValueError, TypeError):
        raise ValueError("not valid JSON") from None


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise RefusedJson("an object contains the same name twice")
    return members


def _integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise RefusedJson("a number is too large")
    return int(digits)


def _double(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise RefusedJson("a number is too large")
    return number


def _too_deep() -> RefusedJson:
    return RefusedJson(f"nested deeper than {_MAX_DEPTH} levels")


def _is_closed(text: str) -> bool:
    """Whether all brackets are closed, which is not so in a truncated text."""
    outside = _STRING.sub("", text)
    return all(outside.count(start) == outside.count(end) for start, end in ("[]", "{}"))


def _depth_exceeds(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [inner for outer in level for inner in _inside(outer) if _is_container(inner)]
        if not level:
            return False
    return True


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _is_container(value: Any) -> bool:
    return isinstance(value, dict | list)
