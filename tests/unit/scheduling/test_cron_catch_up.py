"""Schedules that were missed, and clocks that are set."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from harness.patience import PATIENCE
from ingest.scheduling.cron import Scheduler
from tests.support.movable_clock import MovableClock
from tests.unit.scheduling.wall_clock import NOW, WallClock


@pytest.fixture(autouse=True)
async def skipped_waits(movable_clock: MovableClock) -> None:
    movable_clock.skip_waits()


class _Firings:
    """A guard that gives each firing once, and notes what was asked for and what ran."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.ran = 0

    async def __call__(self, name: str, firing: datetime) -> bool:
        text = f"{firing:%d %H:%M}"
        self.asked.append(text)
        return self.asked.count(text) == 1

    async def handler(self) -> None:
        self.ran += 1


async def _always(name: str, firing: datetime) -> bool:
    return True


async def _settled() -> None:
    await asyncio.sleep(0.05)


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("0 3 * * *", ["01 03:00"]),
        ("0 */4 * * *", ["01 12:00"]),  # six were missed within a day
        ("0 13 * * *", ["28 13:00"]),
        ("0 0 28 2 *", []),  # longer ago than a day
    ],
)
async def test_at_its_start_it_catches_up_the_last_firing_of_a_day(
    schedule: str, expected: list[str]
) -> None:
    firings = _Firings()
    scheduler = Scheduler(firings, clock=WallClock(NOW))
    scheduler.cron("nightly", schedule, catch_up=True)(firings.handler)

    scheduler.start()
    await _settled()
    await scheduler.close()

    assert firings.asked == expected
    assert firings.ran == len(expected)


async def test_catch_up_skips_firings_of_other_replicas_and_schedules_without_it() -> None:
    firings = _Firings()
    firings.asked.append("01 03:00")
    scheduler = Scheduler(firings, clock=WallClock(NOW))
    scheduler.cron("nightly", "0 3 * * *", catch_up=True)(firings.handler)
    scheduler.cron("other", "0 4 * * *")(firings.handler)

    scheduler.start()
    await _settled()
    await scheduler.close()

    assert firings.asked == ["01 03:00", "01 03:00"]
    assert firings.ran == 0


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [("0 3 * * *", ["01 03:00", "04 03:00"]), ("0 3 1,2 * *", ["01 03:00"])],
)
async def test_the_last_firing_of_a_long_catch_up_is_run_after_it_if_within_a_day(
    schedule: str, expected: list[str]
) -> None:
    firings = _Firings()
    clock = WallClock(NOW)
    scheduler = Scheduler(firings, clock=clock)
    running = most = 0

    @scheduler.cron("nightly", schedule, catch_up=True)
    async def nightly() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if firings.ran == 0:
            clock.set(NOW + timedelta(days=3))
        await firings.handler()
        running -= 1

    scheduler.start()
    await _until(lambda: firings.ran == len(expected))
    await _settled()
    await scheduler.close()

    assert firings.asked == expected
    assert most == 1


async def test_failing_guard_does_not_lose_a_nightly_firing() -> None:
    firings = _Firings()
    failures = 2

    async def guard(name: str, firing: datetime) -> bool:
        nonlocal failures
        if failures:
            failures -= 1
            raise ConnectionError("no database")
        return await firings(name, firing)

    scheduler = Scheduler(guard, clock=WallClock(NOW))
    pause = [timedelta(milliseconds=10)]
    scheduler.cron("nightly", "0 3 * * *", catch_up=True, backoff_schedule=pause)(firings.handler)

    scheduler.start()
    await _until(lambda: firings.ran == 1)
    await _settled()
    await scheduler.close()

    assert firings.asked == ["01 03:00"]


@pytest.mark.parametrize("by", [timedelta(days=-400), timedelta(days=400)])
async def test_a_clock_that_is_set_does_not_end_the_schedule(by: timedelta) -> None:
    firings = _Firings()
    clock = WallClock(NOW)
    scheduler = Scheduler(_always, clock=clock)
    scheduler.cron("steady", "* * * * * *")(firings.handler)

    scheduler.start()
    await _until(lambda: firings.ran > 0)
    clock.set(NOW + by)
    before = firings.ran
    await _until(lambda: firings.ran > before)
    await _settled()
    await scheduler.close()

    assert firings.ran <= before + 2


async def test_a_clock_that_steps_back_a_little_repeats_nothing() -> None:
    clock = WallClock(NOW.replace(second=59))
    times: list[str] = []

    async def guard(name: str, firing: datetime) -> bool:
        times.append(f"{firing:%H:%M:%S}")
        clock.set(NOW.replace(second=59))
        return True

    scheduler = Scheduler(guard, clock=clock)
    scheduler.cron("steady", "0 * * * * *")(_Firings().handler)

    scheduler.start()
    await _until(lambda: bool(times))
    await asyncio.sleep(1.2)
    await scheduler.close()

    assert times == ["12:01:00"]
