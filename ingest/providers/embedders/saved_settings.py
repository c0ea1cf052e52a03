"""The settings that decide an embedder, as stored with its model, to build it again after a change.

No key and no URL: those of the current settings are used.
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from ingest.errors import SetupError
from ingest.settings.settings import Settings
from ingest.settings.types import InputTypes

_OF_PROVIDER: Final[Mapping[str, tuple[str, ...]]] = {
    "openai": (
        "embedding_model",
        "embedding_dimensions",
        "embedding_query_prefix",
        "embedding_passage_prefix",
        "embedding_input_types",
    ),
    "onnx": ("embedding_folder", "embedding_query_prefix", "embedding_passage_prefix"),
}
_BUILT_IN: Final = ("local", "multilingual", "static")


def embedder_config(settings: Settings) -> dict[str, Any]:
    """The settings of the current embedder, as JSON."""
    embedder = settings.embedding_provider
    config: dict[str, Any] = {"embedder": embedder}
    for name in _OF_PROVIDER.get(embedder, ()):
        value = getattr(settings, name)
        if isinstance(value, InputTypes):
            value = asdict(value)
        elif isinstance(value, Path):
            value = str(value.absolute())
        if value is not None:
            config[name] = value
    return config


def settings_of_model(settings: Settings, *, provider: str, config: Mapping[str, Any]) -> Settings:
    """The current settings with those of a model.

    Raises SetupError if it is not known how its embedder was built.
    """
    if not config and provider in _BUILT_IN:
        config = {"embedder": provider}  # registered by an earlier version
    embedder = config.get("embedder")
    if embedder is None:
        raise SetupError(f"the settings of the embedder {provider} are not known")
    values: dict[str, Any] = {"embedder": embedder}
    for name in _OF_PROVIDER.get(embedder, ()):
        value = config.get(name)
        if name == "embedding_input_types" and value is not None:
            value = InputTypes(**value)
        elif name == "embedding_folder" and value is not None:
            value = Path(value)
        values[name] = value
    return settings.model_copy(update=values)
