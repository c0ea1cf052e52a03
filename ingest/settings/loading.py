"""Reads the settings, with one clear line for a wrong one."""

from pydantic import ValidationError

from ingest.errors import SetupError
from ingest.settings.settings import Settings


def load_settings() -> Settings:
    """Read settings from the environment; SetupError, one line, names the invalid variable."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        message = first["msg"].removeprefix("Value error, ")
        raise SetupError(f"{_variable(first['loc'])}{message}") from None


def _variable(loc: tuple[int | str, ...]) -> str:
    if not loc:
        return ""
    name = str(loc[0])
    return f"{name if name.isupper() else 'INGEST_' + name.upper()}: "
