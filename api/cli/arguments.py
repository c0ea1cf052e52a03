"""Arguments and options that several commands share."""

import json
from typing import Annotated, Any, Final
from uuid import UUID

import typer

from api.cli.output import CommandError

JsonLines = Annotated[bool, typer.Option("--json", help="Print one JSON object per line")]
JsonDocument = Annotated[bool, typer.Option("--json", help="Print one JSON document")]
Batch = Annotated[str | None, typer.Option(help="Only this upload batch (id)")]
Source = Annotated[str | None, typer.Option(help="Only this knowledge source (id)")]
Collection = Annotated[str | None, typer.Option(help="Only sources in this collection (id)")]
Joined = Annotated[str | None, typer.Option("--collection", help="Collection to join (id)")]
Limit = Annotated[int, typer.Option(min=1, help="Maximum number of results")]

SOURCES: Final = "`ingest sources` lists ids"
COLLECTIONS: Final = "`ingest collections` lists ids"
JOBS: Final = "`ingest jobs` lists ids"
BATCHES: Final = "`ingest upload --json` and `ingest job show JOB` print ids of upload batches"


def check_id(id: str | None, *, hint: str = SOURCES) -> None:
    """Raises CommandError for a given argument that is not an id; `hint` says how to find ids."""
    if id is None:
        return
    try:
        UUID(id)
    except ValueError:
        raise CommandError(f"{id} is not an id: {hint}") from None


def json_object(text: str | None, *, option: str = "--metadata") -> dict[str, Any] | None:
    """Parse the value of an option; raises CommandError if it is not a JSON object."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise CommandError(f"{option} is not a JSON object")
    return value
