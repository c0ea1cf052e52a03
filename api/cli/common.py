"""Helpers that several commands share: arguments, refusals, progress bars, Ctrl-C."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import typer
from rich.progress import BarColumn, Progress, TextColumn

from api.cli.client import Refused
from api.cli.output import CommandError, notes, print_error

_INTERRUPTED: Final = 130
_CANNOT: Final = 2
# Missing, or in the wrong state: other objects may still succeed. Any other error holds for all.
_ITS_OWN_FAULT: Final = (404, 409)


SOURCES: Final = "`ingest sources` shows them"
JOBS: Final = "`ingest jobs` shows them"
BATCHES: Final = "`ingest upload --json` and `ingest job show JOB` show those of upload batches"


def check_id(id: str, *, hint: str = SOURCES) -> None:
    """CommandError for an argument that is not an id; `hint` says how to find ids."""
    try:
        UUID(id)
    except ValueError:
        raise CommandError(f"{id} is not an id: {hint}") from None


def json_object(text: str | None) -> dict[str, Any] | None:
    """The value of --metadata; CommandError if it is not a JSON object."""
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
def refusals() -> Iterator[Callable[[str], AbstractContextManager[None]]]:
    """Yields a context manager to wrap around the request for each object, given its name.

    It prints an error that concerns only one object as a line, and the command goes on; the exit
    code is then 2.
    """
    refused: list[str] = []

    @contextmanager
    def attempt(name: str) -> Iterator[None]:
        try:
            yield
        except Refused as error:
            if error.status not in _ITS_OWN_FAULT:
                raise
            refused.append(name)
            print_error(f"{name}: {error}")

    yield attempt
    if refused:
        raise typer.Exit(_CANNOT)


def local_time(time: str) -> str:
    """A time from the API in the local time zone, to the second."""
    return datetime.fromisoformat(time).astimezone().strftime("%Y-%m-%d %H:%M:%S")


@contextmanager
def progress_bar(what: str, total: int | None, *columns: Any) -> Iterator[tuple[Progress, Any]]:
    """A progress bar on standard error, if that is a terminal; removed at the end."""
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
    """The exit after Ctrl-C, with a message that says what continues in the service."""
    notes().print(f"interrupted: {message}")
    return typer.Exit(_INTERRUPTED)
