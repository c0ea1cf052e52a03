"""Old runs of sites go; what later runs are judged by stays."""

import random
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from ingest.postgres.database import Connection, Pool, new_id
from ingest.store.crawl import crawl_pages
from ingest.store.crawl.runs import CrawlSettings, StartedRun
from ingest.store.retention import retention_runs
from ingest.web.crawl_completeness import HIDING
from tests.support.crawl.crawl_sources import SITE, add_page, start
from tests.support.retention_fixtures import DAY, clean

_OUTCOMES = [
    *(("failed", code) for code in (None, "fetch_failed", "fetch_status", "robots_disallowed")),
    ("skipped", "login_page"),
    ("skipped", "noindex"),
    ("skipped", None),
    ("unchanged", None),
]


async def add_run(
    conn: Connection,
    source: StartedRun,
    *,
    days: float,
    is_complete: bool = False,
    status: str = "completed",
) -> StartedRun:
    """An earlier run of the source, that ended so many days ago. Its jobs are long gone."""
    run = StartedRun(source_id=source.source_id, job_id=new_id(), crawl_id=new_id())
    ago = timedelta(days=days)
    await conn.execute(
        "insert into rag.crawls (id, application_id, source_id, job_id, provider, settings, "
        "status, is_complete, created_at, ended_at) "
        "select %(id)s, application_id, id, %(job)s, 'builtin', %(settings)s, %(status)s, "
        "%(is_complete)s, now() - %(ago)s::interval, "
        "case when %(status)s <> 'running' then now() - %(ago)s::interval end "
        "from rag.knowledge_sources where id = %(source)s",
        {
            "id": run.crawl_id,
            "source": run.source_id,
            "job": run.job_id,
            "settings": Jsonb(CrawlSettings().to_json()),
            "is_complete": is_complete,
            "status": status,
            "ago": ago,
        },
    )
    return run


async def runs_left(conn: Connection) -> set[UUID]:
    return {id for (id,) in await (await conn.execute("select id from rag.crawls")).fetchall()}


async def pages_left(conn: Connection, run: StartedRun) -> set[str]:
    cursor = await conn.execute(
        "select uri from rag.crawl_pages where crawl_id = %s", [run.crawl_id]
    )
    return {uri for (uri,) in await cursor.fetchall()}


async def test_runs_are_kept_for_their_time_and_no_longer(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    latest = await start(conn, application_id)
    first = await add_run(conn, latest, days=1000)
    old = await add_run(conn, latest, days=90.1)
    young = await add_run(conn, latest, days=89.9)
    await add_page(conn, old, SITE + "a")

    assert (await clean(pool))["runs"] == 1

    assert await runs_left(conn) == {run.crawl_id for run in (first, young, latest)}


async def test_first_last_complete_and_latest_run_keep_all_their_pages(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    current = await start(conn, application_id)
    first = await add_run(conn, current, days=1000)
    gone = [
        await add_run(conn, current, days=800, is_complete=True),
        await add_run(conn, current, days=600),
    ]
    complete = await add_run(conn, current, days=500, is_complete=True)
    gone.append(await add_run(conn, current, days=400, status="failed"))
    # By the clock, the current one is not the latest.
    await conn.execute(
        "update rag.crawls set status = 'failed', created_at = now() - interval '450 days', "
        "ended_at = now() - interval '450 days' where id = %s",
        [current.crawl_id],
    )
    latest = await add_run(conn, current, days=300, status="cancelled")
    for run in (first, *gone, complete, latest, current):
        await add_page(conn, run, SITE + "a")

    assert (await clean(pool))["runs"] == 3

    kept = (first, complete, current, latest)
    assert await runs_left(conn) == {run.crawl_id for run in kept}
    for run in kept:
        assert await pages_left(conn, run) == {SITE + "a"}


async def test_open_run_is_kept_at_any_age(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    latest = await start(conn, application_id)
    await add_run(conn, latest, days=1000)
    await add_run(conn, latest, days=500, status="running")

    assert (await clean(pool))["runs"] == 0

    assert len(await runs_left(conn)) == 3


async def test_history_of_a_failing_page_is_kept_with_its_run(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    latest = await start(conn, application_id)
    first = await add_run(conn, latest, days=1000)
    had = await add_run(conn, latest, days=900)
    had_again = await add_run(conn, latest, days=800)
    complete = await add_run(conn, latest, days=700, is_complete=True)
    await add_page(conn, first, SITE + "hub", status="failed")
    for run in (had, had_again):
        await add_page(conn, run, SITE + "hub", status="unchanged")
        await add_page(conn, run, SITE + "other", status="unchanged")
    await add_page(conn, complete, SITE + "other")

    assert (await clean(pool))["runs"] == 1

    assert had.crawl_id not in await runs_left(conn)
    assert await pages_left(conn, had_again) == {SITE + "hub"}


async def test_the_pages_of_a_large_run_go_in_steps(conn: Connection, application_id: UUID) -> None:
    latest = await start(conn, application_id)
    await add_run(conn, latest, days=1000)
    old = await add_run(conn, latest, days=500)
    for n in range(5):
        await add_page(conn, old, f"{SITE}{n}")

    steps = [await retention_runs.forget_pages(conn, old.crawl_id, limit=2) for _ in range(4)]

    assert steps == [2, 2, 1, 0]


async def _blind(conn: Connection, run: StartedRun) -> list[int]:
    """As each provider would judge the failed pages of a run."""
    return [
        await crawl_pages.count_unseen_behind_failures(
            conn, crawl_id=run.crawl_id, follows_stored=follows, hiding=HIDING
        )
        for follows in (True, False)
    ]


async def _judged(conn: Connection, run: StartedRun, uris: Sequence[str]) -> dict[str, list[int]]:
    """Of each page, were it the one that fails in the run."""
    judged = {}
    for uri in uris:
        await conn.execute("delete from rag.crawl_pages where crawl_id = %s", [run.crawl_id])
        await add_page(conn, run, uri, status="failed")
        judged[uri] = await _blind(conn, run)
    return judged


@pytest.mark.parametrize("seed", range(4))
async def test_a_failing_page_is_judged_as_if_all_earlier_runs_were_there(
    pool: Pool, conn: Connection, application_id: UUID, seed: int
) -> None:
    rng = random.Random(seed)
    uris = [f"{SITE}{n}" for n in range(25)]
    latest = await start(conn, application_id)
    for night in range(8):
        run = await add_run(
            conn, latest, days=1000 - night, is_complete=rng.random() < 0.4, status="completed"
        )
        for uri in rng.sample(uris, 12):
            status, code = rng.choice(_OUTCOMES)
            await add_page(conn, run, uri, status=status, error_code=code)
    before = await _judged(conn, latest, uris)
    await conn.execute("delete from rag.crawl_pages where crawl_id = %s", [latest.crawl_id])
    pages = await (await conn.execute("select count(*) from rag.crawl_pages")).fetchone()

    # What the run itself has of them now may be asked anew: it is no witness.
    for uri in uris:
        await add_page(conn, latest, uri, status=rng.choice(["failed", "unchanged"]))
    removed = await clean(pool)

    await conn.execute("delete from rag.crawl_pages where crawl_id = %s", [latest.crawl_id])
    left = await (await conn.execute("select count(*) from rag.crawl_pages")).fetchone()
    assert await _judged(conn, latest, uris) == before
    assert pages is not None
    assert left is not None
    assert left[0] < pages[0]
    assert "runs" in removed


async def test_a_page_of_a_single_address_keeps_its_first_and_its_last_run(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    latest = await start(conn, application_id, "https://a.example/", type="url")
    runs = [await add_run(conn, latest, days=1000 - n, is_complete=True) for n in range(10)]
    for run in runs:
        await add_page(conn, run, "https://a.example/")

    assert (await clean(pool, runs=DAY))["runs"] == 8

    assert await runs_left(conn) == {runs[0].crawl_id, runs[9].crawl_id, latest.crawl_id}
