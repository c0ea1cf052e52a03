"""The scheduled ticks: fired once among replicas; orphans swept, what is needed kept."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Self
from uuid import UUID

import pytest

import ingest.ticks.database_clock
from harness.patience import PATIENCE
from ingest.blobs.base import new_derived_key, new_key
from ingest.blobs.local import LocalBlobStore
from ingest.postgres.database import Connection, Pool, transaction
from ingest.scheduling.cron import Scheduler
from ingest.store.limits import schedules
from ingest.store.queue import job_control
from ingest.ticks.cleanup import forget_webhook_events, prune_old, sweep_blobs
from ingest.ticks.database_clock import DatabaseClock
from ingest.ticks.schedule import build_ticks
from tests.support.queue_builders import source_row, upload
from tests.support.retention_fixtures import KEEP

_NOW = timedelta(0)


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


async def _blob(blobs: LocalBlobStore, application_id: UUID, *, is_derived: bool = False) -> str:
    staged = blobs.stage((new_derived_key if is_derived else new_key)(application_id))
    await staged.write(b"bytes")
    await blobs.commit([staged])
    return staged.key


async def _name_picture(conn: Connection, source_id: UUID, key: str) -> None:
    await conn.execute(
        "with document as (insert into rag.documents (id, application_id, source_id, uri, "
        "media_type, status, content_hash, text, extractor, coverage, chunk_count, token_count, "
        "chunking, embedding_model_id) select gen_random_uuid(), application_id, id, 'a', "
        "'text/plain', 'completed', '', 'text', 'text', '{}', 1, 1, '{}', 1 "
        "from rag.knowledge_sources where id = %s returning *) "
        "insert into rag.page_images (document_id, page, width, application_id, source_id, "
        "content_hash, blob_key, size_bytes) "
        "select id, 1, 640, application_id, source_id, '', %s, 5 from document",
        [source_id, key],
    )


async def _keys(blobs: LocalBlobStore) -> set[str]:
    return {key async for key in blobs.list_keys(older_than=_NOW)}


async def test_unreferenced_files_are_swept_and_the_others_kept(
    pool: Pool, conn: Connection, application_id: UUID, tmp_path: Path
) -> None:
    blobs = LocalBlobStore(tmp_path)
    searchable, waiting, failed, superseded, orphan = [
        await _blob(blobs, application_id) for _ in range(5)
    ]
    sources = await upload(conn, application_id, "a", "b", "c", "d")
    for source, key in zip(sources, (searchable, waiting, failed, superseded), strict=True):
        await conn.execute(
            "update rag.processing_jobs set payload = jsonb_build_object('blobKey', %s::text) "
            "where knowledge_source_id = %s",
            [key, source],
        )
    await conn.execute(
        "update rag.knowledge_sources set blob_key = %s where id = %s", [searchable, sources[0]]
    )
    await conn.execute(
        "update rag.processing_jobs set status = 'completed' where knowledge_source_id = %s",
        [sources[0]],
    )
    await conn.execute(
        "update rag.processing_jobs set status = 'failed' where knowledge_source_id = %s",
        [sources[2]],
    )
    await upload(conn, application_id, "d", content="newer")
    picture, lost_picture = [await _blob(blobs, application_id, is_derived=True) for _ in range(2)]
    await _name_picture(conn, sources[0], picture)

    assert await sweep_blobs(pool, blobs, older_than=_NOW) == 3

    assert await _keys(blobs) == {searchable, waiting, failed, picture}
    assert lost_picture.startswith("derived/")
    assert not await _keys(blobs) & {orphan, superseded}
    await blobs.close()


async def test_a_file_that_was_just_written_is_not_an_orphan_yet(
    pool: Pool, application_id: UUID, tmp_path: Path
) -> None:
    blobs = LocalBlobStore(tmp_path)
    key = await _blob(blobs, application_id)

    assert await sweep_blobs(pool, blobs) == 0
    assert await _keys(blobs) == {key}
    await blobs.close()


async def test_pruning_removes_only_old_rows(pool: Pool, conn: Connection) -> None:
    for age in ("1 hour", "30 days"):
        await conn.execute(
            "insert into rag.schedules (name, scheduled_for) values ('x', now() - %s::interval)",
            [age],
        )
        await conn.execute(
            "insert into rag.workers (id, host, pid, heartbeat_at) "
            "values (gen_random_uuid(), 'h', 1, now() - %s::interval)",
            [age],
        )

    await prune_old(pool)

    cursor = await conn.execute(
        "select (select count(*) from rag.schedules), (select count(*) from rag.workers)"
    )
    assert await cursor.fetchone() == (1, 1)


@pytest.mark.parametrize("action", ["cancel", "retry"])
async def test_a_cancelled_upload_can_be_retried_because_its_file_is_kept(
    pool: Pool, conn: Connection, application_id: UUID, tmp_path: Path, action: str
) -> None:
    blobs = LocalBlobStore(tmp_path)
    key = await _blob(blobs, application_id)
    [source] = await upload(conn, application_id, "a")
    await conn.execute(
        "update rag.processing_jobs set payload = jsonb_build_object('blobKey', %s::text)", [key]
    )
    await job_control.cancel(conn, application_id=application_id, source_ids=[source])
    if action == "retry":
        job = (await source_row(conn, source))["current_job_id"]
        await job_control.retry(
            conn, application_id=application_id, job_ids=[job], statuses=["cancelled"]
        )

    assert await sweep_blobs(pool, blobs, older_than=_NOW) == 0
    await blobs.close()


async def _add_event(
    conn: Connection, body: bytes | None, *, blob_key: str | None, processed: str | None
) -> None:
    await conn.execute(
        "insert into rag.webhook_events (provider, dedupe_key, body, blob_key, size_bytes, "
        "processed_at) values ('firecrawl', gen_random_uuid()::text::bytea, %s, %s, 5, "
        "now() - %s::interval)",
        [body, blob_key, processed],
    )


async def test_an_event_that_was_processed_long_ago_is_forgotten_with_its_large_body(
    pool: Pool, conn: Connection, application_id: UUID, tmp_path: Path
) -> None:
    blobs = LocalBlobStore(tmp_path)
    old, recent, waiting = [await _blob(blobs, application_id) for _ in range(3)]
    await _add_event(conn, None, blob_key=old, processed="8 days")
    await _add_event(conn, None, blob_key=recent, processed="1 day")
    await _add_event(conn, None, blob_key=waiting, processed=None)
    await conn.execute("update rag.webhook_events set received_at = now() - interval '30 days'")

    assert await forget_webhook_events(pool, blobs) == 1

    assert await _keys(blobs) == {recent, waiting}
    assert await sweep_blobs(pool, blobs, older_than=_NOW) == 0
    await blobs.close()


async def test_all_old_events_are_forgotten_in_steps(
    pool: Pool, conn: Connection, tmp_path: Path
) -> None:
    blobs = LocalBlobStore(tmp_path)
    await conn.execute(
        "insert into rag.webhook_events (provider, dedupe_key, body, size_bytes, processed_at) "
        "select 'firecrawl', n::text::bytea, '', 0, now() - interval '8 days' "
        "from generate_series(1, 1001) as n"
    )

    assert await forget_webhook_events(pool, blobs) == 1001
    await blobs.close()
