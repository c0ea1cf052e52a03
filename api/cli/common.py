"""What several commands share: reading their arguments, showing that they go on, being left."""

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
# It is not there, or its state forbids it: others may do better. Anything else holds for all.
_ITS_OWN_FAULT: Final = (404, 409)


SOURCES: Final = "`ingest sources` shows them"
JOBS: Final = "`ingest jobs` shows them"
BATCHES: Final = "`ingest upload --json` and `ingest job show JOB` show those of upload batches"


def check_id(id: str, *, hint: str = SOURCES) -> None:
    """CommandError for an argument that is no id; `hint` says where ids are to be seen."""
    try:
        UUID(id)
    except ValueError:
        raise CommandError(f"{id} is not an id: {hint}") from None


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
def refusals() -> Iterator[Callable[[str], AbstractContextManager[None]]]:
    """Gives what to wrap around the request for each of several objects, by their names.

    What the service refuses for an object's own sake is told in a line and ends nothing; the exit
    code is 2 if there was any.
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
    """A time of the API on the clock of this machine, to the second."""
    return datetime.fromisoformat(time).astimezone().strftime("%Y-%m-%d %H:%M:%S")


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
