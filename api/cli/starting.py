"""What the start of each process of the service has in common."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from api.cli.stopping import StopRequest, stop_request
from api.logging import set_up_logging
from ingest.config import Settings, load_settings

_INTERRUPTED: Final = 130


def prepare() -> Settings:
    """The settings, with logging as they say. Raises SetupError."""
    settings = load_settings()
    set_up_logging(settings)
    # All that was imported stays until the end: it need not be searched for garbage again, which
    # takes longest at the end.
    gc.freeze()
    return settings


@contextmanager
def stoppable() -> Iterator[StopRequest]:
    """Signals under control; one that comes before the service runs ends the command quietly."""
    with stop_request() as stop:
        try:
            yield stop
        except KeyboardInterrupt:
            raise typer.Exit(_INTERRUPTED) from None
