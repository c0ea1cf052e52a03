"""The periodic work of the service, by the functions it calls: milliseconds of each."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Final
from uuid import UUID, uuid4

from harness.pools import pool_across_applications
from ingest.postgres.database import Connection, Pool, transaction
from ingest.runtime_parts import retention_of
from ingest.settings.settings import Settings
from ingest.store.queue import claims, jobs, queue_stats
from ingest.store.queue.jobs import NewJob
from ingest.ticks.cleanup import prune_old
from ingest.ticks.recovery import complete_batches, reconcile_sources, recover_stale_jobs
from ingest.ticks.retention import apply_retention
from ingest.ticks.schedule import make_nightly_due, start_rescrapes

_REPEATS: Final = 7
_CLAIMED: Final = 100


def chores(dsn: str, application: UUID) -> dict[str, float]:
    """The median milliseconds of each chore. Nothing is due, except jobs for the claim."""
    return asyncio.run(_measured(dsn, application))


async def _measured(dsn: str, application: UUID) -> dict[str, float]:
    keep, stale_after = retention_of(Settings()), Settings().stale_after
    async with pool_across_applications(dsn, size=2, application_name="benchmark") as pool:
        work: Mapping[str, Callable[[], Awaitable[object]]] = {
            "tick: recover jobs of dead workers": lambda: recover_stale_jobs(
                pool, stale_after=stale_after
            ),
            "tick: reconcile sources": lambda: reconcile_sources(pool),
            "tick: complete batches": lambda: complete_batches(pool),
            "tick: start re-scrapes": lambda: start_rescrapes(pool),
            "tick: the nightly round": lambda: make_nightly_due(pool),
            "tick: housekeeping": lambda: apply_retention(pool, keep),
            "tick: prune": lambda: prune_old(pool),
            "the metrics' statements": lambda: _read_stats(pool, stale_after),
        }
        measured = {name: await _median_ms(once) for name, once in work.items()}
        measured[f"claim of {_CLAIMED}"] = await _claim_ms(pool, application)
    return measured


async def _read_stats(pool: Pool, stale_after: timedelta) -> None:
    async with transaction(pool) as conn:
        await queue_stats.read(conn, stale_after=stale_after, embedder="static")


async def _median_ms(work: Callable[[], Awaitable[object]]) -> float:
    spent = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        await work()
        spent.append((time.perf_counter() - started) * 1000)
    return statistics.median(spent)


async def _claim_ms(pool: Pool, application: UUID) -> float:
    """Milliseconds of a claim of jobs that are enqueued first; both are rolled back."""
    spent = []
    async with pool.session() as conn:
        for _ in range(_REPEATS):
            async with conn.transaction(force_rollback=True):
                new = [NewJob(application_id=application, type="file") for _ in range(_CLAIMED)]
                await jobs.enqueue(conn, new)
                spent.append(await _one_claim_ms(conn))
    return statistics.median(spent)


async def _one_claim_ms(conn: Connection) -> float:
    started = time.perf_counter()
    claimed = await claims.claim(
        conn, types=["file"], batch=_CLAIMED, worker=uuid4(), cursor=UUID(int=0)
    )
    taken = (time.perf_counter() - started) * 1000
    assert len(claimed) == _CLAIMED, len(claimed)
    return taken
