"""Progress without a terminal: a long command prints a log line every ten seconds."""

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
# Below this interval a rate is meaningless.
_LEAST_SECONDS: Final = 1.0


class Pace:
    """The rate at which a number grows, measured over the last minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._samples: deque[tuple[float, float]] = deque()

    def note(self, done: float) -> None:
        """Record how much is done by now."""
        now = self._clock()
        self._samples.append((now, done))
        while len(self._samples) > 2 and self._samples[1][0] <= now - _WINDOW_SECONDS:
            self._samples.popleft()

    @property
    def per_second(self) -> float | None:
        """None while it is unknown."""
        if not self._samples:
            return None
        (began, before), (now, done) = self._samples[0], self._samples[-1]
        return (done - before) / (now - began) if now - began >= _LEAST_SECONDS else None

    def left(self, remaining: float) -> str | None:
        """The time for the rest at this rate; None when it is unknown."""
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
    """`12 files/s`, `0.4 files/s`; below 0.1 per second: `3.0 files/min`."""
    if not per_second or per_second < 0:
        return None
    if per_second < 0.1:
        return f"{per_second * 60:.1f} {noun}/min"
    return f"{per_second:,.{0 if per_second >= 10 else 1}f} {noun}/s"


def joined(*parts: str | None) -> str:
    """The non-empty parts, joined."""
    return " · ".join(part for part in parts if part)


@contextmanager
def told(
    console: Console,
    words: Callable[[], str],
    *,
    wait: Callable[[threading.Event, float], bool] = threading.Event.wait,
) -> Iterator[None]:
    """While the block runs, print `words()` every ten seconds, unless `console` is a terminal.

    In a thread, since a single request may take minutes. `wait` returns whether the block has
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
        thread.join(_FAREWELL_SECONDS)  # do not wait for a request that may take minutes
