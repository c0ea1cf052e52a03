"""Progress of a long command: a bar on a terminal, elsewhere a log line every ten seconds."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from api.cli.output import count, join_parts, notes, plain

LOG_INTERVAL_SECONDS: Final = 10.0
_WINDOW_SECONDS: Final = 60.0
_JOIN_SECONDS: Final = 1.0
# Below this interval a rate is meaningless.
_MIN_INTERVAL_SECONDS: Final = 1.0


class RateMeter:
    """The rate at which a number grows, measured over the last minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._samples: deque[tuple[float, float]] = deque()

    def record(self, done: float) -> None:
        """Record how much is done by now."""
        now = self._clock()
        self._samples.append((now, done))
        while len(self._samples) > 2 and self._samples[1][0] <= now - _WINDOW_SECONDS:
            self._samples.popleft()

    @property
    def per_second(self) -> float | None:
        """The rate; None while it is unknown."""
        if not self._samples:
            return None
        (began, before), (now, done) = self._samples[0], self._samples[-1]
        return (done - before) / (now - began) if now - began >= _MIN_INTERVAL_SECONDS else None

    def time_left(self, remaining: float) -> str | None:
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


def rate_text(per_second: float | None, noun: str) -> str | None:
    """`12 files/s`, `0.4 files/s`; below 0.1 per second: `3.0 files/min`."""
    if not per_second or per_second < 0:
        return None
    if per_second < 0.1:
        return f"{per_second * 60:.1f} {noun}/min"
    return f"{per_second:,.{0 if per_second >= 10 else 1}f} {noun}/s"


def files_line(meter: RateMeter, *, ended: int, total: int, failed: int, open_jobs: str) -> str:
    """`3 of 8 files done · 1 failed · 5 waiting · 0.4 files/s · 12 s left`; records `ended`."""
    meter.record(ended)
    return join_parts(
        f"{ended:,} of {count(total, 'file')} done",
        f"{failed:,} failed" if failed else None,
        open_jobs,
        rate_text(meter.per_second, "files"),
        meter.time_left(total - ended),
    )


@contextmanager
def progress_bar(title: str, total: int | None, *columns: Any) -> Iterator[tuple[Progress, TaskID]]:
    """A progress bar on standard error, if that is a terminal; removed at the end."""
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
        yield progress, progress.add_task(title, total=total)


@contextmanager
def progress_log(
    console: Console,
    line: Callable[[], str],
    *,
    wait: Callable[[threading.Event, float], bool] = threading.Event.wait,
) -> Iterator[None]:
    """While the block runs, print `line()` every ten seconds, unless `console` is a terminal.

    It runs in a thread, since a single request may take minutes. `wait` returns whether the block
    has ended.
    """
    if console.is_terminal:
        yield
        return
    ended = threading.Event()

    def print_lines() -> None:
        while not wait(ended, LOG_INTERVAL_SECONDS):
            try:
                text = line()
            except Exception:
                if ended.is_set():  # the client was closed meanwhile
                    return
                raise
            if text and not ended.is_set():
                console.print(plain(text))

    thread = threading.Thread(target=print_lines, name="progress log", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(_JOIN_SECONDS)  # do not wait for a request that may take minutes
