"""JSON Schemas of payloads: validate the schema, and validate payloads against it.

Draft 2020-12, without features that make a check expensive or load external documents: references
only to the schema's own `$defs` and without cycles, patterns in linear time (RE2).
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import re2
from jsonschema import Draft202012Validator, SchemaError, ValidationError
from jsonschema.validators import extend

from api.schema.json_model import storable_json

MAX_SCHEMA_BYTES: Final = 16 * 1024
MAX_PAYLOAD_BYTES: Final = 16 * 1024
"""Bytes of JSON: a payload holds identifiers, never content."""
MAX_VALUES: Final = 1000
"""Maximum values of a payload, and subschemas of a schema with all references expanded."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_MAX_ERRORS: Final = 20
_MAX_DEPTH: Final = 32
_REFUSED: Final = ("$dynamicRef", "$recursiveRef", "$id", "patternProperties")
# Keywords that contain subschemas: one, a list of them, or an object of them by name.
_ONE: Final = (
    "items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems",
    "unevaluatedProperties", "not", "if", "then", "else",
)  # fmt: skip
_LISTED: Final = ("prefixItems", "allOf", "anyOf", "oneOf")
_NAMED: Final = ("properties", "dependentSchemas", "$defs")


@dataclass(frozen=True, slots=True)
class PayloadError:
    """An error of a payload and its location."""

    path: tuple[str, ...]
    message: str


def _pattern(_: Any, pattern: str, value: Any, __: Any) -> Iterator[ValidationError]:
    if isinstance(value, str) and not _compiled(pattern).search(value):
        yield ValidationError(f"does not match {pattern!r}")


_Validator = extend(Draft202012Validator, {"pattern": _pattern})


def validate_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Validate and return the schema; raises ValueError with the reason if it is not accepted."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"not a valid JSON Schema: {error.message} at {_place(error)}") from None
    if schema.get("$schema", _DIALECT) != _DIALECT:
        raise ValueError(f"$schema is not {_DIALECT}")
    _Subschemas(schema).count(schema)
    return schema


def limit_size(value: Any, largest: int) -> Any:
    """Make the JSON value storable. Raises ValueError above `largest` bytes or 32 levels."""
    storable = storable_json(value)
    text = json.dumps(storable, ensure_ascii=False, separators=(",", ":"))
    if len(text.encode()) > largest:
        raise ValueError(f"larger than {largest} bytes of JSON")
    return storable


def payload_errors(payload: dict[str, Any], schema: dict[str, Any]) -> list[PayloadError]:
    """The first 20 errors of a payload against the schema, without the payload's values."""
    if _values(payload) > MAX_VALUES:
        return [PayloadError((), f"has more than {MAX_VALUES} values")]
    found: dict[PayloadError, None] = {}
    try:
        for error in _Validator(schema).iter_errors(payload):
            path = tuple(str(part) for part in error.absolute_path)
            found[PayloadError(path, _message(error))] = None
            if len(found) == _MAX_ERRORS:
                break
    except OverflowError:
        # jsonschema converts integers to float if `multipleOf` is a float.
        return [PayloadError((), "has a number that is too large")]
    return list(found)


def _message(error: ValidationError) -> str:
    """What the schema requires; jsonschema's own message repeats the value, maybe a secret."""
    match error.validator:
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            return f"required fields are missing: {', '.join(missing)}"
        case "additionalProperties" | "unevaluatedProperties":
            return "has unknown fields"
        case _:
            wanted = json.dumps(error.validator_value, ensure_ascii=False)
            return f"does not satisfy {error.validator}: {wanted}"


def _values(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(_values(item) for item in value.values())
    if isinstance(value, list):
        return 1 + sum(_values(item) for item in value)
    return 1


def _place(error: SchemaError) -> str:
    return "/".join(str(part) for part in error.absolute_path) or "its root"


class _Subschemas:
    """Walks through a schema and its references, and rejects unsupported keywords."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._definitions: Mapping[str, Any] = root.get("$defs", {})
        self._count = 0

    def count(self, schema: Any, *, depth: int = 0) -> None:
        """Count each subschema every time it is reached; raises ValueError beyond a limit."""
        if not isinstance(schema, dict):
            return
        self._count += 1
        if self._count > MAX_VALUES or depth > _MAX_DEPTH:
            raise ValueError("too many subschemas, or circular references")
        for keyword, value in schema.items():
            if keyword in _REFUSED:
                raise ValueError(f"the keyword {keyword} is not supported")
            if keyword == "pattern":
                _compiled(value)
            for part in self._parts(keyword, value):
                self.count(part, depth=depth + 1)

    def _parts(self, keyword: str, value: Any) -> Iterable[Any]:
        if keyword == "$ref":
            return [self._definition(value)]
        if keyword in _ONE:
            return [value]
        if keyword in _LISTED:
            return value  # type: ignore[no-any-return]  # guaranteed by the metaschema
        return value.values() if keyword in _NAMED else ()

    def _definition(self, reference: str) -> Any:
        name = reference.removeprefix("#/$defs/")
        if name == reference or name not in self._definitions:
            raise ValueError(f"the reference {reference} is not one of the schema's own $defs")
        return self._definitions[name]


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1024 * 1024
    options.never_capture = True
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError):
        raise ValueError("a pattern is not a valid RE2 expression") from None
