"""Collects the processor time that applications' files take, and stores it every few seconds."""

import asyncio
from collections import defaultdict
from datetime import timedelta
from typing import Final, Self
from uuid import UUID

import psycopg
import structlog

from ingest.asynchronous.tasks import cancel_all
from ingest.postgres.database import Pool, transaction
from ingest.store.limits import cpu_usage

log = structlog.get_logger()

_EVERY: Final = timedelta(seconds=10)


class CpuLedger:
    """Stores at intervals and at the end of its context."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._spent: defaultdict[UUID, float] = defaultdict(float)
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._store_forever(), name="cpu ledger")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            await cancel_all(self._task)
        await self.store()

    def add(self, application_id: UUID, seconds: float) -> None:
        self._spent[application_id] += seconds

    async def store(self) -> None:
        """Store what was added; kept for the next time if the database cannot be reached."""
        spent, self._spent = self._spent, defaultdict(float)
        if not spent:
            return
        try:
            async with transaction(self._pool) as conn:
                await cpu_usage.charge(conn, spent)
        except psycopg.Error as error:
            log.warning("cpu_ledger.not_stored", error=type(error).__name__)
            for application_id, seconds in spent.items():
                self.add(application_id, seconds)

    async def _store_forever(self) -> None:
        while True:
            await asyncio.sleep(_EVERY.total_seconds())
            await self.store()
