"""Events of a provider become pages of their runs: in any order, twice, or not at all."""

import asyncio
from uuid import UUID

import pytest

from ingest.blobs.local import LocalBlobStore
from ingest.firecrawl_inbox import Inbox
from ingest.postgres.database import Connection, Pool
from ingest.store.crawl import crawls
from ingest.store.sources import source_control
from tests.servers.firecrawl_events import CANCELLED, RACED, document, stub
from tests.support.crawl.firecrawl_runs import (
    SITE,
    Post,
    child_jobs,
    crawl_of,
    drain,
    event_row,
    make_inbox,
    page_rows,
    sent_run,
    told,
)

DOOR = SITE + "door"


async def test_a_page_event_becomes_a_page_with_its_job_under_the_root_job(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    id = await send("crawl.page", document(DOOR + "/", "# Doors", scrape_id="s1"))

    await drain(inbox)

    [page] = (await page_rows(conn, run)).values()
    [job] = await child_jobs(conn, run)
    assert (page["uri"], page["fetch_url"], page["status"]) == (DOOR, DOOR + "/", "queued")
    assert (page["event_id"], page["event_index"], page["scrape_id"]) == (id, 0, "s1")
    assert (job["id"], job["type"], job["status"]) == (page["job_id"], "crawl_page", "pending")
    assert job["payload"] == {"crawlId": str(run.crawl_id), "pageId": str(page["id"])}
    assert (await crawl_of(conn, run)).page_count == 1
    assert (await event_row(conn, id))["processed_at"] is not None
    assert (await event_row(conn, id))["crawl_id"] == run.crawl_id


async def test_repeated_event_changes_nothing(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", document(DOOR, "# Doors", scrape_id="s1"))
    await drain(inbox)
    before = await page_rows(conn, run)

    # The same scrape, done again and redirected elsewhere; then others of the same page.
    await send("crawl.page", document(DOOR + "s", "# Doors", source_url=DOOR, scrape_id="s1"))
    await send("crawl.page", document(DOOR + "#top", "# Doors", scrape_id="s2"))  # a re-run
    await send("crawl.page", stub(DOOR), error="timed out")  # a worker that came too late
    await drain(inbox)

    assert await page_rows(conn, run) == before
    assert len(await child_jobs(conn, run)) == 1


async def test_pages_with_the_same_scrape_id_are_distinct(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", document(SITE + "a", "# A", scrape_id="s"))
    await send("crawl.page", document(SITE + "b", "# B", scrape_id="s"))

    await drain(inbox)

    assert list(await page_rows(conn, run)) == [SITE + "a", SITE + "b"]


async def test_events_of_one_page_that_are_processed_at_once_make_one_page(
    conn: Connection, application_id: UUID, pool: Pool, blobs: LocalBlobStore
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    for number in range(12):
        await send("crawl.page", document(DOOR, "# Doors", scrape_id=f"s{number}"))

    await asyncio.gather(*[drain(make_inbox(pool, blobs)) for _ in range(3)])

    assert len(await page_rows(conn, run)) == len(await child_jobs(conn, run)) == 1


async def test_lost_races_and_cancelled_stubs_create_no_page(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", stub(SITE + "a"), error=RACED)
    await send("crawl.page", stub(SITE + "b"), error=CANCELLED)
    await send("crawl.page", document("https://shop.test:99999/", "# No address"))

    await drain(inbox)

    assert await page_rows(conn, run) == {}


@pytest.mark.parametrize(
    ("data", "error", "code", "http_status"),
    [
        (stub(DOOR), "The scrape operation timed out", "fetch_failed", None),
        (document(DOOR, "# Not found", status=404), None, "fetch_status", 404),
        (document(DOOR, " \n"), None, "empty_content", 200),
    ],
)
async def test_failed_page_event_creates_a_job_that_reports_the_error(
    conn: Connection,
    application_id: UUID,
    inbox: Inbox,
    data: dict[str, object],
    error: str | None,
    code: str,
    http_status: int | None,
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    await Post(conn, "c1", await told(conn, run))("crawl.page", data, error=error)

    await drain(inbox)

    [page] = (await page_rows(conn, run)).values()
    assert (page["uri"], page["error_code"], page["http_status"]) == (DOOR, code, http_status)
    assert (page["event_id"], page["job_status"]) == (None, "pending")
    assert (await crawl_of(conn, run)).page_count == 0


@pytest.mark.parametrize("job_status", ["pending", "processing", "failed"])
async def test_failed_page_that_arrives_later_restarts_its_job(
    conn: Connection, application_id: UUID, inbox: Inbox, job_status: str
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", stub(DOOR), error="timed out")
    await drain(inbox)
    [failed] = await child_jobs(conn, run)
    await conn.execute(
        "update rag.processing_jobs set status = %s, attempts = 1 where id = %s",
        [job_status, failed["id"]],
    )

    # It is known by where it ended, the failure by where it began.
    await send("crawl.page", document(DOOR + "s", "# Doors", source_url=DOOR))
    await drain(inbox)

    [page] = (await page_rows(conn, run)).values()
    [job] = await child_jobs(conn, run)
    assert (page["uri"], page["error_code"], page["job_id"]) == (DOOR + "s", None, failed["id"])
    assert page["event_id"] is not None
    assert (job["status"], job["attempts"]) == ("pending", 0)
    assert job["fence"] == failed["fence"] + 1
    assert (await crawl_of(conn, run)).page_count == 1


async def test_page_failure_affects_only_that_page(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", stub(DOOR), error="timed out")
    await drain(inbox)

    moved = document(DOOR + "s", "# Doors", source_url=DOOR)
    await send("crawl.page", document(DOOR, "# A door"), moved)
    await drain(inbox)

    assert list(await page_rows(conn, run)) == [DOOR, DOOR + "s"]
    assert len(await child_jobs(conn, run)) == 2


@pytest.mark.parametrize(("scrape_id", "job_status"), [("s1", "failed"), ("s2", "pending")])
async def test_failed_page_is_restarted_only_by_another_scrape(
    conn: Connection, application_id: UUID, inbox: Inbox, scrape_id: str, job_status: str
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", document(DOOR, "# Doors", scrape_id="s1"))
    await drain(inbox)
    await conn.execute("update rag.crawl_pages set status = 'failed'")
    await conn.execute("update rag.processing_jobs set status = 'failed' where type = 'crawl_page'")

    await send("crawl.page", document(DOOR, "# Doors", scrape_id=scrape_id))
    await drain(inbox)

    [job] = await child_jobs(conn, run)
    assert job["status"] == job_status
    assert (await crawl_of(conn, run)).page_count == 1


async def test_failed_page_whose_job_is_just_ending_is_processed_later(
    conn: Connection, application_id: UUID, inbox: Inbox, pool: Pool
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", stub(DOOR), error="timed out")
    await drain(inbox)
    [job] = await child_jobs(conn, run)
    id = await send("crawl.page", document(DOOR, "# Doors"))

    async with pool.session() as worker, worker.transaction():
        # As a worker that commits the end of the job: it will want the run's lock next.
        await worker.execute(
            "select 1 from rag.processing_jobs where id = %s for update", [job["id"]]
        )
        await inbox.process()
        await crawls.lock(worker, run.crawl_id, source_id=run.source_id, job_id=job["id"])
    waiting = await event_row(conn, id)
    await conn.execute("update rag.webhook_events set retry_at = null")
    await drain(inbox)

    assert (waiting["processed_at"], waiting["attempts"]) == (None, 1)
    [page] = (await page_rows(conn, run)).values()
    assert page["event_id"] == id


async def test_page_with_cancelled_job_remains_cancelled(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", stub(DOOR), error="timed out")
    await drain(inbox)
    [job] = await child_jobs(conn, run)
    async with conn.transaction():
        await source_control.cancel(conn, application_id=application_id, job_ids=[job["id"]])

    await send("crawl.page", document(DOOR, "# Doors"))
    await drain(inbox)

    assert [row["status"] for row in await child_jobs(conn, run)] == ["cancelled"]
    assert (await crawl_of(conn, run)).page_count == 0


async def test_run_keeps_its_page_limit_but_records_every_failure(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1", limit=2)
    send = Post(conn, "c1", await told(conn, run))
    pages = [document(f"{SITE}{n}", f"# Page {n}") for n in range(5)]
    await send("crawl.page", *pages, document(SITE + "none", "# Not found", status=404))
    await send("crawl.page", stub(SITE + "bad"), error="timed out")

    await drain(inbox)

    failed = {SITE + "none", SITE + "bad"}
    assert set(await page_rows(conn, run)) == {SITE + "0", SITE + "1", *failed}
    [(skipped,)] = await (await conn.execute("select skipped from rag.crawls")).fetchall()
    assert skipped == {"limit": 3}


async def test_hostile_text_of_events_is_made_storable(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", stub(DOOR), error="\0 half \ud800 of it " + "x" * 9000)
    await send(
        "crawl.page",
        document(SITE + "b", "# \0", scrape_id="s" * 9000, title=["a", "\udfff"], language=[]),
    )

    await drain(inbox)

    rows = await page_rows(conn, run)
    assert rows[DOOR]["error_message"].startswith(" half".strip())
    assert rows[SITE + "b"]["scrape_id"] is None
