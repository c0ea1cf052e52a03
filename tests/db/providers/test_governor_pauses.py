"""Pauses of lanes and outages of providers, on a real Postgres."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from harness.pools import pool_across_applications
from ingest.governor import Governor
from ingest.postgres.database import Connection, Pool
from tests.support.provider_lanes import LANE, held, lane_row, pass_by, pauses_for


@pytest.fixture
async def other_governor(dsn: str) -> AsyncIterator[Governor]:
    """That of another worker, whose settings name no limit."""
    async with pool_across_applications(dsn, size=4, application_name="tests") as pool:
        yield Governor(pool)


async def test_pause_applies_to_all_workers_of_one_lane(
    pool: Pool, other_governor: Governor
) -> None:
    await Governor(pool).record_rate_limit(LANE, retry_after=timedelta(seconds=30))

    hold = await held(other_governor)

    assert hold.reason == "rate_limited"
    assert hold.delay <= timedelta(seconds=30)
    assert await other_governor.current_hold(LANE) is not None
    assert await other_governor.reserve("acme/another#12345678") is None


async def test_a_pause_is_exactly_as_long_as_asked_and_never_cut_short(
    pool: Pool, conn: Connection
) -> None:
    governor = Governor(pool)
    asked = await pauses_for(
        conn, 30, governor.record_rate_limit(LANE, retry_after=timedelta(seconds=30))
    )
    until = (await lane_row(conn))["paused_until"]

    await governor.record_rate_limit(LANE, retry_after=timedelta(seconds=1))
    await governor.record_rate_limit(LANE)
    await governor.record_failure(LANE)
    await governor.record_success(LANE)

    assert asked
    assert (await lane_row(conn))["paused_until"] == until


async def test_without_a_time_pauses_double_up_to_a_minute(pool: Pool, conn: Connection) -> None:
    governor = Governor(pool)

    for seconds in (1, 2, 4, 8, 16, 32, 60, 60):
        assert await pauses_for(conn, seconds, governor.record_rate_limit(LANE))
        await pass_by(conn, 61)


async def test_requests_that_were_limited_together_count_once(pool: Pool, conn: Connection) -> None:
    governor = Governor(pool)
    await governor.record_rate_limit(LANE, retry_after=timedelta(seconds=30))

    for _ in range(4):
        await governor.record_rate_limit(LANE)

    assert (await lane_row(conn))["failures"] == 1


async def test_two_failures_pause_nothing_and_the_third_does(pool: Pool, conn: Connection) -> None:
    governor = Governor(pool)

    as_long_as_that = [
        await pauses_for(conn, seconds, governor.record_failure(LANE)) for seconds in (0, 0, 1)
    ]

    assert all(as_long_as_that)
    assert (await lane_row(conn))["pause_reason"] == "provider_unavailable"


async def test_failures_with_a_success_between_them_are_not_in_a_row(pool: Pool) -> None:
    governor = Governor(pool)

    for _ in range(5):
        await governor.record_failure(LANE)
        await governor.record_failure(LANE)
        await governor.record_success(LANE)

    assert await governor.reserve(LANE) is None


async def test_after_the_pause_one_request_probes(
    pool: Pool, other_governor: Governor, conn: Connection
) -> None:
    governor = Governor(pool)
    for _ in range(3):
        await governor.record_failure(LANE)
    await pass_by(conn, 2)

    holds = await asyncio.gather(
        *(worker.reserve(LANE) for worker in (governor, other_governor) for _ in range(10))
    )

    assert holds.count(None) == 1
    assert {hold.reason for hold in holds if hold} == {"provider_unavailable"}


async def test_a_probe_that_is_answered_opens_the_lane(pool: Pool, conn: Connection) -> None:
    governor = Governor(pool)
    for _ in range(3):
        await governor.record_failure(LANE)
    await pass_by(conn, 2)
    await governor.reserve(LANE)

    await governor.record_success(LANE)

    assert [await governor.reserve(LANE) for _ in range(5)] == [None] * 5
    assert (await lane_row(conn))["failures"] == 0


async def test_an_outage_of_an_hour_costs_a_request_a_minute(pool: Pool, conn: Connection) -> None:
    governor = Governor(pool)
    sent = seconds = 0

    while seconds < 3600:
        if (hold := await governor.reserve(LANE)) is None:
            sent += 1
            await governor.record_failure(LANE)
        else:
            seconds += round(hold.delay.total_seconds() + 0.5)
            await pass_by(conn, hold.delay.total_seconds() + 0.01)

    assert sent <= 3 + 6 + 60


async def test_lost_probe_is_followed_by_another(pool: Pool, conn: Connection) -> None:
    governor = Governor(pool)
    for _ in range(3):
        await governor.record_failure(LANE)
    await pass_by(conn, 2)
    await governor.reserve(LANE)

    await pass_by(conn, 10)

    assert await governor.reserve(LANE) is None


async def test_an_operators_mistake_pauses_at_the_first_failure(
    pool: Pool, conn: Connection
) -> None:
    governor = Governor(pool)

    paused = await pauses_for(
        conn, 600, governor.record_failure(LANE, retry_after=timedelta(minutes=10))
    )

    assert paused
    assert (await held(governor)).reason == "provider_unavailable"


async def test_retry_after_is_capped_at_a_day(pool: Pool) -> None:
    governor = Governor(pool)

    await governor.record_rate_limit(LANE, retry_after=timedelta.max)

    assert (await held(governor)).delay <= timedelta(days=1)
