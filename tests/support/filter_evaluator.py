"""What a filter lets pass, worked out in Python from its JSON and the rules in docs/api.md."""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from ingest.filters.dates import instant

TIMES: Final = ("createdAt", "updatedAt", "publishedAt")
_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}


def passes(filter: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """`record`: `metadata` and `document` as JSON, and built-in fields; None: it is missing."""
    return all(_member(key, value, record) for key, value in filter.items())


def _member(key: str, value: Any, record: Mapping[str, Any]) -> bool:
    match key.removeprefix("$"):
        case "and":
            return all(passes(part, record) for part in value)
        case "or":
            return any(passes(part, record) for part in value)
        case "not":
            return not passes(value, record)
        case name:
            conditions = value if isinstance(value, dict) else {"eq": value}
            found = list(_values(name, record))
            return all(
                _holds(op.removeprefix("$"), operand, found, is_time=name in TIMES)
                for op, operand in conditions.items()
            )


def _values(name: str, record: Mapping[str, Any]) -> Iterator[Any]:
    """The values of a field; the members of a list are values, also of a list in a list."""
    root, _, path = name.partition(".")
    values = [record[root]]
    for plain, quoted in re.findall(r'([^."]+)|"((?:[^"]|"")+)"', path):
        key = plain or quoted.replace('""', '"')
        values = [item[key] for item in _flat(values) if isinstance(item, dict) and key in item]
    for value in _flat(_flat(values)) if path else values:
        if value is not None:
            yield value


def _flat(values: Sequence[Any]) -> list[Any]:
    return [item for value in values for item in (value if isinstance(value, list) else [value])]


def _holds(op: str, operand: Any, found: Sequence[Any], *, is_time: bool) -> bool:
    match op:
        case "eq":
            return any(_equal(value, operand, is_time=is_time) for value in found)
        case "in":
            return any(_holds("eq", item, found, is_time=is_time) for item in operand)
        case "ne" | "nin":
            opposite = {"ne": "eq", "nin": "in"}[op]
            return not _holds(opposite, operand, found, is_time=is_time)
        case "exists":
            return bool(found) is operand
        case "prefix":
            return any(isinstance(value, str) and value.startswith(operand) for value in found)
        case "glob":
            return any(re.fullmatch(_glob(operand), value, re.DOTALL) for value in found)
        case _:
            return any(_compares(op, value, operand) for value in found)


def _equal(value: Any, operand: Any, *, is_time: bool) -> bool:
    if is_time:
        return bool(value == instant(operand))
    return type_of(value) == type_of(operand) and bool(_plain(value) == _plain(operand))


def _compares(op: str, value: Any, operand: Any) -> bool:
    if isinstance(operand, str) and (time := instant(operand)):
        stored = value if isinstance(value, datetime) else None
        if isinstance(value, str):
            stored = instant(value)
        return stored is not None and _COMPARE[op](stored, time)
    same = type_of(value) == type_of(operand)
    return same and _COMPARE[op](_plain(value), _plain(operand))


def type_of(value: Any) -> str:
    kinds = {bool: "boolean", int: "number", float: "number", str: "text"}
    return kinds.get(type(value), "other")


def _plain(value: Any) -> Any:
    """Numbers as JSON writes them: Postgres compares their digits."""
    return Decimal(repr(value)) if type_of(value) == "number" else value


def _glob(pattern: str) -> str:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    wild = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(wild.get(part, re.escape(part)) for part in parts)
