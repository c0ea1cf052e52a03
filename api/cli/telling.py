"""Without a terminal, what takes long says every ten seconds how far it is: a line in a log."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console

from api.cli.output import plain

EVERY_SECONDS: Final = 10.0
_WINDOW_SECONDS: Final = 60.0
_FAREWELL_SECONDS: Final = 1.0
# A rate of less is chance.
_LEAST_SECONDS: Final = 1.0


class Pace:
    """How fast something grows, by what it was in the last minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._samples: deque[tuple[float, float]] = deque()

    def note(self, done: float) -> None:
        """Say how much is done by now."""
        now = self._clock()
        self._samples.append((now, done))
        while len(self._samples) > 2 and self._samples[1][0] <= now - _WINDOW_SECONDS:
            self._samples.popleft()

    @property
    def per_second(self) -> float | None:
        """None while it cannot be told."""
        if not self._samples:
            return None
        (began, before), (now, done) = self._samples[0], self._samples[-1]
        return (done - before) / (now - began) if now - began >= _LEAST_SECONDS else None

    def left(self, remaining: float) -> str | None:
        """The time that the rest takes at this rate; None when it cannot be told."""
        rate = self.per_second
        return duration(remaining / rate) + " left" if rate and remaining > 0 else None


def duration(seconds: float) -> str:
    """`40 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = math.ceil(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def megabytes(size: float) -> str:
    return f"{size / 1_000_000:,.1f}"


def rate(per_second: float | None, noun: str) -> str | None:
    """`12 files/s`, `0.4 files/s`; for less, by the minute."""
    if not per_second or per_second < 0:
        return None
    if per_second < 0.1:
        return f"{per_second * 60:.1f} {noun}/min"
    return f"{per_second:,.{0 if per_second >= 10 else 1}f} {noun}/s"


def joined(*parts: str | None) -> str:
    """The parts that say something."""
    return " · ".join(part for part in parts if part)


@contextmanager
def told(
    console: Console,
    words: Callable[[], str],
    *,
    wait: Callable[[threading.Event, float], bool] = threading.Event.wait,
) -> Iterator[None]:
    """While the block runs, print `words()` every ten seconds, unless that is a terminal.

    A thread does it, since a single request may take minutes. `wait` returns whether the block has
    ended.
    """
    if console.is_terminal:
        yield
        return
    ended = threading.Event()

    def tell() -> None:
        while not wait(ended, EVERY_SECONDS):
            try:
                line = words()
            except Exception:
                if ended.is_set():  # the client was closed meanwhile
                    return
                raise
            if line and not ended.is_set():
                console.print(plain(line))

    thread = threading.Thread(target=tell, name="telling", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(_FAREWELL_SECONDS)  # a request may take minutes, and nobody waits for it
