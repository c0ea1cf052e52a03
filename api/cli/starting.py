"""What the start of each process of the service has in common."""

import asyncio
import gc
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final

import typer
import uvloop

from api.cli.stopping import StopRequest, stop_request
from api.logging import set_up_logging
from ingest.settings.settings import Settings, load_settings

_INTERRUPTED: Final = 130


def prepare() -> Settings:
    """The settings, with logging as they say. Raises SetupError."""
    settings = load_settings()
    set_up_logging(settings)
    # All that was imported stays until the end: it need not be searched for garbage again, which
    # takes longest at the end.
    gc.freeze()
    return settings


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run until it returns, in the event loop that costs least."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main)


@contextmanager
def stoppable() -> Iterator[StopRequest]:
    """Signals under control; one that comes before the service runs ends the command quietly."""
    with stop_request() as stop:
        try:
            yield stop
        except KeyboardInterrupt:
            raise typer.Exit(_INTERRUPTED) from None
