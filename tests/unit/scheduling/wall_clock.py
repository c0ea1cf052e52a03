"""A wall clock for schedules."""

import time
from datetime import UTC, datetime, timedelta

NOW = datetime(2026, 3, 1, 12, 0, 7, tzinfo=UTC)


class WallClock:
    """Shows the time it is set to; it runs with the monotonic clock, which tests can move."""

    def __init__(self, shown: datetime = NOW) -> None:
        self.set(shown)

    def set(self, shown: datetime) -> None:
        self._shown, self._at = shown, time.monotonic()

    def __call__(self) -> datetime:
        return self._shown + timedelta(seconds=time.monotonic() - self._at)
