"""When sources are fetched again: each at its time, once, however many replicas there are."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from harness.patience import PATIENCE
from ingest.blobs.local import LocalBlobStore
from ingest.errors import Conflict
from ingest.postgres.database import Connection, Pool, transaction
from ingest.scheduling.recurrence import Recurrence
from ingest.store.crawl import rescrapes, runs
from ingest.store.crawl.runs import RESCRAPE_PRIORITY, StartedRun
from ingest.store.sources import source_control
from ingest.store.tenants import applications
from ingest.ticks import schedule as ticks
from ingest.ticks.database_clock import DatabaseClock
from ingest.ticks.schedule import build_ticks, make_nightly_due, start_rescrapes
from tests.support.crawl.crawl_sources import crawl_row, end, start
from tests.support.live_sources import eventually
from tests.support.queue_builders import add_application, job_row, source_row, upload
from tests.support.retention_fixtures import KEEP

WEEKLY = Recurrence(cron="30 4 * * 1", timezone="Europe/Berlin")


async def fetched(
    conn: Connection, application_id: UUID, uri: str = "https://a.example/"
) -> StartedRun:
    """A source whose first run has ended."""
    run = await start(conn, application_id, uri)
    await end(conn, run)
    return run


async def make_due(conn: Connection, run: StartedRun, *, ago: str = "1 minute") -> None:
    await conn.execute(
        "update rag.knowledge_sources set next_rescrape_at = now() - %s::interval where id = %s",
        [ago, run.source_id],
    )


async def set_schedule(
    conn: Connection, application_id: UUID, source_id: UUID, schedule: Recurrence | None
) -> bool:
    async with conn.transaction():
        return await rescrapes.set_schedule(
            conn, application_id=application_id, source_id=source_id, schedule=schedule
        )


async def jobs_of(conn: Connection, run: StartedRun) -> list[tuple[str, int]]:
    """Type and priority, in the order of arrival."""
    cursor = await conn.execute(
        "select type, priority from rag.processing_jobs where knowledge_source_id = %s "
        "order by position",
        [run.source_id],
    )
    return await cursor.fetchall()


async def next_time(conn: Connection, run: StartedRun) -> datetime | None:
    time: datetime | None = (await source_row(conn, run.source_id))["next_rescrape_at"]
    return time


# ---------------------------------------------------------------- schedules of their own


async def test_a_schedule_says_when_the_source_is_fetched_next(
    conn: Connection, application_id: UUID
) -> None:
    run = await fetched(conn, application_id)

    assert await set_schedule(conn, application_id, run.source_id, WEEKLY)

    source = await source_row(conn, run.source_id)
    assert (source["rescrape_cron"], source["rescrape_timezone"]) == (WEEKLY.cron, WEEKLY.timezone)
    time = source["next_rescrape_at"]
    assert datetime.now(UTC) < time < datetime.now(UTC) + timedelta(days=8)


async def test_source_without_schedule_uses_the_nightly_default_again(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    run = await fetched(conn, application_id)
    await set_schedule(conn, application_id, run.source_id, WEEKLY)

    await set_schedule(conn, application_id, run.source_id, None)

    assert await next_time(conn, run) is None
    await make_nightly_due(pool)
    assert await next_time(conn, run) is not None


async def test_a_file_has_no_schedule(conn: Connection, application_id: UUID) -> None:
    [file] = await upload(conn, application_id, "a.txt")

    with pytest.raises(Conflict) as error:
        await set_schedule(conn, application_id, file, WEEKLY)

    assert error.value.code == "not_rescrapable"


async def test_missing_source_has_no_schedule(conn: Connection, application_id: UUID) -> None:
    run = await fetched(conn, application_id)
    other = await add_application(conn)

    assert not await set_schedule(conn, other, run.source_id, WEEKLY)
    async with conn.transaction():
        await source_control.delete(conn, application_id=application_id, ids=[run.source_id])
    assert not await set_schedule(conn, application_id, run.source_id, WEEKLY)


# ---------------------------------------------------------------- all the others, nightly


async def test_nightly_round_spreads_sources_over_half_an_hour(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    nightly = [await fetched(conn, application_id, f"https://{n}.example/") for n in range(5)]
    weekly = await fetched(conn, application_id, "https://weekly.example/")
    await set_schedule(conn, application_id, weekly.source_id, WEEKLY)
    its_time = await next_time(conn, weekly)
    running = await start(conn, application_id, "https://running.example/")
    deleted = await fetched(conn, application_id, "https://deleted.example/")
    async with conn.transaction():
        await source_control.delete(conn, application_id=application_id, ids=[deleted.source_id])
    [file] = await upload(conn, application_id, "a.txt")

    await make_nightly_due(pool)

    times = [await next_time(conn, run) for run in nightly]
    now = datetime.now(UTC)
    assert all(time and now - timedelta(minutes=1) < time for time in times)
    assert all(time and time < now + timedelta(minutes=31) for time in times)
    assert len(set(times)) == len(times)
    assert await next_time(conn, weekly) == its_time
    assert await next_time(conn, running) is None
    assert await next_time(conn, deleted) is None
    assert (await source_row(conn, file))["next_rescrape_at"] is None


async def test_nightly_round_works_in_batches(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    sources = [await fetched(conn, application_id, f"https://{n}.example/") for n in range(5)]

    last: UUID | None = None
    steps = 0
    while steps == 0 or last is not None:
        async with transaction(pool) as other:
            last = await rescrapes.make_nightly_due(other, after=last, limit=2)
        steps += 1

    assert steps == 4
    assert all([await next_time(conn, source) for source in sources])


async def test_next_nightly_round_does_not_postpone_due_sources(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    run = await fetched(conn, application_id)
    await make_due(conn, run)
    before = await next_time(conn, run)

    await make_nightly_due(pool)

    assert await next_time(conn, run) == before


async def test_replicas_run_one_nightly_round_when_catching_up(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nights: list[Pool] = []

    async def count(pool: Pool) -> None:
        nights.append(pool)

    monkeypatch.setattr(ticks, "make_nightly_due", count)
    blobs = LocalBlobStore(tmp_path)
    replicas = [
        build_ticks(
            pool=pool,
            blobs=blobs,
            wake=lambda: None,
            tick="0 0 * * * *",
            stale_after=timedelta(minutes=2),
            rescrape="0 3 * * *",
            retention=KEEP,
            clock=DatabaseClock(),
            page_image_cache=0,
        )
        for _ in range(2)
    ]
    for replica in replicas:
        replica.start()
    async with asyncio.timeout(PATIENCE):
        while not nights:  # noqa: ASYNC110 there is nothing to wait for
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)
    for replica in replicas:
        await replica.close()
    await blobs.close()

    assert len(nights) == 1


# ---------------------------------------------------------------- starting what is due


async def test_a_source_that_is_due_is_fetched_again_behind_what_people_wait_for(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    run = await fetched(conn, application_id)
    await make_due(conn, run)

    assert await start_rescrapes(pool) == 1

    assert await jobs_of(conn, run) == [("site_crawl", 0), ("rescrape", RESCRAPE_PRIORITY)]
    assert await next_time(conn, run) is None
    source = await source_row(conn, run.source_id)
    job = await job_row(conn, source["current_job_id"])
    assert (job["type"], source["status"]) == ("rescrape", "pending")


async def test_a_source_that_is_not_due_is_left_alone(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    run = await fetched(conn, application_id)
    await set_schedule(conn, application_id, run.source_id, WEEKLY)

    assert await start_rescrapes(pool) == 0
    assert len(await jobs_of(conn, run)) == 1


async def test_missed_schedules_start_one_run(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    run = await fetched(conn, application_id)
    await set_schedule(
        conn, application_id, run.source_id, Recurrence(cron="*/10 * * * *", timezone="UTC")
    )
    await make_due(conn, run, ago="3 days")

    started = [await start_rescrapes(pool) for _ in range(3)]

    time = await next_time(conn, run)
    assert started == [1, 0, 0]
    assert len(await jobs_of(conn, run)) == 2
    assert time is not None
    assert datetime.now(UTC) < time < datetime.now(UTC) + timedelta(minutes=20)


async def test_open_run_is_reused_and_the_next_rescrape_scheduled(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    await set_schedule(conn, application_id, run.source_id, WEEKLY)
    await make_due(conn, run)

    assert await start_rescrapes(pool) == 0

    time = await next_time(conn, run)
    assert len(await jobs_of(conn, run)) == 1
    assert (await crawl_row(conn, run.crawl_id))["status"] == "pending"
    assert time is not None
    assert time > datetime.now(UTC)


async def test_a_deleted_source_is_never_fetched_again(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    run = await fetched(conn, application_id)
    await make_due(conn, run)
    async with conn.transaction():
        await source_control.delete(conn, application_id=application_id, ids=[run.source_id])

    assert await start_rescrapes(pool) == 0
    assert [type for type, _ in await jobs_of(conn, run)] == ["site_crawl", "purge"]


async def test_replicas_that_find_the_same_source_due_start_one_run(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    run = await fetched(conn, application_id)
    await make_due(conn, run)

    async def both_wait() -> bool:
        cursor = await conn.execute("select from pg_stat_activity where wait_event_type = 'Lock'")
        return cursor.rowcount == 2

    async with transaction(pool) as holder:
        await applications.lock_sources(holder, application_id)
        replicas = [asyncio.create_task(start_rescrapes(pool)) for _ in range(2)]
        await eventually(both_wait)
    started = await asyncio.gather(*replicas)

    assert sorted(started) == [0, 1]
    assert len(await jobs_of(conn, run)) == 2


async def test_a_replica_that_comes_late_does_not_start_what_has_run_meanwhile(
    conn: Connection, application_id: UUID
) -> None:
    run = await fetched(conn, application_id)
    await make_due(conn, run)
    [source] = await rescrapes.due(conn, limit=10)
    started = []
    for _ in range(2):
        async with conn.transaction():
            started.append(await rescrapes.start_if_due(conn, source))
        await conn.execute("update rag.processing_jobs set status = 'completed'")

    assert started == [True, False]
    assert len(await jobs_of(conn, run)) == 2


async def test_one_source_that_cannot_be_started_does_not_stop_the_others(
    pool: Pool, conn: Connection, application_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = [await fetched(conn, application_id, f"https://{n}.example/") for n in range(2)]
    await make_due(conn, bad, ago="2 hours")
    await make_due(conn, good)
    rescrape = runs.rescrape

    async def fails_for_one(conn: Connection, *, source_id: UUID, **rest: Any) -> StartedRun | None:
        if source_id == bad.source_id:
            raise RuntimeError("odd")
        return await rescrape(conn, source_id=source_id, **rest)

    monkeypatch.setattr(runs, "rescrape", fails_for_one)

    assert await start_rescrapes(pool) == 1
    assert len(await jobs_of(conn, good)) == 2
    assert await next_time(conn, bad) is not None
