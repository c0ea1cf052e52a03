"""After the last source of an upload batch has ended: say that the batch has.

Not in the transaction that ends a source: of two last sources that end at once, neither sees the
other's end, and to lock the batch there would let all workers wait for each other. What a process
that dies leaves unsaid, a tick says.
"""

import asyncio
from collections.abc import Iterable
from typing import Final
from uuid import UUID

import structlog

from ingest.asynchronous.tasks import end
from ingest.postgres.database import Pool, transaction
from ingest.store.notify import outbox

log = structlog.get_logger()

# Sources of a batch end many at a time.
_PAUSE_SECONDS: Final = 0.3


class BatchCompletion:
    """Looks at batches soon after jobs of theirs have ended, at all of them together."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._waiting: set[UUID] = set()
        self._some = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="batches")

    async def close(self) -> None:
        """Look at what is waiting, then stop."""
        if self._task is not None:
            await end(self._task)
        await self._look()

    def jobs_ended(self, batch_ids: Iterable[UUID]) -> None:
        """Jobs of these batches have ended and are committed."""
        self._waiting.update(batch_ids)
        if self._waiting:
            self._some.set()

    async def _run(self) -> None:
        while True:
            await self._some.wait()
            await asyncio.sleep(_PAUSE_SECONDS)
            self._some.clear()
            await self._look()

    async def _look(self) -> None:
        waiting, self._waiting = list(self._waiting), set()
        if not waiting:
            return
        try:
            async with transaction(self._pool) as conn:
                await outbox.complete_batches(conn, waiting)
        except Exception as error:
            # The tick has another look.
            log.warning("batches.not_completed", exc_info=error)
