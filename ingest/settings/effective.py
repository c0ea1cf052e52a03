"""The effective settings as texts that an operator may see: nothing in them is a secret."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, is_dataclass
from datetime import timedelta
from typing import Any, Final, get_args
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from ingest.redaction import redact
from ingest.settings.settings import Settings
from ingest.settings.types import InputTypes

_UNITS: Final = (("d", 86400), ("h", 3600), ("m", 60))


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveSetting:
    name: str
    """Of the environment variable."""
    value: str | None
    """As the environment variable is written; None: nothing, as if it were empty, or a secret."""
    is_set: bool
    """False: the default."""
    is_secret: bool


def effective_settings(settings: Settings) -> Iterator[EffectiveSetting]:
    """All settings, in the order of their definition.

    Of a field that `repr` leaves out, which may hold credentials, only the address is shown.
    """
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
        is_secret = _is_secret(field)
        yield EffectiveSetting(
            name=str(field.validation_alias or f"INGEST_{name.upper()}"),
            value=None if is_secret else _text(value, is_address=not field.repr),
            is_set=name in settings.model_fields_set,
            is_secret=is_secret,
        )


def _is_secret(field: FieldInfo) -> bool:
    return SecretStr in (field.annotation, *get_args(field.annotation))


def _text(value: Any, *, is_address: bool) -> str | None:
    text = _written(value)
    if not text:
        return None
    return without_credentials(text) if is_address else redact(text)


def _written(value: Any) -> str:
    """As in the environment variable (ingest/settings/types.py)."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case timedelta():
            return _duration(value)
        case InputTypes():
            return f"{value.field}={value.query},{value.passage}"
        case tuple():
            parts = (
                ":".join(map(str, part)) if isinstance(part, tuple) else part for part in value
            )
            return ",".join(map(str, parts))
    if is_dataclass(value) and not isinstance(value, type):
        return ",".join(f"{to_camel(name)}:{number}" for name, number in asdict(value).items())
    return str(value)


def _duration(value: timedelta) -> str:
    seconds = value.total_seconds()
    for unit, length in _UNITS:
        if seconds and seconds % length == 0:
            return f"{seconds / length:.0f}{unit}"
    return f"{seconds:g}s"


def without_credentials(url: str) -> str:
    """Without user, query and fragment."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
