"""The filter of a search, as a tree. Built by parse(); `ne` and `nin` have become Not."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias
from uuid import UUID

Scalar: TypeAlias = str | bool | int | float
Comparison = Literal["gt", "gte", "lt", "lte"]
Kind = Literal["json", "text", "id", "time"]
"""What a field has: any JSON value, or a value of one type."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a document or its source."""

    name: str
    """`metadata` (of the source), `document` (the document's own metadata), or a built-in field."""
    kind: Kind
    path: tuple[str, ...] = ()
    """The keys inside of `metadata` or `document`."""


@dataclass(frozen=True, slots=True)
class IsIn:
    """The field, or a member of its list, is one of these values."""

    field: Field
    values: Sequence[Scalar] | Sequence[UUID] | Sequence[datetime]


@dataclass(frozen=True, slots=True)
class Compares:
    """The field, or a member of its list, is greater or less than a value of the same type."""

    field: Field
    operator: Comparison
    value: str | int | float | datetime


@dataclass(frozen=True, slots=True)
class StartsWith:
    field: Field
    prefix: str


@dataclass(frozen=True, slots=True)
class MatchesGlob:
    field: Field
    regex: str
    prefix: str
    """What every match begins with."""


@dataclass(frozen=True, slots=True)
class Exists:
    """The field is neither missing, null nor an empty list."""

    field: Field


@dataclass(frozen=True, slots=True)
class And:
    parts: "tuple[Filter, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    parts: "tuple[Filter, ...]"


@dataclass(frozen=True, slots=True)
class Not:
    """Everything that `part` leaves out, also what lacks the field."""

    part: "Filter"


Filter: TypeAlias = IsIn | Compares | StartsWith | MatchesGlob | Exists | And | Or | Not
