"""Counts add up at every moment; percent never exceeds 100 and is unknown while the total is."""

from uuid import UUID, uuid4

import pytest

from ingest.postgres.database import Connection
from ingest.store.queue import jobs
from ingest.store.queue.jobs import NewJob
from ingest.store.sources import progress
from ingest.store.sources.progress import ApplicationProgress, SourceProgress
from tests.support.live_sources import add_source, emit
from tests.support.queue_builders import add_application

STATES = ("completed", "failed", "processing", "pending", "cancelled", "review_needed")


async def add_run(
    conn: Connection, application_id: UUID, *states: str, type: str = "file", running: int = 0
) -> UUID:
    """A source whose run has a root job and children in these states, in this order."""
    source = await add_source(conn, application_id, type=type)
    root, *children = [
        NewJob(application_id=application_id, type="file", source_id=source) for _ in states
    ]
    await jobs.enqueue(conn, [root])
    await conn.execute(
        "update rag.knowledge_sources set current_job_id = %s where id = %s", [root.id, source]
    )
    if children:
        await jobs.enqueue(conn, children)
        await conn.execute(
            "update rag.processing_jobs set parent_job_id = %s where id = any(%s)",
            [root.id, [child.id for child in children]],
        )
    for job, state in zip([root, *children], states, strict=True):
        await conn.execute(
            "update rag.processing_jobs set status = %(state)s, "
            "progress = case when %(state)s = 'processing' then %(running)s else 0 end, "
            "completed_at = case when %(state)s in ('completed', 'failed') then now() end "
            "where id = %(id)s",
            {"state": state, "id": job.id, "running": running},
        )
    return source


async def of(conn: Connection, application_id: UUID, source: UUID) -> SourceProgress:
    [found] = await progress.of_sources(conn, application_id=application_id, ids=[source])
    return found


def counts(found: ApplicationProgress) -> dict[str, int]:
    return {state: getattr(found, state) for state in STATES}


def adds_up(found: ApplicationProgress) -> bool:
    return sum(counts(found).values()) == found.total


async def test_site_progress_counts_pages(conn: Connection, application_id: UUID) -> None:
    source = await add_run(conn, application_id, "completed", *STATES, type="site")
    await add_run(conn, application_id, "failed", "failed")

    found = await of(conn, application_id, source)

    assert counts(found) == dict.fromkeys(STATES, 1)
    assert adds_up(found)


@pytest.mark.parametrize(
    ("states", "running", "percent"),
    [
        (["completed"], 0, 100),
        (["failed"], 0, 100),
        (["completed", "processing"], 50, 50),
        (["completed", "completed", "pending"], 0, 50),
        (["failed", "completed", "pending"], 0, 66),
        (["completed", "cancelled", "failed"], 0, 100),
    ],
)
async def test_percent_counts_ended_jobs_and_the_progress_of_running_ones(
    conn: Connection, application_id: UUID, states: list[str], running: int, percent: int
) -> None:
    source = await add_run(conn, application_id, *states, running=running, type="site")

    assert (await of(conn, application_id, source)).percent == percent


async def test_an_archive_counts_as_one_of_its_files(
    conn: Connection, application_id: UUID
) -> None:
    source = await add_run(conn, application_id, "pending", "completed", "completed", "failed")

    found = await of(conn, application_id, source)

    assert (found.total, found.completed, found.pending, found.percent) == (4, 2, 1, 75)


async def test_percent_of_a_site_is_unknown_until_its_crawl_has_ended(
    conn: Connection, application_id: UUID
) -> None:
    crawling = await add_run(conn, application_id, "processing", "completed", type="site")
    crawled = await add_run(conn, application_id, "completed", "processing", type="site")

    assert (await of(conn, application_id, crawling)).percent is None
    assert (await of(conn, application_id, crawling)).eta_seconds is None
    assert (await of(conn, application_id, crawled)).percent == 0


@pytest.mark.parametrize(
    ("status", "field", "percent"),
    [("partial", "completed", 100), ("failed", "failed", 100), ("pending", "pending", 0)],
)
async def test_a_source_whose_jobs_were_removed_counts_as_one(
    conn: Connection, application_id: UUID, status: str, field: str, percent: int
) -> None:
    source = await add_source(conn, application_id, status=status)

    found = await of(conn, application_id, source)

    assert (found.total, getattr(found, field), found.percent) == (1, 1, percent)
    assert adds_up(found)


async def test_eta_is_based_on_jobs_ended_in_the_last_minute(
    conn: Connection, application_id: UUID
) -> None:
    states = ["completed", "completed", *["pending"] * 6]
    steady = await add_run(conn, application_id, *states, type="site")
    stuck = await add_run(conn, application_id, "processing")
    ended = await add_run(conn, application_id, "completed")

    assert (await of(conn, application_id, steady)).eta_seconds == 360
    assert (await of(conn, application_id, stuck)).eta_seconds is None
    assert (await of(conn, application_id, ended)).eta_seconds == 0


async def test_the_state_names_the_last_event_that_it_reflects(
    conn: Connection, application_id: UUID
) -> None:
    source = await add_source(conn, application_id)
    await emit(conn, source, 4)
    await conn.execute("delete from rag.progress_events where seq < 3")

    found = await of(conn, application_id, source)

    assert (found.event_seq, found.oldest_position) == (4, 2)


async def test_sources_of_others_deleted_ones_and_unknown_ones_are_left_out(
    conn: Connection, application_id: UUID
) -> None:
    foreign = await add_source(conn, await add_application(conn))
    deleted = await add_source(conn, application_id)
    await conn.execute(
        "update rag.knowledge_sources set deleted_at = now() where id = %s", [deleted]
    )

    found = await progress.of_sources(
        conn, application_id=application_id, ids=[foreign, deleted, uuid4()]
    )

    assert found == []


async def test_an_application_counts_its_live_sources(
    conn: Connection, application_id: UUID
) -> None:
    for status in (*STATES, "partial"):
        await add_source(conn, application_id, status=status)
    await add_source(conn, await add_application(conn), status="failed")
    deleted = await add_source(conn, application_id, status="failed")
    await conn.execute(
        "update rag.knowledge_sources set deleted_at = now() where id = %s", [deleted]
    )

    found = await progress.of_application(conn, application_id=application_id)

    assert counts(found) == dict.fromkeys(STATES, 1) | {"completed": 2}
    assert adds_up(found)
    assert found.percent == 4 * 100 // 7


@pytest.mark.parametrize(
    ("statuses", "summary", "percent"),
    [
        ([], "completed", None),
        (["pending", "completed"], "processing", 50),
        (["review_needed", "completed"], "review_needed", 50),
        (["completed", "cancelled"], "completed", 100),
        (["completed", "failed"], "partial", 100),
        (["partial"], "partial", 100),
        (["failed", "cancelled"], "failed", 100),
        (["cancelled"], "cancelled", 100),
    ],
)
async def test_the_status_of_an_application_sums_up_its_sources(
    conn: Connection,
    application_id: UUID,
    statuses: list[str],
    summary: str,
    percent: int | None,
) -> None:
    for status in statuses:
        await add_source(conn, application_id, status=status)

    found = await progress.of_application(conn, application_id=application_id)

    assert (found.status, found.percent) == (summary, percent)


async def test_overview_shows_unfinished_and_newest_sources(
    conn: Connection, application_id: UUID
) -> None:
    finished = [await add_source(conn, application_id, status="completed") for _ in range(3)]
    open_one = await add_source(conn, application_id, status="review_needed")
    await add_source(conn, await add_application(conn))

    shown = await progress.unfinished_and_newest(
        conn, application_id=application_id, limit=10, newest=2
    )

    assert shown == [open_one, finished[2], finished[1]]
