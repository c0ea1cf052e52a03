"""What all processes of the service do at the start: settings, logging, signals, event loop."""

import asyncio
import gc
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import typer
import uvloop
from psycopg.errors import InsufficientPrivilege

from api.cli.exits import INTERRUPTED
from api.cli.server.shutdown import StopRequest, stop_request
from api.logging import set_up_logging
from ingest.postgres.server_check import lacks_right
from ingest.settings.loading import load_settings
from ingest.settings.private_folder import keep_private
from ingest.settings.settings import Settings


def prepare() -> Settings:
    """Load the settings, set up logging, close the data folder. Raises SetupError."""
    settings = load_settings()
    set_up_logging(settings)
    keep_private(settings.data_dir)
    # Imported modules stay until the end: the garbage collector need not scan them again, which
    # takes longest at exit.
    gc.freeze()
    # Jobs and requests make thousands of objects, few of them in cycles. Looking for cycles after
    # every 700, as is usual, takes a fifth of the time of short jobs.
    gc.set_threshold(10_000)
    return settings


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run the coroutine on uvloop, which has less overhead than asyncio's own loop.

    Raises SetupError if the role of the database may not do what the service does.
    """
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(main)
    except InsufficientPrivilege as error:
        raise lacks_right(error) from None


@contextmanager
def handle_signals(*, repeats_exit: bool = True) -> Iterator[StopRequest]:
    """Handle signals; one that comes before the service runs ends the command quietly."""
    with stop_request(repeats_exit=repeats_exit) as stop:
        try:
            yield stop
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
