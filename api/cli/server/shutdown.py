"""SIGINT and SIGTERM: the first one asks the process to stop, the second one exits at once.

A process whose parent limits the time of a stop ignores the second one: systemd signals all
processes of a service, and then its parent signals it too.

Exiting at once is safe: the kernel ends the embedded Postgres with the process, which keeps all
committed data, and another worker takes over the jobs.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """The action of the first signal: KeyboardInterrupt, until `on_stop` sets another one."""

    def __init__(self, *, repeats_exit: bool = True) -> None:
        self._repeats_exit = repeats_exit
        self._action: Callable[[], None] = _interrupt
        self._was_requested = False

    def on_stop(self, action: Callable[[], None]) -> None:
        """Set the action; it runs in the main thread, possibly between any two lines of it."""
        self._action = action

    def handle(self, number: int, _frame: FrameType | None) -> None:
        if self._was_requested:
            if self._repeats_exit:
                os._exit(128 + number)
            return
        self._was_requested = True
        self._action()


def _interrupt() -> None:
    raise KeyboardInterrupt


@contextmanager
def stop_request(*, repeats_exit: bool = True) -> Iterator[StopRequest]:
    """Handle both signals. Only in the main thread.

    `repeats_exit`: whether the second signal exits at once; else it does nothing.
    """
    request = StopRequest(repeats_exit=repeats_exit)
    before = {number: signal.signal(number, request.handle) for number in _SIGNALS}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
