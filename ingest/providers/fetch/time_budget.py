"""The total time limit of a fetch."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from ingest.providers.fetch.failures import failed


class TimeBudget:
    """Limits the total time of a fetch, even if the server keeps sending slowly."""

    def __init__(self, total: timedelta) -> None:
        self._total = total
        self._left = total.total_seconds()

    @asynccontextmanager
    async def spend(self) -> AsyncIterator[None]:
        """Count the time of the block. Raises Transient `fetch_failed` if it exceeds the budget."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(self._left):
                yield
        except TimeoutError:
            seconds = self._total.total_seconds()
            raise failed(f"the response was not complete after {seconds:g} seconds") from None
        finally:
            self._left -= loop.time() - started
