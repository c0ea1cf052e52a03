"""Sources that are due are fetched again: each once, behind what people wait for."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from ingest.postgres.database import Connection, Pool, transaction
from ingest.scheduling.recurrence import Recurrence
from ingest.store.crawl import rescrapes, runs
from ingest.store.crawl.runs import RESCRAPE_PRIORITY, StartedRun
from ingest.store.sources import source_control
from ingest.store.tenants import applications
from ingest.ticks.schedule import start_rescrapes
from tests.db.crawl.rescrape_schedules import WEEKLY, fetched, make_due, next_time, set_schedule
from tests.support.crawl.crawl_sources import crawl_row, start
from tests.support.live_sources import eventually
from tests.support.queue_builders import job_row, source_row


async def jobs_of(conn: Connection, run: StartedRun) -> list[tuple[str, int]]:
    """Type and priority, in the order of arrival."""
    cursor = await conn.execute(
        "select type, priority from rag.processing_jobs where knowledge_source_id = %s "
        "order by position",
        [run.source_id],
    )
    return await cursor.fetchall()


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
