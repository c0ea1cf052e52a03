"""Text fields of a multipart form that also contains files."""

from collections.abc import AsyncIterator, Mapping
from typing import Final, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from api.problems import BodyTooLarge
from api.schema.json_model import Body
from api.upload import paths
from api.upload.multipart import Token

F = TypeVar("F", bound=Body)

MAX_FIELD_BYTES: Final = 64 * 1024
# Characters of an unknown or repeated name that are reported.
_MAX_NAME_SHOWN: Final = 200


def field_names(model: type[Body]) -> frozenset[str]:
    """The names that the fields of a model have in a form."""
    return frozenset(field.alias or name for name, field in model.model_fields.items())


async def read_field(name: str, tokens: AsyncIterator[Token]) -> str:
    """Read the text of a field, up to the end of its part. Raises BodyTooLarge."""
    value = bytearray()
    async for token in tokens:
        if not isinstance(token, bytes):
            break
        value += token
        if len(value) > MAX_FIELD_BYTES:
            raise BodyTooLarge(f"the field {name} is longer than {MAX_FIELD_BYTES} bytes")
    return value.decode("utf-8", "replace")


def parse_fields(model: type[F], given: Mapping[str, str]) -> F:
    """Validate the fields. An empty field counts as missing, since HTML forms send all fields."""
    try:
        return model.model_validate({name: text for name, text in given.items() if text})
    except ValidationError as error:
        errors = [{**item, "loc": ("body", *item["loc"])} for item in error.errors()]
        raise RequestValidationError(errors) from None


def unknown_field(name: str, message: str) -> RequestValidationError:
    return _invalid(name, "extra_forbidden", message)


def repeated_field(name: str, message: str) -> RequestValidationError:
    return _invalid(name, "repeated", message)


def _invalid(name: str, kind: str, message: str) -> RequestValidationError:
    loc = ("body", paths.visible(name)[:_MAX_NAME_SHOWN])
    return RequestValidationError([{"type": kind, "loc": loc, "msg": message}])
