"""JSON to a filter. What is not understood is refused, and named.

    {"metadata.year": {"gte": 2025}, "or": [{"uri": {"glob": "docs/**"}}, {"type": "url"}]}

All members of an object must hold. An operator may also be written with `$`, as in `$gte`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from uuid import UUID

from ingest.errors import IngestError
from ingest.filters import fields, globs
from ingest.filters.dates import instant
from ingest.filters.model import (
    And,
    Compares,
    Comparison,
    Exists,
    Field,
    Filter,
    IsIn,
    Kind,
    MatchesGlob,
    Not,
    Or,
    Scalar,
    StartsWith,
)

OPERATORS: Final = (
    "eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "exists", "prefix", "glob"
)  # fmt: skip
MAX_DEPTH: Final = 8
MAX_CONDITIONS: Final = 100
MAX_VALUES: Final = 1000
MAX_CHARACTERS: Final = 4096
_MAX_SHOWN: Final = 100
_GROUPS: Final = ("and", "or", "not")
_COMPARISONS: Final = ("gt", "gte", "lt", "lte")
_OPERATORS_OF: Final[Mapping[Kind, Sequence[str]]] = {
    "json": OPERATORS[:-1],
    "text": OPERATORS,
    "id": ("eq", "ne", "in", "nin"),
    "time": OPERATORS[:-2],
}


class FilterRefused(IngestError):
    """The filter is not understood. `code` is `unknown_field`, `unknown_operator` or
    `invalid_filter`; `place` leads to the part of the filter."""

    def __init__(self, message: str, *, code: str, place: Sequence[str]) -> None:
        super().__init__(message)
        self.code = code
        self.place = tuple(place)


def parse(value: Any) -> Filter | None:
    """The filter; None: an empty object, which everything passes. Raises FilterRefused."""
    if value == {}:
        return None
    return _Parser().all_of(value, (), depth=1)


def refuse_operators(metadata: Mapping[str, Any]) -> None:
    """Raise FilterRefused if a key of plain metadata looks like an operator (`$gte`)."""
    for place in _keys(metadata, ()):
        if place[-1].startswith("$"):
            raise FilterRefused(
                f"{_shown(place[-1])}: `filter.metadata` takes no operators; "
                'use `filter.where`, as in {"metadata.year": {"gte": 2025}}',
                code="unknown_operator",
                place=place,
            )


def _keys(value: Any, place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield (*place, key)
            yield from _keys(item, (*place, key))
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item, place)


def _shown(name: str) -> str:
    return name if len(name) <= _MAX_SHOWN else f"{name[:_MAX_SHOWN]}…"


def _invalid(message: str, place: Sequence[str]) -> FilterRefused:
    return FilterRefused(message, code="invalid_filter", place=place)


Place = tuple[str, ...]


@dataclass(slots=True)
class _Parser:
    conditions: int = 0
    values: int = 0

    def all_of(self, value: Any, place: Place, *, depth: int) -> Filter:
        """An object, all members of which must hold."""
        if not isinstance(value, Mapping) or not value:
            raise _invalid("expected an object with at least one member", place)
        if depth > MAX_DEPTH:
            raise _invalid(f"nested deeper than {MAX_DEPTH} levels", place)
        parts: list[Filter] = []
        for key, item in value.items():
            inside = (*place, key)
            group = key.removeprefix("$")
            if group == "not":
                parts.append(Not(self.all_of(item, inside, depth=depth + 1)))
            elif group in _GROUPS:
                if not isinstance(item, list) or not item:
                    raise _invalid(f"`{group}` takes a list of filters", inside)
                group_parts = tuple(
                    self.all_of(part, (*inside, str(n)), depth=depth + 1)
                    for n, part in enumerate(item)
                )
                parts.append(And(group_parts) if group == "and" else Or(group_parts))
            else:
                parts.extend(self._conditions(key, item, inside))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _conditions(self, name: str, value: Any, place: Place) -> Iterator[Filter]:
        if name.startswith("$"):
            raise FilterRefused(
                f"unknown operator {_shown(name)}; filters are joined by {', '.join(_GROUPS)}",
                code="unknown_operator",
                place=place,
            )
        field = _field(name, place)
        operators = value if isinstance(value, Mapping) else {"eq": value}
        if not operators:
            raise _invalid(f"`{_shown(name)}` has no operator", place)
        for key, operand in operators.items():
            inside = place if operators is not value else (*place, key)
            operator = key.removeprefix("$")
            if operator not in OPERATORS:
                raise FilterRefused(
                    f"unknown operator {_shown(key)}; there are {', '.join(OPERATORS)}",
                    code="unknown_operator",
                    place=inside,
                )
            if operator not in _OPERATORS_OF[field.kind]:
                raise _invalid(f"`{_shown(name)}` has no operator `{operator}`", inside)
            self.conditions += 1
            if self.conditions > MAX_CONDITIONS:
                raise _invalid(f"more than {MAX_CONDITIONS} conditions", inside)
            yield self._condition(field, operator, operand, inside)

    def _condition(self, field: Field, operator: str, operand: Any, place: Place) -> Filter:
        match operator:
            case "eq" | "ne":
                found: Filter = self._is_in(field, [operand], place)
                return found if operator == "eq" else Not(found)
            case "in" | "nin":
                if not isinstance(operand, list):
                    raise _invalid(f"`{operator}` takes a list of values", place)
                found = self._is_in(field, operand, place)
                return found if operator == "in" else Not(found)
            case "exists":
                if not isinstance(operand, bool):
                    raise _invalid("`exists` takes true or false", place)
                return Exists(field) if operand else Not(Exists(field))
            case "prefix" | "glob":
                return _of_text(field, operator, operand, place)
            case _:
                return _compares(field, cast(Comparison, operator), operand, place)

    def _is_in(self, field: Field, operands: Sequence[Any], place: Place) -> IsIn:
        self.values += len(operands)
        if self.values > MAX_VALUES:
            raise _invalid(f"more than {MAX_VALUES} values", place)
        of_kind = _VALUE_OF[field.kind]
        return IsIn(field, tuple(of_kind(operand, place) for operand in operands))


def _field(name: str, place: Place) -> Field:
    try:
        field = fields.find(name)
    except ValueError as error:
        raise _invalid(f"`{_shown(name)}` is not a field: {error}", place) from None
    if field is None:
        known = ", ".join([*fields.BUILT_IN, *(f"{root}.KEY" for root in fields.METADATA)])
        raise FilterRefused(
            f"unknown field `{_shown(name)}`; there are {known}", code="unknown_field", place=place
        )
    return field


def _of_text(field: Field, operator: str, operand: Any, place: Place) -> Filter:
    text = _text(operand, place)
    if operator == "prefix":
        return StartsWith(field, text)
    try:
        return MatchesGlob(field, globs.to_regex(text), re.split(r"[*?]", text)[0])
    except ValueError as error:
        raise _invalid(str(error), place) from None


def _compares(field: Field, operator: Comparison, operand: Any, place: Place) -> Compares:
    value = _VALUE_OF[field.kind](operand, place)
    if isinstance(value, bool):
        raise _invalid(f"`{operator}` takes a number, a text or a date", place)
    if field.kind == "json" and isinstance(value, str):
        value = instant(value) or value
    return Compares(field, operator, value)


def _scalar(value: Any, place: Place) -> Scalar:
    if isinstance(value, str):
        return _text(value, place)
    if isinstance(value, bool | int | float):
        return value
    if value is None:
        raise _invalid("null is no value; use `exists`", place)
    raise _invalid("expected a text, a number, true or false", place)


def _text(value: Any, place: Place) -> str:
    if not isinstance(value, str):
        raise _invalid("expected a text", place)
    if len(value) > MAX_CHARACTERS:
        raise _invalid(f"a text of more than {MAX_CHARACTERS} characters", place)
    return value


def _id(value: Any, place: Place) -> UUID:
    try:
        return UUID(_text(value, place))
    except ValueError:
        raise _invalid("expected an id", place) from None


def _time(value: Any, place: Place) -> Any:
    time = instant(_text(value, place))
    if time is None:
        raise _invalid("expected a date, as in 2026-01-31 or 2026-01-31T12:00:00Z", place)
    return time


_VALUE_OF: Final[Mapping[Kind, Callable[[Any, Place], Any]]] = {
    "json": _scalar,
    "text": _text,
    "id": _id,
    "time": _time,
}
