"""The state of the installation, read from the database at most every few seconds."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from fastapi import FastAPI

from ingest.postgres.database import transaction
from ingest.runtime import Runtime
from ingest.store.limits import desired_workers, usage
from ingest.store.limits.desired_workers import Desired
from ingest.store.limits.usage import InstallationUsage
from ingest.store.queue import queue_stats
from ingest.store.queue.queue_stats import QueueStats

_SECONDS: Final = 5.0
# At most a twentieth of the time is spent on reading, in case the database is slow.
_SHARE: Final = 20
# Pool wait; callers give up quickly.
_PATIENCE_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Overview:
    stats: QueueStats
    workers: Desired
    usage: InstallationUsage
    free_bytes: Mapping[str, int]
    """By disk."""


class OverviewCache:
    """One per process; concurrent callers share one read."""

    def __init__(self, runtime: Runtime, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds, monotonic."""
        self._runtime = runtime
        self._clock = clock
        self._lock = asyncio.Lock()
        self._last: Overview | None = None
        self._good_until = float("-inf")

    async def get(self) -> Overview:
        """Return the state, a few seconds old. Raises psycopg.OperationalError if that fails."""
        async with self._lock:
            if self._last is None or self._clock() >= self._good_until:
                started = self._clock()
                self._last = await self._read()
                took = self._clock() - started
                self._good_until = self._clock() + max(_SECONDS, _SHARE * took)
            return self._last

    async def _read(self) -> Overview:
        settings, model = self._runtime.settings, self._runtime.model
        pool = self._runtime.pool
        async with transaction(pool, wait_seconds=_PATIENCE_SECONDS) as conn:
            stats = await queue_stats.read(
                conn,
                stale_after=settings.stale_after,
                embedder=self._runtime.lane or f"{model.provider}/{model.name}",
            )
            workers = await desired_workers.desired(conn, stats, settings.scaling)
            used = await usage.of_installation(conn, settings.quotas)
        free = await self._runtime.disk.free()
        return Overview(stats=stats, workers=workers, usage=used, free_bytes=free)


def overview_cache_of(app: FastAPI) -> OverviewCache:
    """The overviews that the application's lifespan created."""
    overviews: OverviewCache = app.state.overviews
    return overviews
