"""When a notification is tried again. Pure."""

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
"""Between two attempts; the last of eight is made after a day (rag.job_types has that number)."""

GIVEN_UP_AFTER: Final = timedelta(hours=24)
"""An endpoint that has failed for so long is disabled,"""
MOST_FAILURES: Final = 100
"""and so is one that has failed so often in a row."""


def next_attempt(attempt: int, *, retry_after: timedelta | None = None) -> timedelta:
    """How long a delivery waits after its failed attempt number `attempt` (1-based).

    What the receiver asks for is obeyed up to the next step of the schedule.
    """
    own = _step(attempt)
    return own if retry_after is None else max(own, min(retry_after, _step(attempt + 1)))


def next_turn(failing_for: timedelta) -> timedelta:
    """How long an endpoint is left alone that has failed for `failing_for`, whatever the delivery.

    By time instead of by attempts: however many deliveries wait for an endpoint, it is tried as
    often as for a single one.
    """
    point = timedelta(0)
    for step in SCHEDULE:
        point += step
        if point > failing_for:
            return point - failing_for
    return SCHEDULE[-1]


def _step(attempt: int) -> timedelta:
    return SCHEDULE[min(attempt, len(SCHEDULE)) - 1]
