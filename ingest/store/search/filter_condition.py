"""Filters as conditions of SQL statements: fragments of filters.sql, and a parameter per value."""

import json
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from psycopg import sql

from ingest.filters.model import (
    And,
    Compares,
    Exists,
    Field,
    Filter,
    IsIn,
    MatchesGlob,
    Not,
    Or,
    StartsWith,
)
from ingest.postgres.database import load_queries

_SQL: Final = load_queries("search/filters.sql")
_INDEXED_CHARACTERS: Final = 100
_GREATEST: Final = "\U0010ffff"
_SYMBOLS: Final = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


class Condition:
    """Builds a condition and collects its parameters."""

    def __init__(self, *, visible_in: Sequence[UUID] | None = None) -> None:
        """`visible_in`: the collections that the caller may see; None: everything."""
        self.parameters: dict[str, Any] = {}
        self._visible_in = visible_in

    def of(self, filter: Filter) -> sql.Composable:
        match filter:
            case And(parts) | Or(parts):
                joined = " and " if isinstance(filter, And) else " or "
                return fill("all", parts=sql.SQL(joined).join([self.of(part) for part in parts]))
            case Not(part):
                return fill("none", part=self.of(part))
            case IsIn(Field(name="collectionId"), values):
                visible = self._visible_in
                ids = [id for id in values if visible is None or id in visible]
                return fill("in_collections", value=self.value(ids))
            case _ if filter.field.kind == "json":
                return self._of_json(filter)
            case _:
                return self._of_column(filter)

    def value(self, value: Any) -> sql.Placeholder:
        name = f"filter_{len(self.parameters)}"
        self.parameters[name] = value
        return sql.Placeholder(name)

    def _of_column(
        self, filter: IsIn | Compares | StartsWith | MatchesGlob | Exists
    ) -> sql.Composable:
        field = fill(f"field_{filter.field.name}")
        match filter:
            case IsIn(values=values):
                return fill("is_in", field=field, value=self.value(list(values)))
            case Compares(operator=operator, value=value):
                kind = "compares_text" if isinstance(value, str) else "compares"
                return fill(kind, field=field, operator=_symbol(operator), value=self.value(value))
            case StartsWith(prefix=prefix):
                condition = fill("starts_with", field=field, value=self.value(prefix))
                return self._in_folder(filter.field, prefix, condition)
            case MatchesGlob(regex=regex, prefix=prefix):
                condition = fill("matches_regex", field=field, value=self.value(regex))
                return self._in_folder(filter.field, prefix, condition)
            case Exists():
                return fill("exists", field=field)

    def _in_folder(self, field: Field, prefix: str, condition: sql.Composable) -> sql.Composable:
        """The condition, and one that the index of paths serves."""
        if field.name != "uri" or not prefix:
            return condition
        first = prefix[:_INDEXED_CHARACTERS]
        folder = fill(
            "starts_like_uri", first=self.value(first), last=self.value(first + _GREATEST)
        )
        return fill("all", parts=sql.SQL(" and ").join([folder, condition]))

    def _of_json(
        self, filter: IsIn | Compares | StartsWith | MatchesGlob | Exists
    ) -> sql.Composable:
        field, path = fill(f"field_{filter.field.name}"), _path(filter.field)
        match filter:
            case IsIn(values=values):
                test = " || ".join(f"@ == {_literal(value)}" for value in values) or "1 == 2"
            case Compares(operator=operator, value=value):
                if not isinstance(value, str | int | float):
                    return fill(
                        "json_compares_time",
                        field=field,
                        path=self.value(f"{path}[*][*]"),
                        operator=_symbol(operator),
                        value=self.value(value),
                    )
                test = f"@ {_SYMBOLS[operator]} {_literal(value)}"
            case StartsWith(prefix=prefix):
                test = f"@ starts with {_literal(prefix)}"
            case Exists():
                test = "@ != null"
            case MatchesGlob():
                raise TypeError("no JSON value is matched by a glob")
        return fill("json_matches", field=field, path=self.value(f"{path} ? ({test})"))


def fill(name: str, **parts: sql.Composable) -> sql.Composable:
    """A fragment of filters.sql with its parts."""
    return sql.SQL(_SQL[name].decode()).format(**parts)


def _symbol(operator: str) -> sql.SQL:
    return sql.SQL(_SYMBOLS[operator])


def _path(field: Field) -> str:
    return "$" + "".join(f".{_literal(key)}" for key in field.path)


def _literal(value: object) -> str:
    """A value in a jsonpath, where strings and numbers are written as in JSON."""
    return json.dumps(value)
