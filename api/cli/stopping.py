"""SIGINT and SIGTERM: the first one asks to stop, the second one ends the process at once.

At once is safe: the kernel ends the embedded Postgres with us, which keeps what was committed, and
another worker takes over the jobs.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """What the first signal does: interrupt whatever runs, until `instead` names something else."""

    def __init__(self) -> None:
        self._ask: Callable[[], None] = _interrupt
        self._was_asked = False

    def instead(self, ask: Callable[[], None]) -> None:
        """`ask` is called in the main thread, perhaps between any two lines of it."""
        self._ask = ask

    def handle(self, number: int, _frame: FrameType | None) -> None:
        if self._was_asked:
            os._exit(128 + number)
        self._was_asked = True
        self._ask()


def _interrupt() -> None:
    raise KeyboardInterrupt


@contextmanager
def stop_request() -> Iterator[StopRequest]:
    """Take over both signals. Only in the main thread."""
    request = StopRequest()
    before = {number: signal.signal(number, request.handle) for number in _SIGNALS}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
