"""Unknown query parameters are rejected, like unknown fields of a body."""

from collections.abc import Collection, Iterator
from typing import Any, Final

from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.requests import HTTPConnection
from pydantic import BaseModel

from api.dependencies import RequireRole

TICKET: Final = "ticket"


async def reject_unknown_query(connection: HTTPConnection) -> None:
    """Dependency of all routes: raises RequestValidationError for unknown parameters.

    It runs before authentication: a mistyped parameter consumes no ticket.
    """
    if connection.query_params:
        known = frozenset(_read_by(connection.scope["route"].dependant))
        errors = unknown_parameters(connection, known)
        if errors:
            raise RequestValidationError(errors)


def unknown_parameters(connection: HTTPConnection, known: Collection[str]) -> list[dict[str, Any]]:
    """The unknown query parameters, as validation errors."""
    return [
        {"type": "extra_forbidden", "loc": ("query", name), "msg": "unknown query parameter"}
        for name in dict.fromkeys(connection.query_params)
        if name not in known
    ]


def _read_by(dependant: Dependant) -> Iterator[str]:
    for field in dependant.query_params:
        model = field.field_info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            yield from (info.alias or name for name, info in model.model_fields.items())
        else:
            yield field.alias
    if isinstance(dependant.call, RequireRole) and dependant.call.allow_ticket:
        yield TICKET
    for dependency in dependant.dependencies:
        yield from _read_by(dependency)
