"""Errors as `application/problem+json` (RFC 9457), and the errors that only the API raises.

IngestError
└── ApiError(code)
    ├── Unauthorized         no key, or one that is not valid
    ├── Forbidden            the key's role is too low
    ├── Malformed            the body does not match its content type
    ├── UnsupportedMedia     a content type that the route does not read
    ├── BodyTooLarge         more bytes than the route accepts
    ├── RateLimited          more requests than a key may send
    ├── InsufficientStorage  a disk is nearly full
    └── NotConfigured        the installation lacks a setting that the route needs

FieldRejected is a Rejected (ingest/errors.py) that names the field.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from math import ceil
from typing import Any, Final

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from ingest.errors import IngestError, Rejected

MEDIA_TYPE: Final = "application/problem+json"
MAX_FIELD_ERRORS: Final = 20
# Characters kept of each part of a location, and of a message.
_MAX_CHARACTERS: Final = 200


class ApiError(IngestError):
    """Root of the errors raised by the API itself; api/main.py maps them to a status."""

    code = "invalid_request"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code or type(self).code


class Unauthorized(ApiError):
    """No key, an unknown one or a revoked one; the response does not tell which."""

    code = "unauthorized"


class Forbidden(ApiError):
    """The key is valid, but its role does not allow this."""

    code = "forbidden"


class Malformed(ApiError):
    """The body does not match its content type."""

    code = "malformed_body"


class UnsupportedMedia(ApiError):
    """The route does not read bodies of this type."""

    code = "unsupported_media_type"


class BodyTooLarge(ApiError):
    """The request has more bytes than the route accepts."""

    code = "too_large"


class RateLimited(ApiError):
    """The key has sent too many requests; it may send again after `retry_after`."""

    code = "rate_limited"

    def __init__(self, message: str, *, retry_after: timedelta) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class InsufficientStorage(ApiError):
    """A disk has less free space than the reserve, which is kept for jobs."""

    code = "insufficient_storage"


class NotConfigured(ApiError):
    """The operator must configure something before the route can be used."""


class FieldRejected(Rejected):
    """A field of the request has the right type but an unacceptable value."""

    def __init__(self, message: str, *, loc: Sequence[str], code: str = "invalid_request") -> None:
        super().__init__(message, code=code)
        kind = "value_error" if code == "invalid_request" else code
        self.errors = field_errors([{"loc": loc, "msg": message, "type": kind}])


def problem(
    status: int,
    *,
    code: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    **extra: Any,
) -> JSONResponse:
    """A problem document; `extra` become members of it. Every 422 has `errors`."""
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        extra.setdefault("errors", [])
    phrase = HTTPStatus(status).phrase
    content = {
        "type": "about:blank",
        "title": phrase,
        "status": status,
        "detail": detail,
        "code": code,
        **extra,
    }
    return JSONResponse(content, status_code=status, headers=headers, media_type=MEDIA_TYPE)


def retry_after(wait: timedelta) -> dict[str, str]:
    """The Retry-After header, in whole seconds."""
    return {"Retry-After": str(ceil(wait.total_seconds()))}


def validation_problem(errors: Sequence[Mapping[str, Any]]) -> JSONResponse:
    """The response to a request with invalid fields."""
    detail = "the request has missing, unknown or invalid fields"
    more = len(errors) - MAX_FIELD_ERRORS
    if more > 0:
        detail += f"; {more} more errors are not shown"
    return problem(422, code="invalid_request", detail=detail, errors=field_errors(errors))


def shorten(text: str, length: int) -> str:
    """The text, or its beginning and `…`, in `length` characters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def is_broken_json(error: RequestValidationError) -> bool:
    """Whether the body could not be parsed, as opposed to wrong content."""
    return any(item["type"] == "json_invalid" for item in error.errors())


def field_errors(errors: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The first 20 errors, without the input: it may hold a secret or be huge.

    Field names come from the client too, so locations and messages are shortened.
    """
    return [
        {
            "field": ".".join(shorten(str(part), _MAX_CHARACTERS) for part in item["loc"]),
            # Our validators write whole sentences; pydantic adds the prefix.
            "message": shorten(str(item["msg"]).removeprefix("Value error, "), _MAX_CHARACTERS),
            "code": str(item["type"]),
        }
        for item in errors[:MAX_FIELD_ERRORS]
    ]
