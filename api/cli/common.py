"""What several commands share: reading their arguments, showing that they go on, being left."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from uuid import UUID

import typer
from rich.progress import BarColumn, Progress, TextColumn

from api.cli.output import CommandError, notes

_INTERRUPTED: Final = 130


def check_id(id: str) -> None:
    """CommandError for an argument that is no id."""
    try:
        UUID(id)
    except ValueError:
        raise CommandError(f"{id} is not an id: `ingest sources` shows them") from None


def json_object(text: str | None) -> dict[str, Any] | None:
    """The value of --metadata; CommandError for what is no JSON object."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise CommandError("--metadata is not a JSON object")
    return value


@contextmanager
def progress_bar(what: str, total: int | None, *columns: Any) -> Iterator[tuple[Progress, Any]]:
    """A bar on standard error, if that is a terminal; gone when its work is done."""
    console = notes()
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with progress:
        yield progress, progress.add_task(what, total=total)


def interrupted(message: str) -> typer.Exit:
    """The end after Ctrl-C, saying what goes on without us."""
    notes().print(f"interrupted: {message}")
    return typer.Exit(_INTERRUPTED)
