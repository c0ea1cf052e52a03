"""How JSON, JSON Lines and notebooks are recognised: suffixes and media types."""

from ingest.formats import media_types as types
from ingest.formats.declaration import Format

FORMATS: tuple[Format, ...] = (
    Format(
        media_type=types.JSON,
        label="a JSON file",
        suffixes=".json .geojson .webmanifest",
        reader="ingest.formats.json.document",
        aliases=("text/json",),
        is_text=True,
        related=frozenset({types.NOTEBOOK, types.JSON_LINES}),
    ),
    Format(
        media_type=types.JSON_LINES,
        label="a JSON Lines file",
        suffixes=".jsonl .ndjson",
        reader="ingest.formats.json.document",
        aliases=(
            "application/jsonl",
            "application/jsonlines",
            "application/x-jsonlines",
            "application/x-json-stream",
        ),
        is_text=True,
        related=frozenset({types.JSON, types.NOTEBOOK}),
    ),
    Format(
        media_type=types.NOTEBOOK,
        label="a notebook",
        suffixes=".ipynb",
        reader="ingest.formats.json.notebook",
        is_text=True,
        related=frozenset({types.JSON, types.JSON_LINES}),
    ),
)
