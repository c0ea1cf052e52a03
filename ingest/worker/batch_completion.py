"""Complete an upload batch after its last source has ended.

Not in the transaction that ends a source: if the last two sources end concurrently, neither
transaction sees the other, and locking the batch there would make all workers wait for each
other. If the process dies first, a tick completes the batch.
"""

import asyncio
from collections.abc import Iterable
from typing import Final
from uuid import UUID

import structlog

from ingest.asynchronous.tasks import cancel_all
from ingest.postgres.database import Pool, transaction
from ingest.store.notify import outbox

log = structlog.get_logger()

# Many sources of a batch end together: check it once for all of them.
_PAUSE_SECONDS: Final = 0.3


class BatchCompletion:
    """Checks batches shortly after some of their jobs have ended, all in one transaction."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._waiting: set[UUID] = set()
        self._has_waiting = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="batches")

    async def close(self) -> None:
        """Stop, then check the batches that are waiting."""
        if self._task is not None:
            await cancel_all(self._task)
        await self._complete()

    def jobs_ended(self, batch_ids: Iterable[UUID]) -> None:
        """Call after the end of jobs of these batches is committed."""
        self._waiting.update(batch_ids)
        if self._waiting:
            self._has_waiting.set()

    async def _run(self) -> None:
        while True:
            await self._has_waiting.wait()
            await asyncio.sleep(_PAUSE_SECONDS)
            self._has_waiting.clear()
            await self._complete()

    async def _complete(self) -> None:
        waiting, self._waiting = list(self._waiting), set()
        if not waiting:
            return
        try:
            async with transaction(self._pool) as conn:
                await outbox.complete_batches(conn, waiting)
        except Exception as error:
            # The tick retries.
            log.warning("batches.not_completed", exc_info=error)
