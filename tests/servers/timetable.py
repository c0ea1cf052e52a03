"""Things that a stand-in does at their time."""

import heapq
import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class Timetable:
    """Does things at their time, up to 16 at once."""

    def __init__(self) -> None:
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._busy = 0
        self._open = True
        self._change = threading.Condition()
        self._pool = ThreadPoolExecutor(16)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def at(self, seconds: float, action: Callable[[], None]) -> None:
        """Do it so many seconds from now."""
        with self._change:
            due = time.monotonic() + seconds
            heapq.heappush(self._queue, (due, next(self._order), action))
            self._change.notify_all()

    def wait(self, seconds: float) -> None:
        with self._change:
            done = self._change.wait_for(lambda: not self._queue and not self._busy, seconds)
        if not done:
            raise TimeoutError(f"still sending after {seconds} s")

    def close(self) -> None:
        with self._change:
            self._open = False
            self._change.notify_all()
        self._thread.join()
        self._pool.shutdown(cancel_futures=True)

    def _run(self) -> None:
        with self._change:
            while self._open:
                now = time.monotonic()
                if self._queue and self._queue[0][0] <= now:
                    self._busy += 1
                    self._pool.submit(self._do, heapq.heappop(self._queue)[2])
                else:
                    self._change.wait(self._queue[0][0] - now if self._queue else None)

    def _do(self, action: Callable[[], None]) -> None:
        try:
            action()
        finally:
            with self._change:
                self._busy -= 1
                self._change.notify_all()
