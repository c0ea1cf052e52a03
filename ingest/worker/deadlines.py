"""Time limits of an attempt: in total, and without progress."""

import asyncio
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from ingest.errors import Transient
from ingest.handlers.context import Progress
from ingest.worker.slots import Slot

# Groups checks of attempts whose time runs out at nearly the same moment.
_SHORTEST_PAUSE: Final = 0.01


class Deadlines:
    """One timer for all attempts, set to the earliest deadline."""

    def __init__(
        self, slots: Mapping[int, Slot], on_timeout: Callable[[Slot, Transient], None]
    ) -> None:
        """`on_timeout` is called with an attempt that timed out, and the error to report."""
        self._slots = slots
        self._on_timeout = on_timeout
        self._at = float("inf")
        self._timer: asyncio.TimerHandle | None = None

    def add(self, slot: Slot) -> None:
        """Watch the attempt until it ends."""
        due = min(slot.stage_timeout_at, slot.timeout_at)
        if due < self._at:
            self._set(due)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _set(self, due: float) -> None:
        self.close()
        self._at = due
        pause = max(due - time.monotonic(), _SHORTEST_PAUSE)
        self._timer = asyncio.get_running_loop().call_later(pause, self._check)

    def _check(self) -> None:
        self._at = float("inf")
        now = time.monotonic()
        for slot in list(self._slots.values()):
            if slot.cancel_reason is None and not slot.task.done():
                if (error := _timeout_error(slot, now)) is not None:
                    self._on_timeout(slot, error)
                else:
                    # Progress has moved the deadline: set the timer again.
                    self.add(slot)


def _timeout_error(slot: Slot, now: float) -> Transient | None:
    if slot.stage_timeout_at <= now:
        return _timeout("made no progress for", slot.job_type.stage_timeout, slot.progress)
    if slot.timeout_at <= now:
        return _timeout("took longer than", slot.job_type.timeout, slot.progress)
    return None


def _timeout(what: str, limit: timedelta, progress: Progress) -> Transient:
    where = f" (stage {progress.stage}, {progress.percent} %)" if progress.stage else ""
    return Transient(f"the job {what} {limit}{where}", code="stage_timeout")
