"""Connections for requests, for searches and for jobs, and the priority of those."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from ingest.postgres.database import Pool
from ingest.postgres.pools import Pools, open_pools
from ingest.priority import BACKGROUND


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def niceness(pool: Pool) -> int:
    async with pool.session() as conn:
        return os.getpriority(os.PRIO_PROCESS, conn.info.backend_pid)


async def opened(dsn: str, stack: AsyncExitStack, **options: bool) -> Pools:
    asked = {"work": True, "serve": True, "is_ours": True, **options}
    return await open_pools(dsn, stack, slots=2, **asked)


async def test_a_search_gets_a_connection_while_jobs_and_requests_hold_all_others(
    dsn: str, stack: AsyncExitStack
) -> None:
    pools = await opened(dsn, stack)
    async with AsyncExitStack() as held:
        for pool in (pools.jobs, pools.requests):
            for _ in range(pool.connections.open.max_size):
                await held.enter_async_context(pool.session())

        async with pools.searches.transaction(wait_seconds=30) as conn:
            cursor = await conn.execute("select 1")
            assert await cursor.fetchall() == [(1,)]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux processes")
async def test_jobs_leave_the_processors_of_our_own_server_to_people(
    dsn: str, stack: AsyncExitStack
) -> None:
    pools = await opened(dsn, stack)
    usual = await niceness(pools.requests)

    assert await niceness(pools.searches) == usual
    assert await niceness(pools.jobs) == max(BACKGROUND, usual)


async def test_another_server_is_left_alone(dsn: str, stack: AsyncExitStack) -> None:
    pools = await opened(dsn, stack, is_ours=False)

    assert await niceness(pools.jobs) == await niceness(pools.requests)


async def test_a_process_has_connections_only_for_what_it_does(
    dsn: str, stack: AsyncExitStack
) -> None:
    worker = await opened(dsn, stack, serve=False)
    api = await opened(dsn, stack, work=False)

    assert worker.requests is worker.searches is worker.jobs
    assert api.jobs is api.requests is not api.searches
