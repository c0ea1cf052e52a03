"""How long a request to a provider waits in place, instead of its job in the queue."""

import asyncio
import random
from datetime import timedelta

from ingest.governor import Hold


class WaitBudget:
    """How long a request waits in place; beyond that, its job is snoozed."""

    def __init__(
        self,
        *,
        longest: timedelta = timedelta(seconds=10),
        total: timedelta = timedelta(seconds=60),
    ) -> None:
        """`longest`: limit of a single wait; `total`: of all waits together."""
        self._longest = longest
        self._left = total

    def allows(self, hold: Hold) -> bool:
        return hold.delay <= min(self._longest, self._left)

    async def wait(self, hold: Hold) -> None:
        """Sleep for the hold's delay, but about 1 s at most.

        The caller then asks again: the pause may have ended early, or others may have gone first.
        """
        delay = min(hold.delay, timedelta(seconds=1)) * random.uniform(1, 1.1)  # noqa: S311
        self._left -= delay
        await asyncio.sleep(delay.total_seconds())
