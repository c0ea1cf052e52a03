"""The scheduled ticks: fired once among replicas."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Self

import pytest

import ingest.ticks.database_clock
from harness.patience import PATIENCE
from ingest.blobs.local import LocalBlobStore
from ingest.postgres.database import Pool, transaction
from ingest.scheduling.cron import Scheduler
from ingest.store.limits import schedules
from ingest.ticks.database_clock import DatabaseClock
from ingest.ticks.schedule import build_ticks
from tests.support.retention_fixtures import KEEP


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  # the schedules set no event
            await asyncio.sleep(0.01)


async def test_tick_runs_on_the_first_replica_that_asks(pool: Pool) -> None:
    firing = datetime(2026, 1, 1, 3, tzinfo=UTC)

    async def ask() -> bool:
        async with transaction(pool) as conn:
            return await schedules.fire(conn, name="nightly", scheduled_for=firing)

    answers = await asyncio.gather(*[ask() for _ in range(8)])

    assert sorted(answers) == [False] * 7 + [True]


async def test_replicas_run_a_guarded_tick_once_per_firing(pool: Pool) -> None:
    asked: list[datetime] = []
    fired: list[datetime] = []
    runs = 0

    async def guard(name: str, firing: datetime) -> bool:
        asked.append(firing)
        async with transaction(pool) as conn:
            is_ours = await schedules.fire(conn, name=name, scheduled_for=firing)
        fired.extend([firing] if is_ours else [])
        return is_ours

    replicas = [Scheduler(guard) for _ in range(3)]
    for replica in replicas:

        @replica.cron("every-second", "* * * * * *")
        async def run() -> None:
            nonlocal runs
            runs += 1

        replica.start()
    # Two firings that more than one replica has asked for.
    await _until(lambda: runs >= 2 and len(asked) >= len(fired) + 2)
    for replica in replicas:
        await replica.close()

    assert runs == len(fired) == len(set(fired))


async def test_replicas_whose_clocks_differ_run_each_firing_once(pool: Pool) -> None:
    fired: list[datetime] = []
    runs: list[int] = []

    async def guard(name: str, firing: datetime) -> bool:
        async with transaction(pool) as conn:
            is_ours = await schedules.fire(conn, name=name, scheduled_for=firing)
        fired.extend([firing] if is_ours else [])
        return is_ours

    def ahead(seconds: int) -> Scheduler:
        return Scheduler(guard, clock=lambda: datetime.now(UTC) + timedelta(seconds=seconds))

    replicas = [ahead(seconds) for seconds in (-3, 0, 3)]
    for number, replica in enumerate(replicas):

        @replica.cron("every-second", "* * * * * *")
        async def run(number: int = number) -> None:
            runs.append(number)

        replica.start()
    await _until(lambda: len(runs) >= 3)
    for replica in replicas:
        await replica.close()

    assert len(runs) == len(fired) == len(set(fired))


async def test_schedules_go_by_the_clock_of_the_database(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Skewed(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return super().now(tz) + timedelta(hours=72)

    monkeypatch.setattr(ingest.ticks.database_clock, "datetime", Skewed)
    clock = DatabaseClock()
    wrong = clock.now()

    await clock.set(pool)

    assert wrong - datetime.now(UTC) > timedelta(hours=71)
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(minutes=1)


async def test_replicas_catch_a_missed_night_up_once_whenever_they_start(pool: Pool) -> None:
    # Half a day away, so that no regular firing comes in between.
    schedule = f"0 0 {(datetime.now(UTC).hour + 12) % 24} * * *"
    answers: asyncio.Queue[bool] = asyncio.Queue()
    runs: list[str] = []

    async def guard(name: str, firing: datetime) -> bool:
        async with transaction(pool) as conn:
            is_ours = await schedules.fire(conn, name=name, scheduled_for=firing)
        await answers.put(is_ours)
        return is_ours

    async def nightly() -> None:
        runs.append("nightly")

    replicas = [Scheduler(guard) for _ in range(4)]
    for replica in replicas:
        replica.cron("nightly", schedule, catch_up=True)(nightly)
    async with asyncio.timeout(PATIENCE):
        for replica in replicas[:3]:
            replica.start()
        early = [await answers.get() for _ in range(3)]
        replicas[3].start()
        late = await answers.get()
    for replica in replicas:
        await replica.close()

    assert sorted(early) == [False, False, True]
    assert late is False
    assert runs == ["nightly"]


async def test_the_process_tick_wakes_the_worker_of_every_replica(
    pool: Pool, tmp_path: Path
) -> None:
    woken = asyncio.Event()
    blobs = LocalBlobStore(tmp_path)
    ticks = build_ticks(
        pool=pool,
        blobs=blobs,
        wake=woken.set,
        tick="* * * * * *",
        stale_after=timedelta(minutes=2),
        rescrape=None,
        retention=KEEP,
        clock=DatabaseClock(),
        page_image_cache=0,
    )
    ticks.start()
    async with asyncio.timeout(PATIENCE):
        await woken.wait()
    await ticks.close()
    await blobs.close()

    assert woken.is_set()
