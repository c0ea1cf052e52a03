"""Ended jobs go after their time, run by run; nothing that people see of a source changes."""

from datetime import timedelta
from uuid import UUID

import pytest

from ingest.postgres.database import Connection, Pool
from ingest.store.retention import retention_jobs
from ingest.store.sources import source_control
from ingest.ticks.retention import apply_retention
from tests.support.crawl.crawl_sources import SITE, add_child, add_page, crawl_row, end, start
from tests.support.queue_builders import claim, enqueue, source_row, upload
from tests.support.retention_fixtures import DAY, KEEP, add_ended, clean, end_jobs, jobs_left, seen


@pytest.mark.parametrize(
    ("status", "kept_days", "gone_days"),
    [("completed", 29.9, 30.1), ("cancelled", 29.9, 30.1), ("failed", 89.9, 90.1)],
)
async def test_jobs_are_kept_for_their_time_and_no_longer(
    pool: Pool,
    conn: Connection,
    application_id: UUID,
    status: str,
    kept_days: float,
    gone_days: float,
) -> None:
    kept = await add_ended(conn, application_id, status=status, days=kept_days)
    await add_ended(conn, application_id, status=status, days=gone_days)

    assert (await clean(pool))["jobs"] == 1

    assert await jobs_left(conn) == set(kept)


async def test_jobs_that_are_open_or_wait_for_a_person_are_kept_however_old(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    ids = await enqueue(conn, application_id, 3)
    await claim(conn, 1)
    await end_jobs(conn, ids[2:], days=1000, status="review_needed")
    await conn.execute("update rag.processing_jobs set created_at = now() - interval '1000 days'")

    assert (await clean(pool))["jobs"] == 0

    assert await jobs_left(conn) == set(ids)


async def test_log_of_a_job_is_deleted_with_the_job(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    [old] = await add_ended(conn, application_id, days=31)
    [young] = await add_ended(conn, application_id, days=1)
    for id in (old, young):
        await conn.execute(
            "insert into rag.job_logs (job_id, attempt, level, message) "
            "values (%s, 1, 'info', 'done')",
            [id],
        )

    await clean(pool)

    cursor = await conn.execute("select job_id from rag.job_logs")
    assert await cursor.fetchall() == [(young,)]


async def test_run_is_removed_as_a_whole_after_its_last_job(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    [root] = await add_ended(conn, application_id, days=40)
    [child] = await add_ended(conn, application_id, days=40, parent_job_id=root)
    [last] = await add_ended(conn, application_id, days=29, parent_job_id=root)

    young = (await clean(pool))["jobs"]
    await end_jobs(conn, [last], days=89, status="failed")
    failed = (await clean(pool))["jobs"]
    await conn.execute("update rag.processing_jobs set status = 'pending' where id = %s", [last])
    still_open = (await clean(pool))["jobs"]
    left = await jobs_left(conn)
    await end_jobs(conn, [last], days=31)

    assert (young, failed, still_open) == (0, 0, 0)
    assert left == {root, child, last}
    assert (await clean(pool))["jobs"] == 3


async def test_the_root_of_a_long_run_goes_last(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    # Cancelled at one moment: by their ends alone, the root would be the first.
    [root] = await enqueue(conn, application_id)
    children = await enqueue(conn, application_id, 20, parent_job_id=root)
    await end_jobs(conn, [root, *children], days=31, status="cancelled")
    first_step = await retention_jobs.list_ended(conn, KEEP.jobs, after=None, limit=10)

    async with conn.transaction():
        assert await retention_jobs.forget(conn, KEEP.jobs, first_step) == 9

    assert root in await jobs_left(conn)
    assert (await clean(pool))["jobs"] == 12


async def test_removing_file_jobs_changes_nothing_visible(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    paths = ("completed", "failed", "cancelled", "partial", "review_needed", "pending")
    sources = await upload(conn, application_id, *paths)
    for source, state in zip(sources, paths, strict=True):
        job = (await source_row(conn, source))["current_job_id"]
        if state != "pending":
            status = "completed" if state == "partial" else state
            await end_jobs(conn, [job], days=1000, status=status)
        await conn.execute(
            "update rag.knowledge_sources set chunk_count = 1, status = %s where id = %s",
            [state, source],
        )
    before = await seen(conn, application_id)

    assert (await clean(pool))["jobs"] == 4

    assert await seen(conn, application_id) == before


async def test_removing_site_jobs_changes_nothing_visible(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    children = [await add_child(conn, application_id, run) for _ in range(5)]
    await end(conn, run)
    for child, status in zip(
        children, ("completed", "completed", "failed", "failed", "cancelled"), strict=True
    ):
        await end_jobs(conn, [child], days=91, status=status)
    await end_jobs(conn, [run.job_id], days=91)
    await conn.execute("update rag.knowledge_sources set status = 'partial'")
    before = await seen(conn, application_id)
    shown = before["sources"][run.source_id]

    assert (await clean(pool))["jobs"] == 6

    assert (shown["total"], shown["completed"], shown["failed"], shown["percent"]) == (5, 2, 2, 100)
    assert await seen(conn, application_id) == before


async def test_a_site_of_which_every_page_failed_keeps_counting_them(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    children = [await add_child(conn, application_id, run) for _ in range(3)]
    await end_jobs(conn, [run.job_id, *children], days=91, status="failed")
    await conn.execute("update rag.knowledge_sources set status = 'failed'")
    before = await seen(conn, application_id)

    assert (await clean(pool))["jobs"] == 4

    assert before["sources"][run.source_id]["failed"] == 4
    assert await seen(conn, application_id) == before


@pytest.mark.parametrize("state", ["failed", "partial"])
async def test_a_source_that_can_be_retried_keeps_its_run_as_long_as_failed_jobs_are_kept(
    pool: Pool, conn: Connection, application_id: UUID, state: str
) -> None:
    [source] = await upload(conn, application_id, "a.txt")
    job = (await source_row(conn, source))["current_job_id"]
    await end_jobs(conn, [job], days=60)
    await conn.execute("update rag.knowledge_sources set status = %s, chunk_count = 1", [state])

    early = (await clean(pool))["jobs"]
    await end_jobs(conn, [job], days=91)

    assert early == 0
    assert (await clean(pool))["jobs"] == 1


async def test_runs_that_newer_ones_have_replaced_go_and_leave_the_source_alone(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    [source] = await upload(conn, application_id, "a.txt", content="one")
    old = (await source_row(conn, source))["current_job_id"]
    await end_jobs(conn, [old], days=31)
    await upload(conn, application_id, "a.txt", content="two")
    before = await seen(conn, application_id)

    assert (await clean(pool))["jobs"] == 1

    current = (await source_row(conn, source))["current_job_id"]
    assert await jobs_left(conn) == {current}
    assert await seen(conn, application_id) == before


async def test_source_without_jobs_accepts_a_new_upload(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    [source] = await upload(conn, application_id, "a.txt", content="one")
    await end_jobs(conn, [(await source_row(conn, source))["current_job_id"]], days=31)
    await conn.execute("update rag.knowledge_sources set status = 'completed', chunk_count = 1")
    await clean(pool)

    assert await upload(conn, application_id, "a.txt", content="two") == [source]

    row = await source_row(conn, source)
    [shown] = (await seen(conn, application_id))["sources"].values()
    assert (row["status"], await jobs_left(conn)) == ("pending", {row["current_job_id"]})
    assert (shown["total"], shown["pending"], shown["completed"]) == (1, 1, 0)


async def test_a_retry_that_comes_too_late_finds_nothing(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    [source] = await upload(conn, application_id, "a.txt")
    job = (await source_row(conn, source))["current_job_id"]
    await end_jobs(conn, [job], days=91, status="failed")
    await conn.execute("update rag.knowledge_sources set status = 'failed'")
    await clean(pool)

    async with conn.transaction():
        retried = await source_control.retry(
            conn, application_id=application_id, statuses=("failed",), job_ids=[job]
        )

    assert retried == []
    assert (await source_row(conn, source))["status"] == "failed"


async def test_run_facts_are_stored_before_its_jobs_are_removed(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    child = await add_child(conn, application_id, run)
    await add_page(conn, run, SITE + "a", status="queued", job_id=child)
    # The root failed before it could end the run.
    await conn.execute("update rag.crawls set status = 'running'")
    await end_jobs(conn, [run.job_id, child], days=91, status="failed")
    await conn.execute("update rag.knowledge_sources set status = 'failed'")

    await clean(pool, runs=1000 * DAY)

    crawl = await crawl_row(conn, run.crawl_id)
    cursor = await conn.execute("select status, error_code from rag.crawl_pages")
    assert await jobs_left(conn) == set()
    assert (crawl["status"], crawl["error_code"]) == ("failed", "corrupt")
    assert crawl["ended_at"] is not None
    assert await cursor.fetchall() == [("failed", "corrupt")]


async def test_jobs_of_a_deleted_source_go_like_any_others(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    [source] = await upload(conn, application_id, "a.txt")
    await conn.execute("update rag.knowledge_sources set deleted_at = now(), status = 'cancelled'")
    await end_jobs(
        conn, [(await source_row(conn, source))["current_job_id"]], days=31, status="cancelled"
    )

    assert (await clean(pool))["jobs"] == 1


async def test_kept_jobs_do_not_hide_removable_ones_behind_them(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    kept = await add_ended(conn, application_id, count=600, status="failed", days=80)
    await add_ended(conn, application_id, count=3, days=31)

    assert (await clean(pool))["jobs"] == 3

    assert await jobs_left(conn) == set(kept)


async def test_a_round_ends_when_its_time_is_over(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await add_ended(conn, application_id, days=31)

    assert (await apply_retention(pool, KEEP, budget=timedelta(0)))["jobs"] == 0
