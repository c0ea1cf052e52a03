"""When sources are fetched again: by schedules of their own, and by the nightly round."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from harness.patience import PATIENCE
from ingest.blobs.local import LocalBlobStore
from ingest.errors import Conflict
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.crawl import rescrapes
from ingest.store.sources import source_control
from ingest.ticks import schedule as ticks
from ingest.ticks.database_clock import DatabaseClock
from ingest.ticks.schedule import build_ticks, make_nightly_due
from tests.db.crawl.rescrape_schedules import WEEKLY, fetched, make_due, next_time, set_schedule
from tests.support.crawl.crawl_sources import start
from tests.support.queue_builders import add_application, source_row, upload
from tests.support.retention_fixtures import KEEP

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
