"""The connections of a process: for requests, for searches, and for jobs."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Final

from psycopg import AsyncConnection

from ingest import priority
from ingest.postgres.database import Pool, across_applications, open_pool
from ingest.postgres.sessions import SessionSetup

_OF_REQUESTS: Final = 10
# Two for each search that may run at once (ingest/search/slots.py). They are opened when needed:
# each plans a statement anew the first times.
_OF_SEARCHES: Final = 12
# Jobs hold connections briefly, so many jobs share these. Postgres allows 100 by default.
_OF_JOBS: Final = 32
# For claims, ticks, ledgers and an index that is built.
_OF_TICKS: Final = 4
# Beside the pools: LISTEN and heartbeat.
_OWN: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    requests: Pool
    searches: Pool
    """Of their own, so that a person does not wait until a job returns a connection."""
    jobs: Pool
    """Of the worker and its ticks, for which nobody waits."""


async def open_pools(
    dsn: str, stack: AsyncExitStack, *, slots: int, work: bool, serve: bool, is_ours: bool
) -> Pools:
    """Open what a process needs that works on `slots` jobs at once, or serves, or both.

    `is_ours`: the server is the embedded one. On its processes that serve jobs, the priority is
    lowered; another server may run elsewhere.
    """

    prepare = SessionSetup(dsn)

    async def prepare_lowered(conn: AsyncConnection[Any]) -> None:
        await prepare(conn)
        priority.lower(conn.info.backend_pid)

    async def opened(size: int, name: str, *, is_background: bool = False) -> Pool:
        connections = open_pool(
            dsn,
            size=size,
            application_name=name,
            prepare=prepare_lowered if is_background and is_ours else prepare,
        )
        return across_applications(await stack.enter_async_context(connections))

    async def of_jobs() -> Pool:
        return await opened(_pool_of_jobs(slots), "rag-ingest jobs", is_background=True)

    if not serve:
        pool = await of_jobs()
        return Pools(requests=pool, searches=pool, jobs=pool)
    requests = await opened(_OF_REQUESTS, "rag-ingest")
    return Pools(
        requests=requests,
        searches=await opened(_OF_SEARCHES, "rag-ingest search"),
        jobs=await of_jobs() if work else requests,
    )


def connections_for_jobs(slots: int) -> int:
    """The most connections of a process that does nothing but work."""
    return _pool_of_jobs(slots) + _OWN


def _pool_of_jobs(slots: int) -> int:
    return _OF_TICKS + min(slots, _OF_JOBS)
