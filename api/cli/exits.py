"""Exit codes, and the ways to end a command early."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

import typer

from api.cli.client.http_client import ServiceError
from api.cli.output import notes, print_error

FAILED: Final = 1
"""The command ran, but a file, page or job failed; also after an unexpected error."""
CANNOT_CONTINUE: Final = 2
INTERRUPTED: Final = 130

# Only this object is missing or in the wrong state. Any other error would affect all objects.
_CONCERNS_ONE_OBJECT: Final = (404, 409)


@contextmanager
def continue_on_error() -> Iterator[Callable[[str], AbstractContextManager[None]]]:
    """Yields a context manager to wrap around the request for each object, given its name.

    It prints an error that concerns only one object as a line, and the command continues; the exit
    code is then 2.
    """
    refused: list[str] = []

    @contextmanager
    def attempt(name: str) -> Iterator[None]:
        try:
            yield
        except ServiceError as error:
            if error.status not in _CONCERNS_ONE_OBJECT:
                raise
            refused.append(name)
            print_error(f"{name}: {error}")

    yield attempt
    if refused:
        raise typer.Exit(CANNOT_CONTINUE)


def interrupted(message: str) -> typer.Exit:
    """The exit after Ctrl-C, with a message that says what continues in the service."""
    notes().print(f"interrupted: {message}")
    return typer.Exit(INTERRUPTED)
