"""Imports of modules that an operator names in a setting."""

from importlib import import_module
from types import ModuleType

from ingest.errors import SetupError


def import_extension(module: str, *, setting: str) -> ModuleType:
    """Import a module; raises SetupError in one line, beginning with `setting`, if that fails."""
    try:
        return import_module(module)
    except Exception as error:
        raise SetupError(f"{setting}: cannot import {module}: {one_line(error)}") from error


def one_line(error: Exception) -> str:
    """Type and message of an error."""
    return " ".join(f"{type(error).__name__}: {error}".split())
