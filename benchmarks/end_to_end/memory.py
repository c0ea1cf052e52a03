"""The memory of a process and its descendants."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.core.processes import family

_EVERY_SECONDS = 0.25


class Peak:
    bytes = 0


@contextmanager
def peak_of(pid: int) -> Iterator[Peak]:
    """The peak memory of a process and its descendants together, sampled four times a second.

    Pages that several of them share are counted once (proportional set size).
    """
    peak, ended = Peak(), threading.Event()

    def watch() -> None:
        while True:
            peak.bytes = max(peak.bytes, sum(map(_resident, family(pid))))
            if ended.wait(_EVERY_SECONDS):
                return

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()


def _resident(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
