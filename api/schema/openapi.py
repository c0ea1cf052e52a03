"""The OpenAPI document: what each operation takes, and every status that it can return.

FastAPI generates it from the routes. A router or a route declares special errors with
`responses=problems(...)`; errors that follow from the inputs of an operation are added here.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

from fastapi import APIRouter, FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic.json_schema import models_json_schema

from api.authentication import APPLICATION_HEADER
from api.dependencies import RequireRole
from api.problems import MEDIA_TYPE
from api.schema.field_descriptions import add_descriptions
from ingest.store.view import View

Responses = dict[int | str, dict[str, Any]]
Operation = dict[str, Any]

DESCRIPTION: Final = """\
Turns files and web sites into searchable knowledge.

Errors are `application/problem+json`; their `code` is stable. Unknown fields and unknown query
parameters are rejected. Lists have pages: repeat the request with `nextCursor` as `cursor` until it
is null. The WebSocket `/api/ws` sends the events of knowledge sources.
"""

TAGS: Final[list[dict[str, Any]]] = [
    {"name": "upload", "description": "Add files, pages and sites"},
    {
        "name": "knowledge sources",
        "description": "What was added, with its documents and chunks",
    },
    {"name": "pages", "description": "Pictures of pages, and where chunks stand on them"},
    {"name": "crawls", "description": "Runs of pages and sites, and the outcome of each page"},
    {"name": "batches", "description": "The outcome of each file of an upload"},
    {"name": "jobs", "description": "Jobs that are queued, running or finished, and the reasons"},
    {"name": "progress", "description": "The progress of a source or an application"},
    {"name": "search", "description": "Search chunks"},
    {"name": "access", "description": "Who asks; sessions and tickets for browsers"},
    {"name": "management", "description": "Applications, keys, job types and workers"},
    {
        "name": "webhook endpoints",
        "description": "Receivers of notifications, and their deliveries",
    },
    {"name": "webhooks", "description": "Events that providers send to this service"},
    {"name": "health", "description": "Liveness, readiness and metrics; no key is needed"},
]

_STATUS_DESCRIPTIONS: Final = {
    400: "The body does not match its content type",
    401: "No valid key",
    403: "The role of the key is too low, a quota would be exceeded, or another site asks",
    404: "The object does not exist, or belongs to another application",
    409: "The request conflicts with the state of the object or with an earlier request",
    410: "The stored bytes are missing",
    413: "The body is too large",
    415: "The operation does not read bodies of this type",
    416: "The range is outside the file",
    422: "Fields or query parameters are missing, unknown or invalid",
    429: "Too many requests with this key, or too much at once",
    503: "A dependency is not available or took too long: try again",
    507: "A disk is nearly full",
}
_RETRY_AFTER: Final = {"description": "Seconds", "schema": {"type": "integer", "minimum": 0}}
_HEADERS: Final = {
    401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
    429: {"Retry-After": _RETRY_AFTER},
    503: {"Retry-After": _RETRY_AFTER},
}
_REPLAYED: Final = {
    "description": "The stored response to an earlier request with the same `Idempotency-Key`",
    "schema": {"type": "string", "enum": ["true"]},
}
_APPLICATION: Final = {
    "name": APPLICATION_HEADER,
    "in": "header",
    "required": False,
    "description": "The application, if the key is the operator key",
    "schema": {"type": "string", "format": "uuid"},
}
_KEY: Final = "Key"
_TICKET: Final = "Ticket"
_SESSION: Final = "Session"
_SECURITY_SCHEMES: Final = {
    _KEY: {"type": "http", "scheme": "bearer", "description": "An API key, or the operator key"},
    _TICKET: {
        "type": "apiKey",
        "in": "query",
        "name": "ticket",
        "description": "From POST /api/tickets, for one connection of a browser",
    },
    _SESSION: {
        "type": "apiKey",
        "in": "cookie",
        "name": "ingest",
        "description": "From POST /api/session, for pages of this origin; its name may have more. "
        "Requests that change something also need the header `X-Ingest-Csrf: 1`",
    },
}


class Problem(View):
    """RFC 9457; some problems have further members."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    """Stable name of the error."""


class FieldError(View):
    field: str
    """The location, such as `body.name` or `query.limit`."""
    message: str
    code: str


class InvalidRequest(Problem):
    errors: list[FieldError]
    """The first 20 errors; empty if the error concerns no single field."""


def _problem_response(status: int) -> dict[str, Any]:
    model = InvalidRequest if status == 422 else Problem
    refusal: dict[str, Any] = {
        "description": _STATUS_DESCRIPTIONS[status],
        "content": {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}},
    }
    if status in _HEADERS:
        refusal["headers"] = _HEADERS[status]
    return refusal


def problems(*statuses: int) -> Responses:
    """The argument `responses=` of a route: problem documents with these statuses."""
    return {status: _problem_response(status) for status in statuses}


# Error statuses of every route that needs a key. 404: X-Application-Id may name an unknown
# application.
KEYED: Final = problems(401, 404, 422, 429, 503)
OPEN: Final = problems(422)


def operation_id(route: APIRoute) -> str:
    return route.name


def install_document(app: FastAPI, *, routers: Sequence[APIRouter]) -> None:
    """Make the application serve this document. `routers`: those with routes that need keys."""
    needed = {
        (route.path_format, method.lower()): require
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
        for require in _required(route.dependant)
    }

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app, needed)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # documented by FastAPI


def _required(dependant: Dependant) -> Iterator[RequireRole]:
    for dependency in dependant.dependencies:
        if isinstance(dependency.call, RequireRole):
            yield dependency.call


def _document(app: FastAPI, needed: dict[tuple[str, str], RequireRole]) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        tags=app.openapi_tags,
    )
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            require = needed.get((path, method))
            if require is not None:
                _add_access(operation, require, is_change=method != "get")
            _complete_responses(operation)
    components = document["components"]
    components["securitySchemes"] = _SECURITY_SCHEMES
    components["schemas"].update(_problem_schemas())
    add_descriptions(components["schemas"])
    return document


def _add_access(operation: Operation, require: RequireRole, *, is_change: bool) -> None:
    """Add the required role, and the parameters and errors that follow from it."""
    role = "operator" if require.is_operator else require.role
    operation["security"] = [{_KEY: [role]}]
    if require.allow_ticket:
        operation["security"].append({_TICKET: [role]})
    if require.allow_session:
        operation["security"].append({_SESSION: [role]})
    operation.setdefault("parameters", []).append(_APPLICATION)
    responses = operation["responses"]
    if role != "viewer" or is_change:  # a change needs more than the cookie of a session
        _add_problem_responses(responses, 403)
    if "requestBody" in operation:
        _add_problem_responses(responses, 400, 413)


def _complete_responses(operation: Operation) -> None:
    responses = operation["responses"]
    if any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", ())):
        _add_problem_responses(responses, 409)
        for status in responses:
            if status.startswith("2"):
                responses[status].setdefault("headers", {})["Idempotency-Replayed"] = _REPLAYED
    for status, response in responses.items():
        if int(status) >= 400:
            # FastAPI puts the error model of a route under the media type of its success responses.
            (schema,) = response["content"].values()
            response["content"] = {MEDIA_TYPE: schema}
    operation["responses"] = dict(sorted(responses.items()))


def _add_problem_responses(responses: dict[str, Any], *statuses: int) -> None:
    for status in statuses:
        responses.setdefault(str(status), _problem_response(status))


def _problem_schemas() -> dict[str, Any]:
    _, schemas = models_json_schema(
        [(Problem, "serialization"), (InvalidRequest, "serialization")],
        ref_template="#/components/schemas/{model}",
    )
    return cast(dict[str, Any], schemas["$defs"])
