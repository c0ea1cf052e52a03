"""Rate limits that workers share, on a real Postgres."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from harness.pools import pool_across_applications
from ingest.errors import Snooze
from ingest.governor import Governor
from ingest.postgres.database import Connection, Pool
from tests.support.provider_lanes import (
    LANE,
    configure,
    freeze,
    held,
    lane_row,
    limited_to,
    pass_by,
)


@pytest.fixture
async def other_governor(dsn: str) -> AsyncIterator[Governor]:
    """That of another worker, whose settings name no limit."""
    async with pool_across_applications(dsn, size=4, application_name="tests") as pool:
        yield Governor(pool)


async def test_workers_share_the_remaining_rate(
    pool: Pool, other_governor: Governor, conn: Connection
) -> None:
    await configure(conn, {LANE: {"requestsPerMinute": 100}})
    governor = Governor(pool)
    await governor.reserve(LANE)
    await freeze(conn)

    holds = await asyncio.gather(
        *(worker.reserve(LANE) for worker in (governor, other_governor) for _ in range(20))
    )

    assert holds.count(None) == 9  # of a burst of ten; the rest of the minute comes one by one


async def test_two_workers_together_keep_the_rate_limit(
    pool: Pool, other_governor: Governor, conn: Connection
) -> None:
    await configure(conn, {LANE: {"requestsPerMinute": 30}})
    governor = Governor(pool)
    granted: list[tuple[float, float]] = []
    began = time.monotonic()

    for second in range(130):
        asked = second + time.monotonic() - began
        holds = await asyncio.gather(governor.reserve(LANE), other_governor.reserve(LANE))
        granted += [(asked, second + time.monotonic() - began)] * holds.count(None)
        await pass_by(conn, 1)

    # When exactly a request was granted, only the database knows: at least, and at most, so many.
    ends = [[later for later in granted if later >= first] for first in granted]
    assert max(sum(end <= rest[0][0] + 60 for _, end in rest) for rest in ends) <= 30
    assert max(sum(asked <= rest[0][1] + 60 for asked, _ in rest) for rest in ends) >= 25


async def test_limited_request_gets_its_delay_and_is_then_admitted(
    pool: Pool, conn: Connection
) -> None:
    governor = limited_to(pool, requests=1)
    assert await governor.reserve(LANE) is None

    hold = await held(governor)
    await pass_by(conn, hold.delay.total_seconds())

    assert hold.reason == "rate_limited"
    assert hold.delay <= timedelta(seconds=61)
    assert await governor.reserve(LANE) is None


async def test_tokens_are_limited_beside_requests(pool: Pool, conn: Connection) -> None:
    governor = limited_to(pool, requests=1000, tokens=1000)

    first = await governor.reserve(LANE, tokens=100)
    await freeze(conn)
    hold = await held(governor, tokens=100)

    assert first is None
    assert hold.most_tokens == 100
    assert await governor.reserve(LANE, tokens=0) is None


async def test_request_that_must_wait_consumes_no_capacity(pool: Pool, conn: Connection) -> None:
    governor = limited_to(pool, requests=1000, tokens=1000)
    await governor.reserve(LANE, tokens=100)
    await freeze(conn)
    before = await lane_row(conn)

    for _ in range(3):
        await held(governor, tokens=50)

    assert await lane_row(conn) == before


async def test_lane_can_have_its_own_limits(pool: Pool, conn: Connection) -> None:
    await configure(conn, {"acme/llm": {"requestsPerMinute": 30}, LANE: {"requestsPerMinute": 1}})
    governor = limited_to(pool, requests=1000)

    mine = [await governor.reserve(LANE) for _ in range(5)]
    theirs = [await governor.reserve("acme/llm#other") for _ in range(5)]

    assert mine.count(None) == 1
    assert theirs.count(None) >= 3


async def test_a_limit_holds_as_soon_as_it_is_configured(pool: Pool, conn: Connection) -> None:
    governor = Governor(pool)
    for _ in range(20):
        assert await governor.reserve(LANE) is None

    await configure(conn, {"acme/llm": {"requestsPerMinute": 1}})

    assert await governor.reserve(LANE) is None
    assert await governor.reserve(LANE) is not None


async def test_rate_limited_handler_is_snoozed_without_spending_an_attempt(pool: Pool) -> None:
    governor = limited_to(pool, requests=1)
    await governor.enter(LANE)

    with pytest.raises(Snooze) as caught:
        await governor.enter(LANE)

    assert caught.value.reason == "rate_limited"
    assert timedelta(seconds=60) <= caught.value.delay <= timedelta(seconds=80)
