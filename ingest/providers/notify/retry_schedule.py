"""The retry schedule of notifications. Pure."""

from datetime import timedelta
from typing import Final

SCHEDULE: Final = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=8),
    timedelta(hours=8, minutes=30),
)
"""Pauses between attempts; the last of eight follows after a day (rag.job_types has the number)."""

GIVEN_UP_AFTER: Final = timedelta(hours=24)
"""An endpoint that fails for this long is disabled."""
MOST_FAILURES: Final = 100
"""An endpoint that fails this often in a row is disabled."""


def next_attempt(attempt: int, *, retry_after: timedelta | None = None) -> timedelta:
    """The pause of a delivery after its failed attempt number `attempt` (1-based).

    The receiver's `Retry-After` can lengthen it up to the next step of the schedule.
    """
    own = _step(attempt)
    return own if retry_after is None else max(own, min(retry_after, _step(attempt + 1)))


def probe_delay(failing_for: timedelta) -> timedelta:
    """The pause of an endpoint that has failed for `failing_for`, shared by its deliveries.

    It depends on time, not attempts: however many deliveries wait, the endpoint is tried as often
    as for a single one.
    """
    point = timedelta(0)
    for step in SCHEDULE:
        point += step
        if point > failing_for:
            return point - failing_for
    return SCHEDULE[-1]


def _step(attempt: int) -> timedelta:
    return SCHEDULE[min(attempt, len(SCHEDULE)) - 1]
