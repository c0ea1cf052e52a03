"""The clock of the process, which tests put forward instead of waiting."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest


class MovableClock:
    """`time.monotonic`, by which the event loop and the code under test measure waits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._of_the_machine: Callable[[], float] = time.monotonic
        self._ahead = 0.0
        monkeypatch.setattr(time, "monotonic", self.now)

    def now(self) -> float:
        return self._of_the_machine() + self._ahead

    def forward(self, seconds: float) -> None:
        """Wakes whoever waits for a moment within the next `seconds`."""
        self._ahead += seconds

    def stop(self) -> None:
        """From now on it moves only when it is put forward."""
        stopped = self._of_the_machine()
        self._of_the_machine = lambda: stopped

    def skip_waits(self) -> None:
        """From now on time passes only, and at once, when all tasks wait for a time.

        Not for tests that wait for threads, processes or sockets.
        """
        self.stop()
        selector: Any = asyncio.get_running_loop()._selector  # type: ignore[attr-defined]
        select = selector.select

        def skip(timeout: float | None = None) -> Any:
            if timeout is None:
                return select(None)
            ready = select(0)
            if not ready:
                self.forward(timeout)
            return ready

        self._monkeypatch.setattr(selector, "select", skip)
