"""JSON of requests: camelCase, no unknown fields, nothing that cannot be stored."""

import json
import re
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

# Postgres can store neither NUL nor lone surrogates.
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_MAX_DEPTH: Final = 32
_MAX_METADATA_BYTES: Final = 64 * 1024


Whole = Annotated[int, Field(strict=True)]
"""A whole number; Python's conversions of `true` and `"3"` are off."""
Flag = Annotated[bool, Field(strict=True)]
"""`true` or `false`."""


class Body(BaseModel):
    """A request: camelCase only; an unknown field is an error."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True)


def storable(text: str) -> str:
    """The text without NUL and lone surrogates."""
    return _UNSTORABLE.sub("", text)


def storable_json(value: Any, *, depth: int = 0) -> Any:
    """Make all keys and strings of a JSON value storable.

    Raises ValueError for NaN and infinities, which jsonb cannot store, and beyond 32 levels.
    """
    if depth > _MAX_DEPTH:
        raise ValueError(f"nested deeper than {_MAX_DEPTH} levels")
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float) and value - value != 0:
        raise ValueError("NaN and infinities are not JSON")
    if isinstance(value, dict):
        return {storable(key): storable_json(item, depth=depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [storable_json(item, depth=depth + 1) for item in value]
    return value


def _storable_metadata(value: Any) -> Any:
    storable_value = storable_json(value)
    text = json.dumps(storable_value, ensure_ascii=False, separators=(",", ":"))
    if len(text.encode()) > _MAX_METADATA_BYTES:
        raise ValueError(f"larger than {_MAX_METADATA_BYTES} bytes of JSON")
    return storable_value


def _storable_if_text(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value


# Before validation, because pydantic does not accept a lone surrogate as `str`.
Text = Annotated[str, BeforeValidator(_storable_if_text)]
Metadata = Annotated[dict[str, Any], BeforeValidator(_storable_metadata)]
"""A JSON object of at most 64 KiB."""
