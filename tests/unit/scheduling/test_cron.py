"""Schedules: when they fire, that they don't overlap, what a raising handler does."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from harness.patience import PATIENCE
from ingest.scheduling.cron import Scheduler, last_firing, next_firing
from tests.support.movable_clock import MovableClock
from tests.unit.scheduling.wall_clock import NOW, WallClock


@pytest.fixture
async def clock(movable_clock: MovableClock) -> WallClock:
    movable_clock.skip_waits()
    return WallClock()


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("*/30 * * * * *", datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)),
        ("0 3 * * *", datetime(2026, 3, 2, 3, 0, 0, tzinfo=UTC)),
        ("0 17 * * * *", datetime(2026, 3, 1, 12, 17, 0, tzinfo=UTC)),
        ("15 * * * * *", datetime(2026, 3, 1, 12, 0, 15, tzinfo=UTC)),
    ],
)
def test_five_and_six_fields_fire_in_utc_with_seconds_first(
    schedule: str, expected: datetime
) -> None:
    assert next_firing(schedule, NOW) == expected


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("*/30 * * * * *", datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)),
        ("7 * * * * *", NOW),
        ("8 * * * * *", datetime(2026, 3, 1, 11, 59, 8, tzinfo=UTC)),
        ("0 3 * * *", datetime(2026, 3, 1, 3, 0, 0, tzinfo=UTC)),
    ],
)
@pytest.mark.parametrize("fraction", [timedelta(0), timedelta(milliseconds=1)])
def test_the_last_firing_is_at_the_latest_now(
    schedule: str, expected: datetime, fraction: timedelta
) -> None:
    assert last_firing(schedule, NOW + fraction) == expected


async def _yes(name: str, firing: datetime) -> bool:
    return True


async def _no(name: str, firing: datetime) -> bool:
    return False


async def test_slow_handler_never_runs_concurrently_with_itself(clock: WallClock) -> None:
    scheduler = Scheduler(_yes, clock=clock)
    running = most = runs = 0
    twice = asyncio.Event()

    @scheduler.cron("slow", "* * * * * *")
    async def slow() -> None:
        nonlocal running, most, runs
        running += 1
        runs += 1
        most = max(most, running)
        await asyncio.sleep(1.3)  # past the next firing
        running -= 1
        if runs == 2:
            twice.set()

    scheduler.start()
    async with asyncio.timeout(PATIENCE):
        await twice.wait()
    await scheduler.close()

    assert most == 1


async def test_a_handler_that_raises_is_run_again_by_its_backoff_schedule(clock: WallClock) -> None:
    firings = []

    async def guard(name: str, firing: datetime) -> bool:
        firings.append(firing)
        return True

    scheduler = Scheduler(guard, clock=clock)
    runs = firings_of_three_runs = 0
    done = asyncio.Event()

    @scheduler.cron("flaky", "* * * * * *", backoff_schedule=[timedelta(0), timedelta(0)])
    async def flaky() -> None:
        nonlocal runs, firings_of_three_runs
        runs += 1
        if runs < 3:
            raise RuntimeError("not yet")
        if runs == 3:
            firings_of_three_runs = len(firings)
        done.set()

    scheduler.start()
    async with asyncio.timeout(PATIENCE):
        await done.wait()
    await scheduler.close()

    assert firings_of_three_runs == 1


async def test_guarded_tick_claimed_by_another_replica_is_not_run(clock: WallClock) -> None:
    scheduler = Scheduler(_no, clock=clock)
    ran = {"guarded": 0, "everywhere": 0}
    has_run = asyncio.Event()

    @scheduler.cron("guarded", "* * * * * *")
    async def guarded() -> None:
        ran["guarded"] += 1

    @scheduler.cron("everywhere", "* * * * * *", on_every_replica=True)
    async def everywhere() -> None:
        ran["everywhere"] += 1
        has_run.set()

    scheduler.start()
    async with asyncio.timeout(PATIENCE):
        await has_run.wait()
    await asyncio.sleep(0.2)  # both fire at the same second
    await scheduler.close()

    assert ran["guarded"] == 0
    assert ran["everywhere"] >= 1


async def test_a_guard_that_fails_does_not_end_the_schedule(clock: WallClock) -> None:
    calls = 0

    async def failing_once(name: str, firing: datetime) -> bool:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise ConnectionError("no database")
        return True

    scheduler = Scheduler(failing_once, clock=clock)
    done = asyncio.Event()

    @scheduler.cron("steady", "* * * * * *")
    async def steady() -> None:
        done.set()

    scheduler.start()
    async with asyncio.timeout(PATIENCE):
        await done.wait()
    await scheduler.close()

    assert calls >= 2


def test_two_crons_of_one_name_are_refused() -> None:
    scheduler = Scheduler(_yes)
    scheduler.cron("same", "* * * * *")(_nothing)

    with pytest.raises(ValueError, match="same"):
        scheduler.cron("same", "* * * * *")(_nothing)


async def _nothing() -> None: ...
